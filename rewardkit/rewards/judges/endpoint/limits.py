"""A circuit breaker: while an endpoint is down, calls fail at once instead of waiting one by one.

::

    breaker = CircuitBreaker(failures=8, patience=10.0, pause=5.0)
    async with breaker.attempt() as seconds:    # raises EndpointDown while it is open
        ...                                     # an Outage that leaves the block counts against the endpoint

It opens after `failures` outages in a row over at least `patience` seconds. After a pause, which doubles up to a limit,
one attempt is sent as a probe and may take as long as the pause; the other calls wait for its result.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from rewardkit.rewards.judges.endpoint.failures import Limited, NoTime, Outage, Refused

# Limits of requests and tokens per minute: ``await Rates(requests=600, tokens=None).turn(body)``.


_CHARACTERS_PER_TOKEN = 4
"""About as in English text; the real number is known once the answer is there."""


class Rates:
    """Limits requests and tokens per minute, with bursts of a tenth of a limit; None for no limit."""

    def __init__(self, requests: float | None, tokens: float | None) -> None:
        self._requests, self._tokens = _limiter(requests), _limiter(tokens)

    async def turn(self, body: Mapping[str, Any], until: float | None = None) -> None:
        """Wait until `body` may be sent, at most until ``time.monotonic()`` reaches `until`.

        Raises:
            NoTime: its turn does not come in time.
        """
        try:
            await asyncio.wait_for(self._turn(body), None if until is None else max(0.0, until - time.monotonic()))
        except asyncio.TimeoutError:
            raise NoTime("the limit per minute leaves no time for another attempt") from None

    async def _turn(self, body: Mapping[str, Any]) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            tokens_left = tokens_in(body) + (body.get("max_tokens") or body.get("max_completion_tokens") or 0)
            while tokens_left > 0:  # a request above the limit of a burst waits for several
                piece = min(tokens_left, self._tokens.max_rate)
                await self._tokens.acquire(piece)
                tokens_left -= piece


def tokens_in(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request."""
    return tokens_of("".join(message["content"] for message in body["messages"]))


def tokens_of(text: str) -> int:
    """Estimate the tokens of a text."""
    return len(text) // _CHARACTERS_PER_TOKEN


def _limiter(per_minute: float | None) -> Any:
    from aiolimiter import AsyncLimiter

    if per_minute is None:
        return None
    # 6 seconds: the burst is then a tenth of the limit per minute, but at least one request.
    period = max(6.0, 60.0 / per_minute)
    return AsyncLimiter(per_minute * period / 60.0, period)


LONGEST_PAUSE = 60.0
"""Any limit: an endpoint that is back should be found within a minute."""


class EndpointDown(Exception):
    """Nothing was sent, because the endpoint is down."""


class CircuitBreaker:
    """The state of one endpoint, in one event loop."""

    def __init__(
        self, *, failures: int, patience: float, pause: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._failures = failures
        self._patience = patience
        self._first_pause = self._pause = pause
        self._clock = clock
        self._count = 0
        self._since = 0.0
        self._reason = ""
        self._probe_at: float | None = None
        self._probing: asyncio.Event | None = None

    @property
    def is_open(self) -> bool:
        return self._probe_at is not None

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[float]:
        """Allow one request, and give the seconds that it may take.

        An `Outage` counts as a failure of the endpoint, any answer as a success. Other exceptions are ignored.

        Raises:
            EndpointDown: the breaker is open, and it is not yet time for a probe.
        """
        probe = await self._admitted()
        try:
            yield math.inf if probe is None else self._pause  # a batch waits for the probe
        except Outage as outage:
            self._failed(str(outage), probe=probe is not None)
            raise
        except (Limited, Refused):
            self._answered()
            raise
        else:
            self._answered()
        finally:
            if probe is not None:
                self._probing = None
                probe.set()

    async def _admitted(self) -> asyncio.Event | None:
        """Return None while closed; return an event to set afterwards if this call is the probe."""
        while self._probe_at is not None:
            if self._probing is not None:
                await self._probing.wait()
            elif self._clock() < self._probe_at:
                wait = self._probe_at - self._clock()
                raise EndpointDown(
                    f"down for {self._clock() - self._since:.0f} s ({self._reason}); next try in {wait:.0f} s"
                )
            else:
                self._probing = asyncio.Event()
                return self._probing
        return None

    def _answered(self) -> None:
        self._count = 0
        self._probe_at = None
        self._pause = self._first_pause

    def _failed(self, reason: str, *, probe: bool) -> None:
        now = self._clock()
        if self._count == 0:
            self._since = now
        self._count += 1
        self._reason = reason
        if probe:
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
            self._probe_at = now + self._pause
        elif self._probe_at is None and self._count >= self._failures and now - self._since >= self._patience:
            self._probe_at = now + self._pause
