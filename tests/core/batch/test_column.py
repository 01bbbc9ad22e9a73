"""Column: the values of one reward for all rows of a batch."""

from __future__ import annotations

import math

import numpy as np

from rewardkit.core.batch.column import Column
from rewardkit.core.batch.score import SCORED


def test_fill_copies_values_outcomes_notes_and_parts_of_the_rows() -> None:
    column = Column(np.array([1.0, 2.0]), np.array([SCORED, SCORED], dtype=np.int8), {0: "mine"})
    other = Column(np.array([3.0, 4.0]), np.zeros(2, dtype=np.int8), {0: "not asked", 1: "theirs"}, {"p": np.ones(2)})
    column.fill(np.array([False, True]), other)
    assert column.values.tolist() == [1.0, 4.0]
    assert column.notes == {0: "mine", 1: "theirs"}
    np.testing.assert_array_equal(column.parts["p"], [math.nan, 1.0])
