"""Geometric and harmonic means."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.schedules import linear
from rewardkit.tree.reward import Reward

MEANS = [partial(rk.mean, kind="geometric"), partial(rk.mean, kind="harmonic")]


def told(place: int, **options: Any) -> Reward:
    """A reward that reads its value from the completion: "0.5 - x" scores, abstains and fails."""

    def function(completion: str) -> float | None:
        word = completion.split()[place]
        if word == "x":
            raise rk.RewardFailure("down")
        return None if word == "-" else float(word)

    made: Reward = rk.reward(name=f"told_{place}", **options)(function)
    return made


A, B, C = (told(place) for place in range(3))
ANY = [told(place, bounds=(0.0, math.inf)) for place in range(3)]


def totals(tree: Reward, *completions: str) -> list[float]:
    return list(rk.score(tree, completions).total.tolist())


@pytest.mark.parametrize(
    ("tree", "completion", "value"),
    [
        (rk.mean(A, B, kind="geometric"), "0.9 0.4", 0.6),
        (rk.mean(A, B, kind="geometric"), "0.25 0.25", 0.25),
        (rk.mean(A, B, kind="geometric"), "0.9 0", 0.0),
        (rk.mean({A: 2.0, B: 1.0}, kind="geometric"), "1 0.125", 0.5),
        (rk.mean(2.0 * A, B, kind="geometric"), "1 0.125", 0.5),
        (rk.mean({A: 0.0, B: 1.0}, kind="geometric"), "0 0.3", 0.3),
        (rk.mean(A, B, kind="harmonic"), "0.5 1", 2 / 3),
        (rk.mean(A, B, kind="harmonic"), "0.5 0", 0.0),
        (rk.mean([(3.0, A), (1.0, B)], kind="harmonic"), "0.5 1", 4 / 7),
        (rk.mean(A, B, kind="geometric"), "0.3 -", 0.3),
        (rk.mean(A, B, C, kind="harmonic"), "0.5 - 1", 2 / 3),
        (rk.mean(*ANY, kind="geometric"), "3e38 3e38 3e38", 3e38),
        (rk.mean(*ANY, kind="geometric"), "5e-324 5e-324 5e-324", 5e-324),
        (rk.mean(*ANY, kind="harmonic"), "5e-324 5e-324 1", 5e-324),
        (rk.mean(*ANY, kind="harmonic"), "3e38 3e38 1", 3.0),
    ],
)
def test_values(tree: Reward, completion: str, value: float) -> None:
    assert totals(tree, completion) == pytest.approx([value], rel=1e-12)


@pytest.mark.parametrize("mean", MEANS)
def test_all_abstained_abstains_and_one_failure_fails(mean: Any) -> None:
    table = rk.score(mean(A, B), ["- -", "0.5 x", "- x", "0 0"])
    assert table.outcomes[mean(A, B).name].tolist() == ["abstained", "failed", "failed", "scored"]
    np.testing.assert_array_equal(table.total, [np.nan, np.nan, np.nan, 0.0])


@pytest.mark.parametrize("mean", MEANS)
def test_weights_of_zero_leave_out_and_where_all_are_zero_it_abstains(mean: Any) -> None:
    tree = mean({A: linear(0.0, 1.0), B: linear(1.0, 0.0, end=0.5)}).named("mean")

    def at(step: int, completion: str) -> tuple[str, float]:
        table = rk.score(tree, [completion], progress=rk.Progress(step, 10))
        return str(table.outcomes["mean"][0]), table.total[0]

    assert at(0, "x 0.25") == ("scored", 0.25)
    assert at(10, "0.75 x") == ("scored", 0.75)
    alone = mean({A: linear(0.0, 1.0)}).named("mean")
    table = rk.score(alone, ["0.5", "-"], progress=rk.Progress(0, 10))
    assert table.outcomes["mean"].tolist() == ["abstained", "abstained"]


words = st.sampled_from(["0", "-"]) | st.floats(1e-9, 1).map(repr) | st.floats(1e-290, 1e-280).map(repr)
rows = st.lists(st.tuples(words, words, words), min_size=1, max_size=4)
weights = st.lists(st.just(0.0) | st.floats(1e-9, 10), min_size=3, max_size=3)


def naive(kind: str, pairs: list[tuple[float, float]]) -> float:
    total = sum(weight for weight, _ in pairs)
    if any(value == 0.0 for _, value in pairs):
        return 0.0
    if kind == "geometric_mean":
        return math.exp(math.fsum(weight * math.log(value) for weight, value in pairs) / total)
    smallest = min(value for _, value in pairs)  # so that no reciprocal is out of range
    return smallest * total / math.fsum(weight * smallest / value for weight, value in pairs)


@given(st.sampled_from(MEANS), weights, rows)
def test_they_are_their_formula_and_lie_between_lowest_and_highest(
    mean: Any, weighted: list[float], given_rows: list[tuple[str, str, str]]
) -> None:
    tree = mean(list(zip(weighted, [A, B, C], strict=True)))
    found = totals(tree, *map(" ".join, given_rows))
    for row, value in zip(given_rows, found, strict=True):
        counted = [(weight, float(word)) for weight, word in zip(weighted, row, strict=True) if word != "-" and weight]
        if not counted:
            assert math.isnan(value)
            continue
        values = [one for _, one in counted]
        assert min([0.0, *values] if 0.0 in values else values) <= value <= max(values)
        assert value == pytest.approx(naive(tree.name, counted), rel=1e-9, abs=1e-300)


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_harmonic_is_at_most_geometric_is_at_most_the_average(values: list[float]) -> None:
    completion = " ".join(map(repr, values))
    found = [totals(mean(A, B, C), completion)[0] for mean in (MEANS[1], MEANS[0], rk.mean)]
    assert found == pytest.approx(sorted(found), rel=1e-9)


def test_they_are_one_term_with_components_within_the_bounds_of_their_parts() -> None:
    tree = 0.5 * rk.mean(A, B, kind="geometric") + rk.mean(A, C, kind="geometric").named("other")
    table = rk.score(tree, ["0.9 0.4 0.9"])
    assert {name: values[0] for name, values in table.terms.items()} == pytest.approx(
        {"geometric_mean": 0.3, "other": 0.9}
    )
    assert list(table.components) == ["geometric_mean", "told_0", "told_1", "other", "told_2"]
    assert rk.mean(A.clip(0.25, 0.5), B.clip(0.5, 0.75), kind="geometric").bounds == (0.25, 0.75)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "needs at least one reward"),
        ([told(0, bounds=(-1.0, 1.0))], r"can score as low as -1, .*Use \.clip\(0, 1\), or an arithmetic mean"),
        ([A - B], "becomes negative|can go down"),
        ([{A: -1.0}], "becomes negative"),
        ([{A: linear(1.0, -0.5)}], "becomes negative"),
        ([3], "expects rewards"),
        ([A, "b"], "must be a reward"),
    ],
)
def test_invalid_items_are_refused(mean: Any, items: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        mean(*items)
