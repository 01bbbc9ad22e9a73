"""ScoreTable: which values read as scores, and what it prints."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, SKIPPED
from rewardkit.tree.evaluation.scorer import Scorer


@rk.reward
def mixed(completion: str) -> rk.Score | None:
    if completion == "abstained":
        return None
    if completion == "failed":
        raise rk.RewardFailure("down")
    if completion == "errored":
        raise ValueError("bug")
    return rk.Score(0.0, note="zero", parts={"n": 1})


@rk.reward
def opened(completion: str) -> float:
    return 0.0 if completion == "skipped" else 1.0


OUTCOMES = ["scored", "abstained", "failed", "errored", "skipped"]


def table_of_all() -> rk.ScoreTable:
    return Scorer(rk.gate(opened, mixed)).score(rk.Batch(OUTCOMES), strict=False)


def test_only_a_scored_zero_reads_as_zero() -> None:
    table = table_of_all()
    assert table.outcomes["mixed"].tolist() == OUTCOMES
    np.testing.assert_array_equal(table["mixed"], [0.0, math.nan, math.nan, math.nan, math.nan])
    np.testing.assert_array_equal(table.total, [0.0, math.nan, math.nan, 0.0, 0.0])


def test_outcomes_are_members_and_strings() -> None:
    found = table_of_all().outcomes["mixed"]
    assert all(isinstance(outcome, rk.Outcome) for outcome in found)
    assert found[0] is rk.Outcome.SCORED
    assert str(found[0]) == "scored"
    assert found.tolist() == OUTCOMES
    assert [list(rk.Outcome)[code] for code in (SCORED, ABSTAINED, FAILED, ERRORED, SKIPPED)] == OUTCOMES


def test_an_unknown_component_names_the_near_miss() -> None:
    table = table_of_all()
    for look in (lambda: table["mixd"], lambda: table.outcomes["mixd"], lambda: table.notes["mixd"]):
        with pytest.raises(KeyError, match="Did you mean 'mixed'"):
            look()
    assert "mixed" in table
    assert "mixd" not in table
    assert 0 not in table


def test_to_pandas_has_one_row_per_completion() -> None:
    pytest.importorskip("pandas", reason="to_pandas needs pandas: pip install pandas")
    frame = table_of_all().to_pandas()
    assert frame["completion"].tolist() == OUTCOMES
    assert frame["mixed.outcome"].tolist() == OUTCOMES
    assert frame["mixed.note"][0] == "zero"
    assert {"total", "mixed", "opened", "term.mixed"} <= set(frame.columns)


def test_the_text_shows_outcomes_instead_of_numbers() -> None:
    shown = repr(table_of_all())
    assert all(outcome in shown for outcome in OUTCOMES)
    assert "unscorable" in shown
    assert "mixed: zero" in shown


def test_long_tables_are_cut() -> None:
    table = rk.score(opened, [f"completion {number}" for number in range(60)])
    assert "... and 40 more rows" in repr(table)
    assert "... and 10 more rows" in table._repr_html_()


def test_hostile_completions_cannot_act_on_the_reader() -> None:
    table = rk.score(opened, ["\x1b[2J\x07", "\u202eevil", "<script>alert(1)</script>", "\ud800", "a" * 10**6])
    for shown in (repr(table), table._repr_html_()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        shown.encode()
        assert len(shown) < 10_000
    assert "<script>" not in table._repr_html_()


def test_components_named_like_a_column_of_the_table_do_not_replace_it() -> None:
    @rk.reward(name="total")
    def half(completion: str) -> float:
        return 0.5

    frame = rk.score(2.0 * half, ["a"]).to_pandas()
    assert frame["total"].tolist() == [1.0]
    assert frame["component.total"].tolist() == [0.5]


def test_a_part_of_a_table_is_that_of_its_rows() -> None:
    table = table_of_all()
    part = table.part(1, 4)
    assert part.completions == OUTCOMES[1:4]
    np.testing.assert_array_equal(part.total, table.total[1:4])
    np.testing.assert_array_equal(part["mixed"], table["mixed"][1:4])
    assert part.outcomes["mixed"].tolist() == OUTCOMES[1:4]
    assert [(fault.row, fault.outcome) for fault in part.faults] == [(1, "failed"), (2, "errored")]
    assert (part.weights, part.gauges) == (table.weights, table.gauges)
    assert part.gates == {"opened_gate": 1.0}
    assert repr(part)


@given(st.integers(0, 5), st.integers(0, 5))
def test_parts_put_together_are_the_whole(first: int, second: int) -> None:
    table = table_of_all()
    cuts = [0, *sorted((first, second)), len(table)]
    parts = [table.part(start, stop) for start, stop in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate([part.total for part in parts]), table.total)
    for name in table.components:
        assert [note for part in parts for note in part.notes[name]] == table.notes[name]
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), table[name])
        for key, values in table.parts[name].items():
            np.testing.assert_array_equal(np.concatenate([part.parts[name][key] for part in parts]), values)
    faults = [
        (fault.row + start, fault.reason) for start, part in zip(cuts, parts, strict=False) for fault in part.faults
    ]
    assert faults == [(fault.row, fault.reason) for fault in table.faults]


def test_gauges_hold_current_thresholds_and_stages() -> None:
    rising = rk.schedules.linear(0.0, 1.0)
    tree = rk.gate(opened, rk.curriculum([rk.Stage("a", opened, until=0.5), rk.Stage("b", mixed)]), threshold=rising)
    at = [rk.score(tree, ["skipped"], progress=rk.Progress(step, 4)).gauges for step in (1, 3)]
    assert at[0] == {"threshold/opened_gate": 0.25, "stage/curriculum": 1.0}
    assert at[1] == {"threshold/opened_gate": 0.75, "stage/curriculum": 2.0}
    assert rk.score(tree, ["skipped"]).gauges == {"threshold/opened_gate": 1.0, "stage/curriculum": 2.0}
    assert table_of_all().gauges == {}
