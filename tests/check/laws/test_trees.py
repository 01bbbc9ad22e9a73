"""Laws of compositions: gates, schedules, and declared properties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.laws.trees import nodes
from rewardkit.progress.progress import Progress
from tests.check.rewards import GOOD, assert_held, assert_skipped, broken, closeness, form, number, shown, tree

SENTENCES: dict[str, Any] = {"examples": [{"answer": "Café  Noir"}], "good": ["Café  Noir"], "bad": ["tea"]}


@rk.reward(bounds=(-1.0, 1.0))
def strict(completion: str, answer: str) -> float:
    """-1 for a wrong answer: behind a gate, that is worse than failing the gate."""
    return 1.0 if f"<answer>{answer}</answer>" in completion else -1.0


@rk.reward
def to_the_letter(completion: str, answer: str) -> float:
    return float(completion == answer)


@rk.reward
def same_words(completion: str, answer: str) -> float:
    return float(completion.split() == answer.split())


@rk.reward
def same_small_letters(completion: str, answer: str) -> float:
    return float(completion.lower() == answer.lower())


@dataclass(frozen=True)
class Leaving(rk.schedules.Schedule):
    """Says that it stays below 1, and does not."""

    @property
    def end_value(self) -> float:
        return 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def text(self) -> str:
        return "leaving()"

    def at(self, progress: Progress) -> float:
        return 4 * progress.fraction

    def late(self, max_steps: int) -> list[tuple[rk.schedules.Schedule, int]]:
        return []


def test_all_nodes_of_a_tree() -> None:
    assert next(iter(nodes(tree))) is tree
    assert {repr(form), repr(number)} <= {repr(node) for node in nodes(tree)}


@pytest.mark.parametrize(
    "reward",
    [
        tree,
        rk.gate(when=form, then=number),
        rk.gate(when=form, then=strict, otherwise=-1.0),
        rk.gate(when=form, then=closeness, otherwise=0.0),
    ],
    ids=shown,
)
def test_gates_that_pay_who_passes(reward: rk.Reward) -> None:
    assert_held(reward, "gate_dominance")


@pytest.mark.parametrize(
    "reward",
    [
        rk.gate(when=form, then=strict),
        rk.gate(when=form, then=number, otherwise=0.5),
        0.1 * number + 0.5 * rk.gate(when=form, then=strict, otherwise=-0.5),
    ],
    ids=shown,
)
def test_gates_that_pay_who_fails(reward: rk.Reward) -> None:
    (found,) = broken(reward, "gate_dominance")
    assert "failing the gate" in found.why
    assert "more than a completion that passes" in found.why
    assert "learns to fail" in found.matters
    assert rk.score(form, [found.completion]).total.tolist() == [0.0]


def test_without_a_gate_there_is_nothing_to_say() -> None:
    assert_skipped(number, "gate_dominance", "no gate")


@pytest.mark.parametrize(
    "weight",
    [rk.schedules.linear(0.0, 1.0), rk.schedules.cosine(1.0, 0.2), rk.schedules.when_reached("tags", level=0.9)],
    ids=shown,
)
def test_schedules_that_stay_where_they_say(weight: Any) -> None:
    assert_held(0.2 * form + weight * number, "schedule_bounds")
    assert_skipped(0.2 * form + number, "schedule_bounds", "no schedule")


def test_a_schedule_that_leaves_its_bounds() -> None:
    (found,) = broken(Leaving() * number, "schedule_bounds")
    assert "gives 1.2" in found.why
    assert "30% of training" in found.why
    assert math.isclose(Leaving()(Progress(30, 100)), 1.2)


@pytest.mark.parametrize(
    ("law", "promise", "sound", "faulty", "said"),
    [
        ("whitespace_indifferent", "whitespace", same_words, to_the_letter, "a line break at the end"),
        ("case_indifferent", "case", same_small_letters, to_the_letter, "upper case"),
        ("unicode_indifferent", "unicode", rk.exact("answer"), to_the_letter, "NFD"),
    ],
)
def test_what_is_declared_not_to_matter(law: str, promise: str, sound: Any, faulty: Any, said: str) -> None:
    assert_held(sound, law, invariant_to=[promise], **SENTENCES)
    (found,) = broken(faulty, law, invariant_to=[promise], **SENTENCES)
    assert found.why == f"scores 0 with {said}, but 1 without it"
    assert found.score == 0.0
    assert_skipped(faulty, law, "not declared", **SENTENCES)


def test_right_completions_of_the_two_sums_are_right() -> None:
    assert rk.score(tree, GOOD, answer=["42", "7"]).total.tolist() == [1.0, 1.0]
