"""The circuit breaker opens after several outages, and one probe finds out if the endpoint is back."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from rewardkit.rewards.judges.endpoint.client import LONGEST_PAUSE, CircuitBreaker, EndpointDown
from rewardkit.rewards.judges.endpoint.failures import Limited, Outage


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def outcome(breaker: CircuitBreaker, error: BaseException | None = None) -> str:
    try:
        async with breaker.attempt():
            if error is not None:
                raise error
    except (Outage, EndpointDown, Limited) as raised:
        return type(raised).__name__
    return "answered"


def started(work: Callable[[CircuitBreaker, Clock], Awaitable[Any]]) -> None:
    clock = Clock()

    async def run() -> None:
        await work(CircuitBreaker(failures=3, patience=10.0, pause=5.0, clock=clock), clock)

    asyncio.run(run())


def test_it_opens_after_enough_outages_over_enough_time() -> None:
    async def work(breaker: CircuitBreaker, clock: Clock) -> None:
        for _ in range(20):  # a burst is no outage
            assert await outcome(breaker, Outage("refused")) == "Outage"
        clock.now = 10.0
        assert await outcome(breaker, Outage("refused")) == "Outage"
        assert breaker.is_open
        with pytest.raises(EndpointDown, match=r"down for 10 s \(refused\). Next try in 5 s"):
            async with breaker.attempt():
                raise AssertionError

    started(work)


def test_an_answer_in_between_resets_the_count() -> None:
    async def work(breaker: CircuitBreaker, clock: Clock) -> None:
        for clock.now in range(0, 100, 8):
            await outcome(breaker, Outage("x"))
            await outcome(breaker, Limited("busy") if clock.now % 3 else None)
        assert not breaker.is_open

    started(work)


def test_after_the_pause_one_probe_goes_and_the_others_wait_for_it() -> None:
    async def work(breaker: CircuitBreaker, clock: Clock) -> None:
        for clock.now in (0.0, 5.0, 10.0):
            await outcome(breaker, Outage("x"))
        clock.now = 15.0
        sent = []

        async def call(error: BaseException | None) -> str:
            async with breaker.attempt():
                sent.append(1)
                await asyncio.sleep(0)
                if error:
                    raise error
            return "answered"

        results = await asyncio.gather(*(call(Outage("still")) for _ in range(5)), return_exceptions=True)
        assert len(sent) == 1
        assert sorted(type(result).__name__ for result in results) == ["EndpointDown"] * 4 + ["Outage"]
        clock.now = 20.0
        assert await outcome(breaker) == "EndpointDown"  # the pause has doubled
        clock.now = 25.0
        assert await asyncio.gather(*(call(None) for _ in range(5))) == ["answered"] * 5
        assert not breaker.is_open

    started(work)


def test_a_probe_may_take_as_long_as_the_pause_before_it() -> None:
    async def work(breaker: CircuitBreaker, clock: Clock) -> None:
        given = []
        async with breaker.attempt() as seconds:
            assert seconds == math.inf
        for clock.now in (0.0, 5.0, 10.0):
            await outcome(breaker, Outage("x"))
        for clock.now, pause in ((15.0, 5.0), (25.0, 10.0), (45.0, 20.0)):
            with suppress(Outage):
                async with breaker.attempt() as seconds:
                    given.append(seconds)
                    raise Outage("too slow")
            assert given[-1] == pause

    started(work)


def test_a_probe_that_is_cancelled_leaves_its_place_to_another() -> None:
    async def work(breaker: CircuitBreaker, clock: Clock) -> None:
        for clock.now in (0.0, 5.0, 10.0):
            await outcome(breaker, Outage("x"))
        clock.now = 15.0

        async def never() -> None:
            async with breaker.attempt():
                await asyncio.Event().wait()

        probe = asyncio.ensure_future(never())
        await asyncio.sleep(0)
        other = asyncio.ensure_future(outcome(breaker))
        await asyncio.sleep(0)
        probe.cancel()
        assert await other == "answered"

    started(work)


def test_the_pause_has_a_limit() -> None:
    async def work(breaker: CircuitBreaker, clock: Clock) -> None:
        for clock.now in (0.0, 5.0, 10.0):
            await outcome(breaker, Outage("x"))
        for _ in range(20):
            clock.now += LONGEST_PAUSE
            assert await outcome(breaker, Outage("x")) == "Outage"

    started(work)
