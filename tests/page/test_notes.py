"""Notes are counted by kind: numbers and quoted texts do not tell them apart."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.page.tabs.logs import share_over_time
from rewardkit.record.queries import NoteKind, kind_of, note_kinds, noted
from rewardkit.record.recorder import Recorder
from rewardkit.record.run import Run, open_run
from tests.page.recorded import ordinary, record


def kind(note: str) -> str:
    return str(duckdb.execute(f"select {kind_of('?::varchar')}", [note]).fetchall()[0][0])


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("off by 3", "off by #"),
        ("off by -1,234.5e-7.", "off by #."),
        ("missing </think>", "missing </think>"),
        ("expected 'a b', found \"c\"", "expected …, found …"),
        ("can't read it, doesn't parse", "can't read it, doesn't parse"),
        ("read `x1` and “y” and ‘z’", "read … and … and …"),
        ("expected ４２", "expected #"),
        ("two\n\n  lines ", "two lines"),
    ],
)
def test_numbers_and_quoted_texts_are_left_out(note: str, expected: str) -> None:
    assert kind(note) == expected


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60))
def test_a_kind_is_of_its_own_kind(note: str) -> None:
    assert kind(kind(note)) == kind(note)


@given(st.integers(), st.integers(), st.text("abc ", max_size=5))
def test_notes_that_differ_in_a_number_count_together(one: int, other: int, quoted: str) -> None:
    assert kind(f"off by {one}: 'x'") == kind(f"off by {other}: '{quoted}'")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run with a note of each of two components in each of twelve steps, and one in an evaluation."""
    ordinary(tmp_path)
    with Recorder(tmp_path, patience=math.inf) as recorder:
        one = record(13, prompts=1)
        one.table.components["form"].notes[0] = "off by 3"
        recorder.record(one)
        recorder.record(replace(record(14, prompts=1), training=False))
    return open_run(tmp_path)


def test_the_training_is_counted_by_kind(run: Run) -> None:
    most, least = note_kinds(run)
    assert (most.component, most.text, most.count) == ("answer", "expected #, found #", 13)
    assert most.steps.tolist() == list(range(1, 14))
    assert most.counts.tolist() == [1] * 13
    assert (least.component, least.text, least.count, least.steps.tolist()) == ("form", "off by #", 1, [13])


def test_the_newest_completions_of_a_kind_are_found(run: Run) -> None:
    found = noted(run, "answer", "expected #, found #", 3)
    assert [(one.key, one.step, one.note) for one in found[:2]] == [
        ((2, 0, 0, 1), 13, "expected 7, found 8"),
        ((1, 0, 11, 1), 12, "expected 7, found 8"),
    ]
    assert len(found) == 3
    assert noted(run, "answer", "another", 3) == []
    assert noted(run, 'no"where', "off by #", 3) == []


def test_shares_over_time_rise_with_the_counts() -> None:
    steps = np.arange(10.0)
    kind = NoteKind("a", "b", 9, np.array([5.0, 9.0]), np.array([2.0, 4.0]))
    found = share_over_time(kind, steps, np.full(10, 4.0), 10)
    assert [y for _, y in found] == [0.0] * 5 + [0.5] + [0.0] * 3 + [1.0]
    assert [x for x, _ in found][:: len(found) - 1] == [0.0, 1.0]
