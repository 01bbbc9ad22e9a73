"""Rows that arrive one at a time are scored together, as long as they belong to the same step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.online.offers import Offers
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer

OFFERS = Offers("any", step=True, groups=True)


def requests(reward: Any, **options: Any) -> Requests:
    return Requests(RowScorer(reward, OFFERS), **options)


class Calls:
    """A scorer that notes how it is called."""

    scorer = SimpleNamespace(waits=False)

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def score(self, rows: Sequence[Row], step: int) -> list[int]:
        self.seen.append((step, len(rows)))
        return [step for _ in rows]


def test_rows_of_one_step_are_scored_together() -> None:
    calls: Any = Calls()
    own = Requests(calls)

    async def scored(steps: list[int]) -> list[Any]:
        return await asyncio.gather(*[own.score(Row("a"), step=step) for step in steps])

    assert asyncio.run(scored([0, 50, 0, 100, 50, 0])) == [0, 50, 0, 100, 50, 0]
    assert sorted(calls.seen) == [(0, 3), (50, 2), (100, 1)]


def test_a_batch_has_a_limit_and_no_row_is_lost() -> None:
    own = requests(rk.exact("answer"))

    async def all_of_them() -> list[Any]:
        rows = [Row(str(row), columns={"answer": str(row % 2)}) for row in range(2_000)]
        return await asyncio.gather(*[own.score(row) for row in rows])

    totals = [one.total for one in asyncio.run(all_of_them())]
    assert totals == [1.0, 1.0, *[0.0] * 1_998]


def test_groups_are_compared() -> None:
    own = requests(rk.diversity())
    texts = ["one thing", "one thing", "something else entirely"]
    found = asyncio.run(own.score_group([Row(text) for text in texts]))
    assert [one.total for one in found] == rk.score(rk.diversity(), texts, num_generations=3).total.tolist()


def test_a_deadline_leaves_rows_and_groups_without_a_score() -> None:
    @rk.reward
    def slow(completion: str) -> float:
        time.sleep(0.3)
        return 1.0

    own = requests(slow, deadline=0.05)
    one = asyncio.run(own.score(Row("a")))
    group = asyncio.run(own.score_group([Row("a"), Row("b")]))
    assert [found.why for found in (one, *group)] == ["slow: no score within the deadline of 0.05 s"] * 3


def test_too_many_late_rows_end_the_run() -> None:
    @rk.reward
    def hangs(completion: str) -> float:
        time.sleep(1.0)
        return 1.0

    async def late() -> list[Any]:
        own = requests(hangs, deadline=0.01)
        return list(await asyncio.gather(*[own.score(Row("a")) for _ in range(1_280)], return_exceptions=True))

    found = asyncio.run(late())
    assert "'hangs' failed on 1,280 of 1,280 completions" in str(found[-1])
    assert not any(isinstance(one, BaseException) for one in found[:-1])


def test_an_error_reaches_every_row_of_the_batch() -> None:
    @rk.reward
    def locked(completion: str) -> float:
        raise rk.RunStopped("the key is wrong")

    async def both() -> list[Any]:
        own = requests(locked)
        return list(await asyncio.gather(own.score(Row("a")), own.score(Row("b")), return_exceptions=True))

    assert [type(error) for error in asyncio.run(both())] == [rk.RunStopped, rk.RunStopped]


@pytest.mark.parametrize("ends", [True, False])
def test_the_usual_end_token_is_removed_where_a_trainer_leaves_it(ends: bool) -> None:
    @rk.reward
    def bare(completion: str) -> float:
        return float(completion == "4")

    own = RowScorer(bare, Offers("any", end_token=ends))
    with pytest.warns(rk.RewardKitWarning, match=r"special tokens, such as '<\|im_end\|>'"):
        [first] = own.score([Row("4<|im_end|>\n")])
    [second] = own.score([Row("4</s>")])
    assert [first.total, second.total] == [float(ends)] * 2


@pytest.mark.parametrize("size", [1, 64, 100, 256, 1_280])
def test_the_breaker_looks_back_on_rows_whatever_the_size_of_a_batch(size: int) -> None:
    @rk.reward
    def down(completion: str) -> float:
        raise rk.RewardFailure("down")

    own = RowScorer(down, OFFERS)
    calls = -(-1_280 // size)
    for _ in range(calls - 1):
        own.score([Row("a") for _ in range(size)])
    with pytest.raises(rk.RewardFailure, match=r"on 1,\d+ of 1,\d+ completions of the last 20 batches"):
        own.score([Row("a") for _ in range(size)])
