"""Weighted sums and means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer


@rk.reward
def high(completion: str) -> float | None:
    return None if "h" in completion else 1.0


@rk.reward
def low(completion: str) -> float | None:
    if "f" in completion:
        raise rk.RewardFailure("down")
    return None if "l" in completion else 0.25


SPELLINGS = [
    rk.weighted_sum({high: 0.5, low: 2}),
    rk.weighted_sum([(0.5, high), (low, 2)]),
    rk.weighted_sum((0.5, high), (2.0, low)),
    rk.weighted_sum(0.5 * high, 2 * low),
    rk.weighted_sum([0.5 * high, 2 * low]),
    0.5 * high + 2 * low,
]


@pytest.mark.parametrize("tree", SPELLINGS, ids=lambda tree: repr(tree))
def test_all_spellings_of_a_sum_are_one(tree: rk.Reward) -> None:
    assert tree == SPELLINGS[0]


def test_a_mapping_from_names_names() -> None:
    table = rk.score(rk.weighted_sum({"first": (0.5, high), "second": 2 * low, "third": high + low}), [""])
    assert {name: values[0] for name, values in table.terms.items()} == {"first": 0.5, "second": 0.5, "third": 1.25}


def test_a_mean_renormalizes_over_rewards_that_did_not_abstain() -> None:
    table = rk.score(rk.mean({high: 3.0, low: 1.0}), ["", "h", "l", "hl", "f"])
    np.testing.assert_allclose(table.total, [0.8125, 0.25, 1.0, np.nan, np.nan])
    np.testing.assert_allclose(table.terms["high"], [0.75, np.nan, 1.0, np.nan, np.nan])


def test_the_terms_of_a_mean_in_which_all_abstained_are_abstained_not_zero() -> None:
    fine = rk.reward(name="fine")(lambda completion: 0.5)
    table = rk.score(rk.mean(high, low) + fine, ["hl", "h"])
    assert table.total.tolist() == [0.5, 0.75]
    np.testing.assert_array_equal(table.terms["high"], [np.nan, np.nan])
    np.testing.assert_array_equal(table.terms["low"], [np.nan, 0.25])


def test_a_mean_abstains_while_all_weights_are_zero() -> None:
    tree = rk.mean((rk.schedules.linear(0.0, 1.0), high))
    table = rk.score(tree.named("mean"), [""], progress=rk.Progress(0, 10))
    assert table.outcomes["mean"].tolist() == ["abstained"]
    assert np.isnan(table.total).all()
    assert rk.score(tree, [""]).total.tolist() == [1.0]


def test_factors_written_with_a_star_are_weights_of_a_mean() -> None:
    assert rk.mean(0.5 * high, 1.5 * low) == rk.mean({high: 0.5, low: 1.5})


def test_a_sum_inside_a_mean_keeps_its_own_weights() -> None:
    table = rk.score(rk.mean((2.0, 0.5 * high + 0.5 * low), (2.0, high)), [""])
    assert table.total.tolist() == [pytest.approx((0.625 + 1.0) / 2)]


@pytest.mark.parametrize("weight", [-1.0, rk.schedules.linear(1.0, -1.0)])
def test_a_mean_refuses_weights_that_get_negative(weight: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="becomes negative"):
        rk.mean({high: weight})


@pytest.mark.parametrize("items", [[], {}])
def test_nothing_to_sum_is_an_error(items: Any) -> None:
    for build in (rk.weighted_sum, rk.mean):
        with pytest.raises(rk.RewardDefinitionError, match="at least one reward"):
            build(items)


@pytest.mark.parametrize("items", ["high", 3, None, [3], {"a": 3}, [(1, 2)], {high: "1"}, [float]])
def test_items_that_cannot_be_summed_are_a_type_error(items: Any) -> None:
    with pytest.raises(TypeError):
        rk.weighted_sum(items)


def test_a_mean_is_evaluated_once_and_has_no_component_of_its_own() -> None:
    assert Scorer(rk.mean(high, low)).components == ["high", "low"]
