"""Observers know which call is running, of which component and row, and do not change scores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.batch import Batch
from rewardkit.tree.evaluation.observers import (
    Called,
    current_observer,
    observe_calls,
    observed_by,
    running,
    unattributed,
)
from rewardkit.tree.evaluation.scorer import Scorer


@dataclass
class Watcher:
    """Records which calls took time."""

    calls: list[tuple[str, int | None]] = field(default_factory=list)

    def took(self, call: Called, seconds: float) -> None:
        assert seconds >= 0.0
        self.calls.append((call.component, call.row))

    def heard(self, call: Called, kind: str, level: str, text: str, detail: str | None = None) -> bool:
        return False

    def elsewhere(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def told(self, call: Called, outcome: Any) -> Any:
        self.calls.append((call.component, call.row))
        return outcome


seen: list[tuple[str, str, int | None]] = []


def note(text: str) -> None:
    call = running()
    seen.append((text, call.component, call.row) if call else (text, "", None))


@rk.reward
def plain(completion: str) -> float:
    note(completion)
    return 0.5


@rk.reward
async def waiting(completion: str) -> float:
    note(completion)
    await asyncio.sleep(0)
    note(completion)
    return 0.5


@rk.reward(scope="group")
def grouped(completion: list[str]) -> list[float]:
    note("".join(completion))
    return [0.5] * len(completion)


@rk.reward(timeout=30.0)
def apart(completion: str) -> float:
    return 0.5


def watch(reward: rk.Reward, completions: list[str]) -> Watcher:
    seen.clear()
    watcher = Watcher()
    with observed_by(watcher):
        Scorer(reward).score(Batch(completions))
    assert current_observer() is None
    assert running() is None
    return watcher


def test_each_call_knows_its_row() -> None:
    assert watch(plain, ["a", "b", "a"]).calls == [("plain", 0), ("plain", 1)]
    assert seen == [("a", "plain", 0), ("b", "plain", 1)]


def test_async_calls_know_theirs_all_the_time() -> None:
    assert sorted(watch(waiting, ["a", "b"]).calls) == [("waiting", 0), ("waiting", 1)]
    assert sorted(seen) == [("a", "waiting", 0)] * 2 + [("b", "waiting", 1)] * 2


def test_a_call_for_several_rows_has_no_row() -> None:
    assert watch(grouped, ["a", "b"]).calls == [("grouped", None)]
    assert seen == [("ab", "grouped", None)]


def test_calls_in_another_process_are_observed() -> None:
    assert watch(apart, ["a", "b"]).calls == [("apart", 0), ("apart", 1)]


def test_the_rows_behind_a_gate_are_those_of_the_batch() -> None:
    gate = rk.gate(when=rk.contains(start="x"), then=plain)
    assert watch(gate, ["a", "x", "b", "xy"]).calls == [("plain", 1), ("plain", 3)]


def test_scoring_inside_a_reward_is_not_observed() -> None:
    @rk.reward
    def outer(completion: str) -> float:
        return float(rk.score(plain, ["x", "y"]).total[0])

    assert watch(outer, ["a"]).calls == [("outer", 0)]
    assert seen == [("x", "outer", 0), ("y", "outer", 0)]


def test_without_an_observer_functions_are_called_directly() -> None:
    calls = [("a",)]
    assert observe_calls(note, calls, "plain", [0]) == (note, calls)
    seen.clear()
    rk.score(plain, ["a"])
    assert seen == [("a", "", None)]


def test_aside_nothing_is_running() -> None:
    @rk.reward
    def stepping(completion: str) -> float:
        with unattributed():
            note("aside")
        note("back")
        return 0.5

    watch(stepping, ["a"])
    assert seen == [("aside", "", None), ("back", "stepping", 0)]


def test_the_time_of_a_future_counts_until_it_is_done() -> None:
    watcher = Watcher()
    later: Future[float] = Future()
    with observed_by(watcher):
        function, (call,) = observe_calls(lambda: later, [()], "later", [3])
        assert function(*call) is later
    assert watcher.calls == []
    later.set_result(0.5)
    assert watcher.calls == [("later", 3)]


@given(st.lists(st.sampled_from(["", "a", "b", "ab", "raise", "stop"]), min_size=1, max_size=8))
def test_observing_does_not_change_scores(completions: list[str]) -> None:
    @rk.reward
    def moody(completion: str) -> float:
        if completion == "raise":
            raise ValueError(completion)
        if completion == "stop":
            raise StopIteration
        return len(completion) / 10

    scorer = Scorer(0.5 * moody + rk.gate(when=rk.contains(start="a"), then=moody.named("again")) + rk.monitor(plain))
    with observed_by(Watcher()):
        found = scorer.score(Batch(completions), strict=False)
    expected = scorer.score(Batch(completions), strict=False)
    assert found.total.tolist() == pytest.approx(expected.total.tolist(), nan_ok=True, abs=0.0)
    assert [(fault.row, fault.reason) for fault in found.faults] == [
        (fault.row, fault.reason) for fault in expected.faults
    ]
