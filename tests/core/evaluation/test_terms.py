"""Terms: additive shares that sum to the total, and their weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import rewardkit as rk
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree import leaf
from tests.core.counting import counted
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
