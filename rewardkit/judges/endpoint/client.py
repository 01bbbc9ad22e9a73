"""The client of one endpoint, shared in an event loop: ``await endpoint.complete(body, deadline=30.0)``.

It limits the requests at a time and per minute. Each call has one deadline for all its attempts, with random waits
between them that honor Retry-After.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Hashable, Mapping
from random import uniform
from typing import Any

from rewardkit.core.errors import RewardFailure
from rewardkit.judges.endpoint.access import Access
from rewardkit.judges.endpoint.breaker import EndpointDown
from rewardkit.judges.endpoint.failures import Limited, NoTime, Passing
from rewardkit.judges.endpoint.rates import Rates
from rewardkit.judges.endpoint.refusals import Standing
from rewardkit.judges.endpoint.replies import Reply
from rewardkit.judges.endpoint.request import Sender
from rewardkit.judges.ledger import Account
from rewardkit.judges.single_flight import SingleFlight
from rewardkit.judges.usage import tally
from rewardkit.judges.verdicts import Verdict

_SHARE_OF_ONE = 2 / 3
"""The share of a deadline that one attempt may take, so that there is time for another one."""

_LEAST_SHARE = 1 / 20
"""The share of a deadline that must be left to start another attempt."""

_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0


class Endpoint:
    """An endpoint in one event loop."""

    def __init__(self, access: Access, key: str) -> None:
        self.single_flight: SingleFlight[Verdict] = SingleFlight()
        self._sender = Sender(access, key)
        self._slots = asyncio.Semaphore(access.concurrency)
        self._rates = Rates(access.requests_per_minute, access.tokens_per_minute)
        self._standings: dict[Hashable, Standing] = {}
        self._asked = 0

    async def complete(
        self, body: Mapping[str, Any], deadline: float, account: Account | None = None, judge: Hashable = None
    ) -> Reply:
        """Return the reply to one request, within `deadline` seconds from its turn.

        Args:
            body: the JSON of the request.
            deadline: seconds for all attempts.
            account: counts each request that is sent.
            judge: identifies the judge; its requests differ only in their messages.

        Raises:
            NoVerdict: the endpoint refuses this request.
            RewardFailure: the endpoint is down or too busy, or the budget is spent.
            RunStopped: the endpoint refuses all requests of this judge.
        """
        standing = self._standings.setdefault(judge, Standing(self._sender))
        self._asked += 1
        try:
            async with self._slots:
                await self._rates.turn(body)
                if standing.stopped is not None:  # while it waited for its turn
                    raise standing.stopped
                return await self._with_retries(body, deadline, account, standing)
        finally:
            self._asked -= 1
            if not self._asked:  # the cause may be fixed before the next batch
                for each in self._standings.values():
                    each.stopped = None

    async def close(self) -> None:
        await self._sender.close()

    async def _with_retries(
        self, body: Mapping[str, Any], deadline: float, account: Account | None, standing: Standing
    ) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_before_delay

        latest = (1 - _LEAST_SHARE) * deadline
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Passing), wait=_wait, stop=stop_before_delay(latest), reraise=True
        )
        started = time.monotonic()

        async def attempt() -> Reply:
            if retrying.statistics["attempt_number"] > 1:
                await self._rates.turn(body, started + latest)
            until = min(started + deadline, time.monotonic() + _SHARE_OF_ONE * deadline)
            return await standing.reply(body, until, account)

        try:
            return await retrying(attempt)
        except EndpointDown as down:
            tally().failures["down"] += 1
            raise RewardFailure(f"{self._sender.whom(body)} is {down}") from None
        except Passing as error:
            tally().failures["limited" if isinstance(error, (Limited, NoTime)) else "outage"] += 1
            asks = "" if error.retry_after is None else f"; it asks to wait {error.retry_after:g} s"
            raise RewardFailure(
                f"{self._sender.whom(body)} did not answer within {deadline:g} s: {error}{asks} "
                f"(attempt {retrying.statistics['attempt_number']})"
            ) from None
        finally:
            tally().retries += retrying.statistics.get("attempt_number", 1) - 1
            tally().seconds.append(time.monotonic() - started)


def _wait(state: Any) -> float:
    """Return the seconds until the next attempt: what the server asked for, or twice as long each time; randomized."""
    asked = state.outcome.exception().retry_after
    if asked is not None:
        return float(asked) + uniform(0.0, _FIRST_WAIT)
    return uniform(0.0, min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(state.attempt_number - 1, 10)))
