"""Scheduler: what waits overlaps, synchronous functions run in order, a hanging row affects no other."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer


class Meeting:
    """Lets `count` coroutines through only when all are in progress at once."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.arrived = 0

    async def attend(self) -> None:
        self.arrived += 1
        deadline = time.monotonic() + 10
        while self.arrived < self.count:
            assert time.monotonic() < deadline, "they were not in progress together"
            await asyncio.sleep(0.001)


def test_rows_and_rewards_that_wait_are_under_way_together() -> None:
    meeting = Meeting(6)

    @rk.reward
    async def first(completion: str) -> float:
        await meeting.attend()
        return 0.25

    @rk.reward
    async def second(completion: str) -> float:
        await meeting.attend()
        return 0.5

    assert rk.score(first + second, list("abc")).total.tolist() == [0.75] * 3


def test_synchronous_rewards_run_in_order_in_the_callers_thread_while_others_wait() -> None:
    happened: list[str] = []
    release = threading.Event()

    @rk.reward
    async def waits(completion: str) -> float:
        happened.append("started")
        while not release.is_set():
            await asyncio.sleep(0.001)
        return 0.5

    def sync(name: str, last: bool) -> rk.Reward:
        def function(completion: str) -> float:
            while "started" not in happened:
                time.sleep(0.001)
            assert threading.current_thread() is threading.main_thread()
            happened.append(name)
            if last:
                release.set()
            return 0.5

        return rk.reward(name=name)(function)

    tree = sync("first", False) + waits + sync("second", False) + sync("third", True)
    assert rk.score(tree, ["a"]).total.tolist() == [2.0]
    assert happened == ["started", "first", "second", "third"]


def test_a_judge_behind_a_gate_is_asked_about_open_rows_alone() -> None:
    asked: list[str] = []

    @rk.reward
    def condition(completion: str) -> float:
        return 1.0 if completion.startswith("open") else 0.0

    @rk.reward
    async def judge(completion: str) -> float:
        asked.append(completion)
        return 0.5

    table = rk.score(rk.gate(condition, judge), ["open 1", "shut", "open 2"])
    assert sorted(asked) == ["open 1", "open 2"]
    assert table.total.tolist() == [0.5, 0.0, 0.5]


@rk.reward(bounds=(0.0, 10.0))
async def slow(completion: str) -> float:
    await asyncio.sleep(0.01)
    return len(completion) / 10


def test_several_threads_score_at_once_with_one_scorer() -> None:
    scorer = Scorer(slow + rk.tags("answer"))
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        table = scorer.score(rk.Batch(["x" * number, "<answer>1</answer>"]))
        results[number] = (table["slow"][0], table["tags"].tolist())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert results == {number: (number / 10, [0.0, 1.0]) for number in range(1, 9)}


def test_an_async_reward_that_hangs_fails_its_row_and_no_other() -> None:
    @rk.reward(timeout=0.1)
    async def hangs(completion: str) -> float:
        if completion == "bad":
            await asyncio.sleep(60)
        return 0.5

    table = rk.score(hangs, ["a", "bad", "b"])
    assert table.outcomes["hangs"].tolist() == ["scored", "failed", "scored"]
    assert table.notes["hangs"][1] == "no result within 0.1 s"


def test_an_async_reward_that_refuses_to_be_cancelled_fails_its_row_too() -> None:
    @rk.reward(timeout=0.1)
    async def stubborn(completion: str) -> float:
        for _ in range(20):
            try:
                await asyncio.sleep(1 if completion == "bad" else 0)
            except asyncio.CancelledError:
                continue
        return 0.5

    started = time.monotonic()
    table = rk.score(stubborn, ["a", "bad"])
    assert table.outcomes["stubborn"].tolist() == ["scored", "failed"]
    assert time.monotonic() - started < 10


def test_a_fault_in_one_reward_stops_the_others_of_the_tree() -> None:
    canceled = threading.Event()

    @rk.reward
    async def waits(completion: str) -> float:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            canceled.set()
            raise
        return 0.5

    @rk.reward
    def buggy(completion: str) -> float:
        time.sleep(0.05)
        raise ValueError("bug")

    with pytest.raises(rk.errors.RewardBug, match="buggy"):
        rk.score(waits + buggy, ["a"])
    assert canceled.wait(10)


def test_a_reward_may_score_with_another_reward() -> None:
    @rk.reward
    def outer(completion: str) -> float:
        return float(rk.score(slow, [completion]).total[0])

    assert rk.score(outer, ["abc"]).total.tolist() == [0.3]
