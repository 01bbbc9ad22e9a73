"""The work of a judge is counted for the batch that it belongs to."""

from __future__ import annotations

import asyncio
from collections import Counter

from rewardkit.rewards.judges.usage import Tally, metered, tally


def test_each_batch_has_a_tally_of_its_own() -> None:
    async def call(count: int) -> int:
        for _ in range(count):
            tally().calls += 1
            await asyncio.sleep(0)
        return count

    async def both() -> None:
        one, two = await asyncio.gather(metered(call(2)), metered(call(3)))
        assert (one[0], one[1].calls, two[0], two[1].calls) == (2, 2, 3, 3)

    asyncio.run(both())
    tally().calls += 1
    assert tally().calls == 0


def test_two_parts_of_a_batch_add_up() -> None:
    one = Tally(calls=1, cache_hits=1, seconds=[1.0], failures=Counter(outage=1))
    two = Tally(calls=2, cache_misses=3, seconds=[3.0], failures=Counter(outage=1, budget=2))
    numbers = (one + two).numbers()
    assert numbers["judge_calls"] == 3.0
    assert numbers["judge_cache_hit_rate"] == 0.25
    assert numbers["judge_seconds_median"] == 2.0
    assert (numbers["judge_failures"], numbers["judge_failures_outage"], numbers["judge_failures_budget"]) == (
        4.0,
        2.0,
        2.0,
    )


def test_events_that_did_not_happen_have_no_rate() -> None:
    assert not {"judge_cache_hit_rate", "judge_seconds_median", "judge_drift"} & Tally().numbers().keys()
