"""The results of a trial beside the recorded scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.differences.trial import TriedPart
from rewardkit.page.scores import Floats, Integers, Scores
from rewardkit.page.trials import ADVANTAGE, CHANGE, FLIP, NEW, combine_parts
from rewardkit.record.run import open_run
from tests.page.recorded import GENERATIONS, ordinary


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    run = open_run(ordinary(tmp_path_factory.mktemp("runs") / "run", 3))
    return Scores.of(run.scores(training=None).to_arrow_table())


def part_of(scores: Scores, rows: Integers, totals: Floats, **options: object) -> TriedPart:
    keys = np.stack([scores.attempt, scores.rank, scores.part, scores.row], axis=1)[rows]
    return replace(TriedPart(keys, totals[rows]), **options)  # type: ignore[arg-type]


def test_the_opposite_reward_flips_every_advantage(scores: Scores) -> None:
    found = combine_parts(scores, [part_of(scores, np.arange(len(scores)), -scores.total)])
    varied = ~np.isnan(scores.total)
    np.testing.assert_array_equal(found.columns[NEW], -scores.total)
    np.testing.assert_allclose(found.columns[CHANGE][varied], -2 * scores.total[varied])
    assert found.flips == int(varied.sum())
    assert set(found.columns[FLIP][~varied].tolist()) == {0.0}
    assert found.done.all()
    same = combine_parts(scores, [part_of(scores, np.arange(len(scores)), scores.total)])
    assert same.flips == 0


@given(st.data())
def test_the_order_and_the_cuts_of_the_parts_do_not_matter(scores: Scores, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(len(scores)))))
    cut = data.draw(st.integers(0, len(scores)))
    totals = np.linspace(0.0, 1.0, len(scores)) % 0.3
    whole = combine_parts(scores, [part_of(scores, np.arange(len(scores)), totals)])
    parts = combine_parts(scores, [part_of(scores, order[:cut], totals), part_of(scores, order[cut:], totals)])
    for name, values in whole.columns.items():
        np.testing.assert_array_equal(parts.columns[name], values)


def test_advantages_wait_for_the_whole_group(scores: Scores) -> None:
    rows = np.arange(GENERATIONS + 1)
    found = combine_parts(scores, [part_of(scores, rows, -scores.total, errors={1: "it raised"})])
    assert np.flatnonzero(found.done).tolist() == rows.tolist()
    assert np.flatnonzero(~np.isnan(found.columns[FLIP])).tolist() == rows[:-1].tolist()
    assert np.flatnonzero(~np.isnan(found.columns[ADVANTAGE])).tolist() == rows[:-1].tolist()
    assert found.errors == {1: "it raised"}


def test_left_out_components_are_subtracted_from_the_recorded_totals(scores: Scores) -> None:
    totals = scores.terms["form"]
    found = combine_parts(scores, [part_of(scores, np.arange(len(scores)), totals, omitted=("answer",))])
    known = ~np.isnan(scores.total)
    np.testing.assert_allclose(found.columns[CHANGE][known], 0.0, atol=1e-12)
    assert found.flips == 0
    inside = replace(scores, terms={"form": totals})
    found = combine_parts(inside, [part_of(scores, np.arange(len(scores)), totals, omitted=("answer", "new judge"))])
    assert found.inside == ("answer",)
    assert np.isnan(found.columns[FLIP]).all()


def test_completions_that_the_page_does_not_know_yet_are_ignored(scores: Scores) -> None:
    part = part_of(scores, np.arange(len(scores)), scores.total)
    late = np.array([[9, 0, 0, 0], [1, 0, 99, 3]])
    found = combine_parts(
        scores, [TriedPart(np.concatenate([late, part.keys]), np.concatenate([[7.0, 7.0], part.totals]))]
    )
    np.testing.assert_array_equal(found.columns[NEW], scores.total)
    assert combine_parts(scores, []).flips == 0
