"""Limits of requests and tokens per minute: ``await Rates(requests=600, tokens=None).turn(body)``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from rewardkit.judges.endpoint.failures import NoTime

_CHARACTERS_PER_TOKEN = 4


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
            asked = tokens_in(body) + (body.get("max_tokens") or body.get("max_completion_tokens") or 0)
            while asked > 0:  # a request above the limit of a burst waits for several
                piece = min(asked, self._tokens.max_rate)
                await self._tokens.acquire(piece)
                asked -= piece


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
    period = max(6.0, 60.0 / per_minute)
    return AsyncLimiter(per_minute * period / 60.0, period)
