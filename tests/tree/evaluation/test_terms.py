"""Terms: additive shares that sum to the total, and their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import rewardkit as rk
from rewardkit.tree import leaf
from rewardkit.tree.evaluation.scorer import Scorer
from tests.counting import counted
from tests.trees import Rows, progresses, rows, trees


def test_the_weight_of_a_term_is_its_mean_over_the_rows_that_reach_it() -> None:
    part, _ = counted("part")
    condition, _ = counted("condition", lambda completion: float(completion == "open"))
    table = rk.score(0.5 * part + rk.gate(condition, part) + 0 * condition, ["open", "shut"])
    assert table.weights["part"] == pytest.approx(1.0)
    assert table.terms["part"].tolist() == [0.75, 0.25]
    assert table.gates == {"condition_gate": 0.5}


def test_the_weight_of_a_term_in_several_places_is_that_of_the_place_that_counts() -> None:
    part, _ = counted("part")
    shut, _ = counted("shut", lambda completion: float(completion == "o"))
    stages = rk.curriculum([rk.Stage("all", part, until=0.5), rk.Stage("gated", rk.gate(shut, part) + 0.1 * shut)])
    for step, weight in ((0, 1.0), (9, 1.0)):
        assert rk.score(stages, ["o", "x", "x"], progress=rk.Progress(step, 10)).weights["part"] == weight


few = settings(suppress_health_check=[HealthCheck.too_slow])


def scored(tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None) -> rk.ScoreTable:
    return Scorer(tree).score(given_rows.batch(progress), strict=False)


@few
@given(trees(groups=True), rows(), progresses)
def test_terms_sum_to_the_total_and_are_all_nan_where_there_is_none(
    tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None
) -> None:
    table = scored(tree, given_rows, progress)
    terms = np.array([*table.terms.values(), np.zeros(len(table))])
    scorable = ~np.isnan(table.total)
    np.testing.assert_allclose(np.nansum(terms, axis=0)[scorable], table.total[scorable], rtol=0, atol=1e-9)
    assert np.isnan(terms[:-1][:, ~scorable]).all()


@few
@given(trees(groups=False), rows(), progresses)
def test_complete_columns_change_nothing(tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None) -> None:
    fast = scored(tree, given_rows, progress)
    with pytest.MonkeyPatch.context() as patch:  # as if no column were known to be complete
        patch.setattr(leaf, "ordinary_results", lambda raw, bounds: None)
        slow = scored(tree, given_rows, progress)
    np.testing.assert_array_equal(fast.total, slow.total)
    assert (fast.weights, fast.reached) == (slow.weights, slow.reached)
    for name, values in fast.terms.items():
        np.testing.assert_array_equal(values, slow.terms[name])
    for name, column in fast.components.items():
        np.testing.assert_array_equal(column.values, slow.components[name].values)
        np.testing.assert_array_equal(column.codes, slow.components[name].codes)
        assert column.notes == slow.components[name].notes
        assert not column.complete or column.counts() == slow.components[name].counts()


@rk.reward(bounds=(0.0, 3e38))
def big(completion: str) -> float:
    return 3e38 * len(completion)


@rk.reward(bounds=(0.0, 3e38))
def other(completion: str) -> float:
    return 1e30 * len(completion)


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        (big + big.named("again"), ["6e+38", "big 3e+38", "again 3e+38"]),
        (-4e8 * other.named("low"), ["low -4e+38"]),
        (1e10 * other, ["1e+40"]),
        (rk.schedules.linear(0, 1e20) * other, ["1e+50"]),
        (rk.weighted_sum({big: 2.0, other: 1.0}), ["big 6e+38", "other 1e+30"]),
        (rk.product(big, other), ["product 3e+68"]),
        (rk.gate(when=rk.length.between(0, 0, unit="words"), then=other, otherwise=-1e39), ["gate.otherwise -1e+39"]),
        (big - 2 * big.named("more") + big.named("last"), ["more -6e+38"]),  # the total is 0
        (1e300 * other, ["inf"]),
        (rk.maximum(0 * other, 1e300 * other - 1e300 * other.named("less")), ["1e+300", "is nan"]),
        (rk.product(*(big.named(f"b{number}") for number in range(9))), ["'product' is inf"]),
    ],
)
def test_what_float32_cannot_hold_is_refused_with_its_terms(tree: rk.Reward, named: list[str]) -> None:
    with pytest.raises(rk.RewardFailure) as caught:
        rk.score(tree, ["", "x"])
    assert "row 1" in str(caught.value)
    assert all(part in str(caught.value) for part in named)
    assert rk.score(tree, [""]).total.tolist() == [0.0]


@pytest.mark.parametrize("tree", [3e38 * 0.5 * other.clip(0, 1), (1e10 * other).clip(0, 1), 1e-30 * other, big])
def test_what_float32_can_hold_is_scored(tree: rk.Reward) -> None:
    assert np.isfinite(rk.score(tree, ["", "x"]).total).all()
