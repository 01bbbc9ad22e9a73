"""Ranks within the group."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer


def told(name: str = "told", change: Callable[[float], float] = float) -> rk.Reward:
    """A reward that computes its value from the first word of the completion."""

    def function(completion: str) -> float | None:
        word = completion.split()[0]
        if word == "x":
            raise rk.RewardFailure("down")
        return None if word == "-" else change(float(word))

    made: rk.Reward = rk.reward(name=name, bounds=(-math.inf, math.inf))(function)
    return made


@rk.reward
def opened(completion: str) -> float:
    return float("shut" not in completion)


TOLD = told()
RANK = rk.rank_in_group(TOLD)


def totals(completions: list[str], groups: list[int], tree: rk.Reward = RANK) -> list[float]:
    return list(rk.score(tree, completions, prompts=[f"prompt {group}" for group in groups]).total.tolist())


def test_ranks_are_shares_of_the_others_that_are_beaten() -> None:
    assert totals(["0.1", "0.5", "0.5", "9.0"], [0] * 4) == [0.0, 0.5, 0.5, 1.0]
    assert totals(["3", "3", "3"], [0] * 3) == [0.5] * 3
    assert totals(["2", "1", "-5", "-6"], [0, 0, 1, 1]) == [1.0, 0.0, 1.0, 0.0]


def test_who_abstained_or_failed_is_left_out_and_who_is_alone_abstains() -> None:
    table = rk.score(RANK, ["1", "-", "2", "x", "3", "-", "x"], prompts=[*"aaaabcd"])
    np.testing.assert_array_equal(table.total, [0.0, np.nan, 1.0, np.nan, np.nan, np.nan, np.nan])
    assert table.outcomes["told_rank"].tolist() == [
        *("scored", "abstained", "scored", "failed", "abstained", "abstained", "failed")
    ]


def test_the_empty_batch_and_the_group_of_one() -> None:
    assert totals([], []) == []
    assert rk.score(RANK + opened, ["1"]).total.tolist() == [1.0]


words = st.sampled_from(["0", "1", "-1", "0.5", "0.5000000001", "7", "1e12", "-1e12", "-"]) | st.floats(-5, 5).map(
    lambda number: repr(round(number, 6))
)
batches = st.lists(st.lists(words, min_size=1, max_size=6), max_size=4)


def naive(group: list[str]) -> list[float]:
    """Compare each value with each other one."""
    values = [None if word == "-" else float(word) for word in group]
    ranks = []
    for place, own in enumerate(values):
        others = [other for at, other in enumerate(values) if at != place and other is not None]
        if own is None or not others:
            ranks.append(math.nan)
            continue
        beaten = sum(1.0 if own > other + 1e-9 else 0.5 if own >= other - 1e-9 else 0.0 for other in others)
        ranks.append(beaten / len(others))
    return ranks


@given(batches)
def test_it_equals_a_double_loop(groups: list[list[str]]) -> None:
    completions = [word for group in groups for word in group]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    expected = [rank for group in groups for rank in naive(group)]
    np.testing.assert_allclose(totals(completions, numbers), expected, atol=1e-12)


@given(st.lists(st.integers(-20, 20).map(lambda number: str(number / 4)), min_size=2, max_size=8))
def test_strictly_monotone_maps_change_nothing(group: list[str]) -> None:
    changes: list[Callable[[float], float]] = [lambda x: x**3 + x, math.exp, lambda x: 100.0 * x - 7.0, math.atan]
    ranks = totals(group, [0] * len(group))
    for change in changes:
        assert totals(group, [0] * len(group), rk.rank_in_group(told("changed", change))) == ranks
    mirrored = totals(group, [0] * len(group), rk.rank_in_group(told("mirrored", lambda x: -x)))
    assert mirrored == pytest.approx([1.0 - rank for rank in ranks])


@given(st.lists(st.floats(-5, 5).map(repr), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_the_group_does_not_matter(group: list[str], random: object) -> None:
    order = list(range(len(group)))
    random.shuffle(order)  # type: ignore[attr-defined]
    ranks = totals(group, [0] * len(group))
    assert totals([group[place] for place in order], [0] * len(group)) == [ranks[place] for place in order]


def test_behind_a_gate_the_whole_group_is_ranked_and_a_closed_group_costs_nothing() -> None:
    completions = ["1", "2 shut", "3", "4 shut", "5 shut"]
    table = rk.score(rk.gate(opened, RANK), completions, prompts=[*"aaabb"])
    assert table.total.tolist() == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert table.outcomes["told_rank"].tolist() == ["scored", "skipped", "scored", "skipped", "skipped"]
    assert rk.score(rk.gate(opened, RANK), ["1", "2 shut", "0"]).total.tolist() == [0.5, 0.0, 0.0]


def test_in_routes_and_of_combinations() -> None:
    tree = rk.route({"a": RANK, "b": TOLD}, by="task")
    assert rk.score(tree, ["1", "2", "3", "4"], task=[*"aabb"]).total.tolist() == [0.0, 1.0, 3.0, 4.0]
    ranked = rk.rank_in_group(TOLD + opened)
    assert ranked.name == "sum_rank"
    assert totals(["1.5 shut", "1"], [0, 0], ranked) == [0.0, 1.0]
    assert totals(["1", "2", "3"], [0] * 3, rk.rank_in_group(RANK)) == [0.0, 0.5, 1.0]


def test_it_is_scored_by_whole_groups_and_says_so() -> None:
    assert RANK.facts.together == "group"
    assert RANK.bounds == (0.0, 1.0)
    assert repr(RANK) == "rank_in_group(told)"
    assert Scorer(RANK).components == ["told_rank", "told"]
    with pytest.raises(rk.RewardDefinitionError, match="rank_in_group must be a reward"):
        rk.rank_in_group("told")  # type: ignore[arg-type]


@given(st.lists(st.floats(0, 3e-9), min_size=2, max_size=6))
def test_ranks_are_those_of_an_order_however_near_the_values(values: list[float]) -> None:
    ranks = np.array(totals([*map(repr, values)], [0] * len(values)))
    assert np.sum(ranks) == pytest.approx(len(values) / 2)
    assert all(np.diff(ranks[np.argsort(values)]) >= 0.0)
