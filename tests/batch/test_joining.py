"""Joined tables are the table of the joined rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.table import ScoreTable
from rewardkit.online.batches import failed
from rewardkit.online.recording import join_tables
from rewardkit.online.rows import Row
from rewardkit.tree.evaluation.scorer import Scorer
from tests import trees
from tests.trees import Rows


def scored(reward: rk.Reward, rows: Rows, progress: rk.Progress | None = None) -> ScoreTable:
    return Scorer(reward).score(rows.batch(progress), strict=False)


@st.composite
def split_rows(draw: Any) -> tuple[Rows, list[Rows]]:
    """Draw rows, and the same rows in batches."""
    rows = draw(trees.rows(single=True))
    cuts = sorted(draw(st.sets(st.integers(1, len(rows) - 1)))) if len(rows) > 1 else []
    ends = [0, *cuts, len(rows)]
    return rows, [rows.take(list(range(start, end))) for start, end in itertools.pairwise(ends)]


def assert_alike(found: ScoreTable, table: ScoreTable) -> None:
    """Assert that two tables have the same rows."""
    assert list(found.completions) == list(table.completions)
    np.testing.assert_array_equal(found.total, table.total)
    assert list(found.terms) == list(table.terms)
    for name, values in table.terms.items():
        np.testing.assert_array_equal(found.terms[name], values)
    assert list(found.components) == list(table.components)
    for name, column in table.components.items():
        own = found.components[name]
        np.testing.assert_array_equal(own.values, column.values)
        np.testing.assert_array_equal(own.codes, column.codes)
        assert own.notes == column.notes
        assert own.parts.keys() == column.parts.keys()
        for part, numbers in column.parts.items():
            np.testing.assert_array_equal(own.parts[part], numbers)
        assert own.turns == column.turns
    assert found.reached == table.reached
    for name, masks in table.passed.items():
        np.testing.assert_array_equal(found.passed[name], masks)
    assert found.gauges == table.gauges
    faults = [sorted((one.row, one.component, one.outcome, one.reason) for one in of.faults) for of in (found, table)]
    assert faults[0] == faults[1]


@given(trees.trees(), split_rows(), trees.progresses)
def test_it_is_the_table_of_all_rows(
    reward: rk.Reward, given_rows: tuple[Rows, list[Rows]], progress: rk.Progress | None
) -> None:
    rows, batches = given_rows
    table = scored(reward, rows, progress)
    found = join_tables([scored(reward, batch, progress) for batch in batches])
    assert_alike(found, table)
    for name, weight in table.weights.items():
        assert found.weights[name] == pytest.approx(weight)


@given(trees.trees(), split_rows())
def test_tables_can_be_joined_in_any_steps(reward: rk.Reward, given_rows: tuple[Rows, list[Rows]]) -> None:
    tables = [scored(reward, batch) for batch in given_rows[1]]
    found = tables[0]
    for table in tables[1:]:
        found = join_tables([found, table])
    assert_alike(found, join_tables(tables))


def test_notes_parts_and_measurements_stay_with_their_rows() -> None:
    @rk.reward
    def noted(completion: str) -> rk.Score:
        return rk.Score(0.5, f"note on {completion}", {"length": float(len(completion)), completion[:1]: 1.0})

    found = join_tables([rk.score(noted, ["a", "bb"]), rk.score(noted, ["b"]), rk.score(noted, ["ccc"])])
    assert found.notes["noted"] == ["note on a", "note on bb", "note on b", "note on ccc"]
    np.testing.assert_array_equal(found.parts["noted"]["length"], [1.0, 2.0, 1.0, 3.0])
    np.testing.assert_array_equal(found.parts["noted"]["b"], [np.nan, 1.0, 1.0, np.nan])


def test_what_was_logged_for_a_batch_is_averaged_by_rows() -> None:
    @rk.reward
    def logs(completion: str, log_metric: Any) -> float:
        log_metric("length", float(len(completion)))
        return 1.0

    tables = [rk.score(logs, ["a", "a", "a"]), rk.score(logs, ["bbbbb"])]
    assert join_tables(tables).metrics == {"length": 2.0}


def test_rows_that_could_not_be_scored_join_the_others() -> None:
    reward = rk.gate(rk.tags("answer"), rk.number("answer"))
    scorer = Scorer(reward)
    table = scorer.score(rk.Batch(["<answer>4</answer>"], columns={"answer": ["4"]}))
    lost = failed(scorer, Row("5"), rk.RewardFailure("no column"))
    for tables in ([table, lost], [lost, table]):
        found = join_tables(tables)
        assert len(found) == 2
        assert sorted(np.isnan(found.total)) == [False, True]
        assert [found.total[fault.row] for fault in found.faults] == [pytest.approx(np.nan, nan_ok=True)]
        assert [reached.tolist() for reached, _ in found.passed.values()] == [
            [one is table for one in tables] for _ in found.passed
        ]
        assert found.components["number"].codes.tolist() == [int(one.components["number"].codes[0]) for one in tables]


def test_one_table_is_returned_as_it_is() -> None:
    table = rk.score(rk.exact("answer"), ["a"], answer=["a"])
    assert join_tables([table]) is table
