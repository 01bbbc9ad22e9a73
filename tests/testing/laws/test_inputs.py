"""Laws of inputs and processes: what is handed over stays as it was, and threads and pickle change nothing."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

import pytest

import rewardkit as rk
from tests.testing.rewards import (
    GOOD,
    assert_held,
    assert_skipped,
    awaited,
    broken,
    closeness,
    naive,
    number,
    shortest,
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


@pytest.mark.parametrize("reward", [number, tree, closeness, tagged_number, awaited, shortest, naive], ids=repr)
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
    assert "argument answer: it was [['b', 'a']" in found.why
    assert "and is [['a', 'b']" in found.why
    assert_held(sorts_a_copy, "inputs_not_mutated", **LISTS)


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


def test_what_threads_share() -> None:
    (found,) = broken(shared, "thread_safe")
    assert "in threads beside others" in found.why
