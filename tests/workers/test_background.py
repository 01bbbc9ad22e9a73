"""The background event loop, which all async rewards share."""

from __future__ import annotations

import asyncio

import pytest

import rewardkit as rk


@rk.reward(bounds=(0.0, 10.0))
async def slow(completion: str) -> float:
    await asyncio.sleep(0.01)
    return len(completion) / 10


def test_rewards_run_beside_a_running_loop() -> None:
    async def notebook() -> list[float]:
        return list(rk.score(slow, ["a", "bb"]).total)

    assert asyncio.run(notebook()) == [0.1, 0.2]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit])
def test_no_exception_ends_the_shared_loop(error: type[BaseException]) -> None:
    @rk.reward(timeout=5.0)
    async def deadly(completion: str) -> float:
        raise error

    with pytest.raises((rk.errors.RewardBug, error)):
        rk.score(deadly, ["a"])
    assert rk.score(slow, ["a"]).total.tolist() == [0.1]


def test_an_async_reward_that_scores_an_async_reward_says_what_to_do_instead() -> None:
    @rk.reward
    async def outer(completion: str) -> float:
        return float(rk.score(slow, [completion]).total[0])

    table = rk.score(outer, ["a"])
    assert table.outcomes["outer"].tolist() == ["failed"]
    assert "Await" in table.notes["outer"][0]
