"""Laws of inputs and processes: arguments stay unchanged, and threads and pickle change nothing."""

from __future__ import annotations

import copy
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.column import Column, Rows
from rewardkit.batch.score import SCORED
from rewardkit.check.laws.processes import _changed_by
from rewardkit.check.reward_under_test.sweep import given
from rewardkit.tree.binding import Binding
from rewardkit.tree.reward import Calls, Evaluation, NodeSpec, Reward, Steps
from tests.check.rewards import (
    GOOD,
    assert_held,
    assert_skipped,
    awaited,
    broken,
    closeness,
    naive,
    number,
    shortest,
    shown,
    subject,
    tagged_number,
    tree,
)

LAWS = ("inputs_not_mutated", "picklable", "thread_safe")
LISTS: dict[str, Any] = {
    "examples": [{"answer": ["b", "a"]}, {"answer": ["d", "c"]}],
    "good": ["a b", "c d"],
    "bad": ["a", "d"],
}
current = {"text": ""}


def strips(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    for row, text in enumerate(completions):
        completions[row] = text.strip().lower() + "!"
    return [float(gold in text) for text, gold in zip(completions, answer, strict=True)]


def pops(completions: list[Any], **kwargs: Any) -> list[float]:
    return [float("4" in str(messages.pop() if messages else "")) for messages in completions]


async def strips_later(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return strips(completions, answer)


def strips_on_the_way(completions: list[str], answer: list[str], **kwargs: Any) -> Iterator[float]:
    yield from strips(completions, answer)


def from_eval_protocol(messages: list[Any], answer: Any) -> float:
    answer.sort()
    return float(messages[-1]["content"].split() == answer)


def from_verifiers(completion: list[Any], answer: Any) -> float:
    """Sorts its own list: the adapter passes copies."""
    answer.sort()
    return float(completion[-1]["content"].split() == answer)


@dataclass(frozen=True)
class CarelessAdapter(Reward):
    """Hands the rows of the batch to a function as they are."""

    function: Callable[[str, list[str]], float]

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(name="careless", bounds=(0.0, 1.0), binding=Binding(self.function, (), foreign=True))

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return self

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        pairs = zip(evaluation.batch.texts, evaluation.batch.columns["answer"], strict=True)
        values = yield Calls(self, self.function, pairs, range(len(rows)), Binding(self.function, ()))
        return Column(np.array(values), np.full(len(values), SCORED, dtype=np.int8))


@rk.reward
def sorts(completion: str, answer: Any) -> float:
    answer.sort()
    return float(completion.split() == answer)


@rk.reward
def sorts_a_copy(completion: str, answer: list[str]) -> float:
    return float(completion.split() == sorted(answer))


class Locked:
    """Holds what no other process can be given."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        with self.lock:
            return [float("4" in text) for text in completions]


class Forgetful:
    """Comes back from pickle without what it has learned."""

    def __init__(self) -> None:
        self.bonus = 0.5
        self.__name__ = "forgetful"

    def __call__(self, completions: list[str], **kwargs: Any) -> list[float]:
        return [self.bonus + 0.1 * ("4" in text) for text in completions]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_forgotten, ())


def _forgotten() -> Forgetful:
    fresh = Forgetful()
    fresh.bonus = 0.0
    return fresh


def interrupted(completions: list[str], **kwargs: Any) -> list[float]:
    """A time limit of one's own that ends what does not run on the main thread."""
    if threading.current_thread() is not threading.main_thread():
        raise KeyboardInterrupt("out of time")
    return [float("4" in text) for text in completions]


def alarmed(completions: list[str], **kwargs: Any) -> list[float]:
    """Signals work on the main thread alone."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(5)
    try:
        return [float("4" in text) for text in completions]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def shared(completions: list[str], **kwargs: Any) -> list[float]:
    """Hands the text over in a place that all threads share."""
    scores = []
    for text in completions:
        current["text"] = text
        time.sleep(0.0002)
        scores.append(float("4" in current["text"]))
    return scores


@pytest.mark.parametrize("reward", [number, tree, closeness, tagged_number, awaited, shortest, naive], ids=shown)
def test_sound_rewards_hold_to_all_of_them(reward: Any) -> None:
    assert_held(reward, *LAWS)


def test_completions_that_are_changed_in_place() -> None:
    (found,) = broken(strips, "inputs_not_mutated")
    assert found.component == "strips"
    assert "changes its argument completions" in found.why
    (found,) = broken(
        pops, "inputs_not_mutated", good=[[{"role": "assistant", "content": text}] for text in GOOD], bad=[]
    )
    assert found.component == "pops"


def test_columns_that_are_changed_in_place() -> None:
    (found,) = broken(0.5 * sorts + 0.5 * sorts_a_copy, "inputs_not_mutated", **LISTS)
    assert found.component == "sorts"
    assert "argument answer from [['b', 'a']" in found.why
    assert "to [['a', 'b']" in found.why
    assert_held(sorts_a_copy, "inputs_not_mutated", **LISTS)


@pytest.mark.parametrize("reward", [strips_later, strips_on_the_way])
def test_completions_that_are_changed_when_the_function_is_run_to_its_end(reward: Any) -> None:
    (found,) = broken(reward, "inputs_not_mutated")
    assert found.component == reward.__name__
    assert "changes its argument completions" in found.why


def test_functions_of_other_libraries_are_called_as_they_ask() -> None:
    (found,) = broken(rk.from_eval_protocol(from_eval_protocol), "inputs_not_mutated", **LISTS)
    assert "changes its argument answer" in found.why
    seen: list[Any] = []

    def first(completion: list[Any], answer: list[str], state: dict[str, Any]) -> float:
        seen.append(list(answer))
        return from_verifiers(completion, answer)

    def second(completion: list[Any], answer: list[str], state: dict[str, Any]) -> float:
        return first(completion, answer, state)

    rubric = SimpleNamespace(funcs=[first, second], weights=[1.0, 1.0])
    one = subject(rk.from_verifiers(rubric), **LISTS)
    for leaf, _ in one.bindings:
        seen.clear()
        assert _changed_by(one, leaf, given(one)) is None
        assert len(seen) == 2 * len(given(one))
        assert seen[0] == ["b", "a"]


def test_an_adapter_that_hands_on_what_it_was_given() -> None:
    def notes_down(text: str, answer: list[str]) -> float:
        answer.append(text)
        return 1.0

    (found,) = broken(CarelessAdapter(notes_down), "inputs_not_mutated", **copy.deepcopy(LISTS))
    assert found.component == "careless"
    assert "changes its argument answer" in found.why


def test_what_cannot_go_to_other_processes() -> None:
    (found,) = broken(Locked(), "picklable")
    assert "cannot be pickled" in found.why
    assert "lock" in found.why


def test_what_comes_back_as_another() -> None:
    (found,) = broken(Forgetful(), "picklable")
    assert "after a round trip through pickle" in found.why


def test_closures_are_told_and_not_blamed() -> None:
    def inner(completions: list[str], **kwargs: Any) -> list[float]:
        return [float("4" in text) for text in completions]

    assert_skipped(inner, "picklable", "inner is defined inside a function")
    assert_held(inner, "inputs_not_mutated", "thread_safe")


def test_signals_in_threads() -> None:
    (found,) = broken(alarmed, "thread_safe")
    assert "thread" in found.why
    assert "main thread" in found.why or "signal only works" in found.why


def test_threads_that_are_ended() -> None:
    (found,) = broken(interrupted, "thread_safe")
    assert "outside the main thread, it raised KeyboardInterrupt: out of time" in found.why
    assert "in interrupted" in found.trace


def test_what_threads_share() -> None:
    (found,) = broken(shared, "thread_safe")
    assert "when several threads score" in found.why
