"""Rewards in order: lexicographic."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rewardkit as rk
from rewardkit.tree.reward import Reward

calls: Counter[tuple[int, str]] = Counter()


def told(place: int, **options: Any) -> Reward:
    """A reward that reads its value from the completion, with a note, and counts its calls."""

    def function(completion: str) -> rk.Score | None:
        calls[place, completion] += 1
        word = completion.split()[place]
        if word == "x":
            raise rk.RewardFailure("down")
        return None if word == "-" else rk.Score(float(word), f"from {place}")

    made: Reward = rk.reward(name=f"told_{place}", **options)(function)
    return made


A, B, C = (told(place) for place in range(3))
WIDE = told(1, bounds=(-10.0, 30.0))


def totals(tree: Reward, *completions: str) -> list[float]:
    return list(rk.score(tree, completions).total.tolist())


@pytest.mark.parametrize(
    ("tree", "completion", "value"),
    [
        (rk.lexicographic(A, B, levels=1), "1 1", 1.0),
        (rk.lexicographic(A, B, levels=1), "1 0", 2 / 3),
        (rk.lexicographic(A, B, levels=1), "0 1", 1 / 3),
        (rk.lexicographic(A, B, levels=1), "0.99 0.5", 1 / 6),
        (rk.lexicographic(A, WIDE, levels=1), "1 10", 5 / 6),
        (rk.lexicographic(A, B), "0.5 0.5", (5 / 11 + 5 / 121) / (1 - 1 / 121)),
        (rk.lexicographic(A, B), "- 1", (10 / 121) / (1 - 1 / 121)),
        (rk.lexicographic(A, B), "0.3 -", (3 / 11) / (1 - 1 / 121)),
        (rk.lexicographic([A, B, C], levels=1), "1 0 1", 5 / 7),
    ],
)
def test_lexicographic_values(tree: Reward, completion: str, value: float) -> None:
    assert totals(tree, f"{completion} 0 0") == pytest.approx([value], rel=1e-12)


grades = st.sampled_from([place / 12 for place in range(13)] + [0.1, 0.3, 0.7, 1 / 3])
triples = st.tuples(grades, grades, grades)


@given(triples, triples, st.integers(1, 30))
def test_lexicographic_orders_like_tuples_of_levels(
    one: tuple[float, ...], other: tuple[float, ...], levels: int
) -> None:
    def key(values: tuple[float, ...]) -> tuple[float, ...]:
        return (*(math.floor(levels * value + 1e-9) for value in values[:-1]), values[-1])

    tree = rk.lexicographic(A, B, C, levels=levels)
    first, second = totals(tree, *(" ".join(map(repr, values)) for values in (one, other)))
    assert 0.0 <= first <= 1.0
    assert (first > second) == (key(one) > key(other))
    assert (first == second) == (key(one) == key(other))


def test_a_step_of_the_first_is_worth_more_than_all_that_follows() -> None:
    for levels in (1, 2, 10, 100):
        low = (levels - 1) / levels
        worse, better = totals(rk.lexicographic(A, B, C, levels=levels), f"{low} 1 1", "1 0 0")
        assert worse < better


def test_lexicographic_fails_where_one_fails_and_abstains_where_all_do() -> None:
    table = rk.score(rk.lexicographic(A, B), ["x 1", "1 x", "- -", "0 0"])
    assert table.outcomes["lexicographic"].tolist() == ["failed", "failed", "abstained", "scored"]
    np.testing.assert_array_equal(table.total, [np.nan, np.nan, np.nan, 0.0])
    assert table.terms.keys() == {"lexicographic"}


def test_a_reward_that_never_differs_decides_nothing() -> None:
    worse, better = totals(rk.lexicographic(B.clip(2.0, 2.0), A), "0.2 0", "0.4 1")
    assert worse < better


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: rk.lexicographic(A), "lexicographic needs at least two rewards"),
        (lambda: rk.lexicographic(), "lexicographic needs at least two rewards"),
        (lambda: rk.lexicographic(A, 0.5), "lexicographic: an item must be a reward"),
        (lambda: rk.lexicographic({A: 1.0, B: 2.0}), "lexicographic expects rewards without weights"),
        (lambda: rk.lexicographic(A, B, levels=0), r"levels must be .* got 0"),
        (lambda: rk.lexicographic(A, B, levels=2.0), "levels must be"),  # type: ignore[arg-type]
        (lambda: rk.lexicographic(A, B, levels=True), "levels must be"),
        (lambda: rk.lexicographic(A, told(1, bounds=(0.0, math.inf))), r"finite bounds.*\.clip\(low, high\)"),
        (lambda: rk.lexicographic(A, told(1, bounds=(-1e308, 1e308))), "finite bounds"),
        (lambda: rk.lexicographic(*[A] * 12), "12 rewards with 10 levels need more values than the trainer.s float32"),
    ],
)
def test_invalid_orders_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


words = st.sampled_from(["0", "0.5", "1", "-", "0.25", "0.9999999999"])


@given(st.lists(st.tuples(words, words, words).map(" ".join), min_size=1, max_size=5), st.data())
def test_orders_work_in_gates_and_in_each_other(completions: list[str], data: st.DataObject) -> None:
    inner = rk.maximum(A, B)
    tree = rk.gate(C, rk.lexicographic(inner, A, levels=1), threshold=0.5)
    found = totals(tree, *completions)
    row = data.draw(st.integers(0, len(completions) - 1))
    a, b, c = (None if word == "-" else float(word) for word in completions[row].split())
    assume(a is not None or b is not None)
    if c is not None and c < 0.5:
        assert found[row] == 0.0
    else:
        best = max(value for value in (a, b) if value is not None)
        expected = (math.floor(best + 1e-9) / 2 + (a or 0.0) / 4) / 0.75
        assert found[row] == pytest.approx(expected)
