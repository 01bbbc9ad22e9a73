"""Column: the values of one reward for all rows of a batch."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, strategies as st

from rewardkit.batch.column import Column
from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, SKIPPED


def test_fill_copies_values_outcomes_notes_and_parts_of_the_rows() -> None:
    column = Column(np.array([1.0, 2.0]), np.array([SCORED, SCORED], dtype=np.int8), {0: "mine"})
    other = Column(np.array([3.0, 4.0]), np.zeros(2, dtype=np.int8), {0: "not asked", 1: "theirs"}, {"p": np.ones(2)})
    column.fill(np.array([False, True]), other)
    assert column.values.tolist() == [1.0, 4.0]
    assert column.notes == {0: "mine", 1: "theirs"}
    np.testing.assert_array_equal(column.parts["p"], [math.nan, 1.0])


def test_a_column_that_is_filled_is_not_known_to_be_complete() -> None:
    column = Column(np.ones(2), np.zeros(2, dtype=np.int8), complete=True)
    column.fill(np.array([False, True]), Column.empty(2))
    assert not column.complete
    assert column.counts() == [1, 0, 0, 0, 1]


@given(st.lists(st.sampled_from([SCORED, ABSTAINED, FAILED, ERRORED, SKIPPED]), max_size=20))
def test_the_counts_are_those_of_the_codes(codes: list[int]) -> None:
    column = Column(np.zeros(len(codes)), np.array(codes, dtype=np.int8))
    assert column.counts() == [codes.count(code) for code in range(5)]


def test_a_combination_of_complete_columns_is_complete_unless_its_value_is_none() -> None:
    child = Column(np.array([1.0, 2.0]), np.zeros(2, dtype=np.int8), complete=True)
    everywhere = np.ones(2, dtype=np.bool_)
    assert Column.combined([(child, True)], child.values, everywhere).complete
    assert not Column.combined([(child, True)], np.array([1.0, math.nan]), everywhere).complete
    assert not Column.combined([(child, True), (Column.empty(2), True)], child.values, everywhere).complete
