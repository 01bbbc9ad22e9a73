"""Equal work at the same time is done once."""

from __future__ import annotations

import asyncio

import pytest

from rewardkit.rewards.judges.endpoint.client import SingleFlight


def test_callers_at_the_same_time_share_one_result() -> None:
    async def run() -> tuple[list[int], int]:
        single_flight: SingleFlight[int] = SingleFlight()
        made = 0

        async def work() -> int:
            nonlocal made
            made += 1
            await asyncio.sleep(0)
            return made

        together = await asyncio.gather(*(single_flight.result("key", work) for _ in range(5)))
        return together, await single_flight.result("key", work)

    assert asyncio.run(run()) == ([1] * 5, 2)


def test_an_error_reaches_all() -> None:
    async def run() -> None:
        single_flight: SingleFlight[int] = SingleFlight()

        async def work() -> int:
            await asyncio.sleep(0)
            raise ValueError("no")

        results = await asyncio.gather(*(single_flight.result("key", work) for _ in range(3)), return_exceptions=True)
        assert [str(result) for result in results] == ["no"] * 3

    asyncio.run(run())


def test_work_goes_on_until_no_caller_waits() -> None:
    async def run() -> None:
        single_flight: SingleFlight[int] = SingleFlight()
        ended = asyncio.Event()

        async def work() -> int:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return 1

        first, second = (asyncio.ensure_future(single_flight.result("key", work)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        assert not ended.is_set()
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        await asyncio.wait_for(ended.wait(), 5)

    asyncio.run(run())
