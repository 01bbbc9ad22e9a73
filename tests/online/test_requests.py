"""Rows that arrive one at a time are scored together, as long as they belong to the same step."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import pickle
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.online import requests as requests_module
from rewardkit.online.requests import Requests
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer
from rewardkit.online.trainer_inputs import TrainerInputs

OFFERS = TrainerInputs("any", step=True, groups=True)


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
    assert [found.why for found in (one, *group)] == ["no score within the deadline of 0.05 s"] * 3


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

    own = RowScorer(bare, TrainerInputs("any", end_token=ends))
    with pytest.warns(rk.errors.RewardKitWarning, match=r"special tokens, such as '<\|im_end\|>'"):
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
    with pytest.raises(rk.RewardFailure, match=r"on 1,\d+ of 1,\d+ completions in the last 20 batches"):
        own.score([Row("a") for _ in range(size)])


class Counted:
    """A reward that notes every call. It is not deterministic, so equal rows are scored one by one."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.lock = threading.Lock()

    @property
    def reward(self) -> rk.Reward:
        @rk.reward(deterministic=False)
        def counted(completion: str) -> float:
            with self.lock:
                self.calls[completion] += 1
            if completion.startswith("down"):
                raise rk.RewardFailure("down")
            return float(completion) % 7 / 7

        return counted


@given(st.lists(st.lists(st.integers(0, 30), max_size=40), min_size=1, max_size=4), st.integers(1, 5))
def test_loops_share_requests_and_no_row_is_lost_or_doubled(loops: list[list[int]], largest: int) -> None:
    counted = Counted()
    own = requests(counted.reward)

    async def scored(numbers: list[int]) -> list[Any]:
        return list(await asyncio.gather(*[own.score(Row(str(number)), step=number % 2) for number in numbers]))

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(len(loops)) as threads:
        patch.setattr(requests_module, "LARGEST", largest)
        found = list(threads.map(lambda numbers: asyncio.run(scored(numbers)), loops))
    for numbers, scores in zip(loops, found, strict=True):
        assert [score.total for score in scores] == [number % 7 / 7 for number in numbers]
    assert counted.calls == Counter(str(number) for numbers in loops for number in numbers)


def test_rows_that_passed_their_deadline_before_they_were_scored_are_not_scored() -> None:
    counted = Counted()
    gate = threading.Event()

    @rk.reward
    def waits(completion: str) -> float:
        gate.wait(5.0)
        return 1.0

    own = requests(waits + counted.reward, deadline=0.2)

    async def late() -> list[Any]:
        first = [asyncio.create_task(own.score(Row(str(number)), step=number)) for number in range(4)]
        await asyncio.sleep(0.05)
        second = [asyncio.create_task(own.score(Row("100"))) for _ in range(10)]
        found = await asyncio.gather(*first, *second)
        gate.set()
        return found

    assert [score.total for score in asyncio.run(late())] == [None] * 14
    own._pool.shutdown()
    assert set(counted.calls) == {"0", "1", "2", "3"}


def test_a_caller_that_gives_up_changes_nothing_for_the_others() -> None:
    counted = Counted()
    own = requests(counted.reward)

    async def some() -> list[Any]:
        tasks = [asyncio.create_task(own.score(Row(str(number)))) for number in range(10)]
        await asyncio.sleep(0)
        for task in tasks[::3]:
            task.cancel()
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    found = asyncio.run(some())
    assert [type(one) for one in found[::3]] == [asyncio.CancelledError] * 4
    assert [one.total for place, one in enumerate(found) if place % 3] == [
        number % 7 / 7 for number in range(10) if number % 3
    ]
    assert max(counted.calls.values()) == 1


def test_whatever_is_raised_reaches_every_row_that_came_with_it() -> None:
    class Broken:
        scorer = SimpleNamespace(waits=False)

        def score(self, rows: Sequence[Row]) -> list[Any]:
            if any(row.completion == "bad" for row in rows):
                raise ZeroDivisionError("a bug in here")
            return [row.completion for row in rows]

    broken: Any = Broken()
    own = Requests(broken)

    async def both() -> list[Any]:
        first = await asyncio.gather(*[own.score(Row(text)) for text in ("a", "bad", "b")], return_exceptions=True)
        return [*first, await own.score(Row("c"))]

    found = asyncio.run(both())
    assert [type(one) for one in found] == [ZeroDivisionError] * 3 + [str]


def test_the_event_loop_is_not_blocked() -> None:
    @rk.reward
    def slow(completion: str) -> float:
        time.sleep(0.3)
        return 1.0

    own = requests(slow)

    async def ticks() -> int:
        scoring, count = asyncio.create_task(own.score(Row("a"))), 0
        while not scoring.done():
            await asyncio.sleep(0.01)
            count += 1
        return count

    assert asyncio.run(ticks()) > 5


@pytest.mark.slow
def test_a_loop_that_ended_leaves_nothing_behind() -> None:
    own = requests(rk.length.between(1, 3, unit="characters"))
    for _ in range(20):
        assert asyncio.run(own.score(Row("abc"))).total == 1.0
    gc.collect()
    assert len(own._loops) <= 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    own = requests(rk.length.between(1, 3, unit="characters"))
    assert asyncio.run(own.score(Row("abc"))).total == 1.0
    child = multiprocessing.get_context("fork").Process(target=_scores_in_child, args=(own,))
    child.start()
    child.join(20.0)
    hung = child.is_alive()
    child.kill()
    assert not hung
    assert child.exitcode == 0


def _scores_in_child(own: Requests) -> None:
    assert asyncio.run(own.score(Row("abcd"))).total == 0.0


def test_a_copy_scores_on_its_own() -> None:
    own = requests(rk.length.between(1, 3, unit="characters"), deadline=9.0)
    assert asyncio.run(own.score(Row("abc"))).total == 1.0
    other = pickle.loads(pickle.dumps(own))
    assert other.deadline == 9.0
    assert asyncio.run(other.score(Row("abcd"))).total == 0.0


@pytest.mark.parametrize("deadline", [0, -1.0, float("nan")])
def test_a_deadline_is_a_number_of_seconds(deadline: float) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="deadline= must be a number of seconds greater than 0, got"):
        requests(rk.exact("answer"), deadline=deadline)
