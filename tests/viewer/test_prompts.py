"""The prompts of a run."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from rewardkit.viewer.prompts import numbers_or_texts, ranges


def test_visits_as_ranges() -> None:
    assert ranges(np.array([], dtype=np.int64)) == ""
    assert ranges(np.array([3, 1, 2, 2, 5, 8, 9])) == "1–3, 5, 8–9"
    assert ranges(np.array([1_000])) == "1,000"


@given(st.sets(st.integers(0, 60)))
def test_ranges_name_every_visit_once(visits: set[int]) -> None:
    found: list[int] = []
    for part in filter(None, ranges(np.array(sorted(visits), dtype=np.int64)).split(", ")):
        low, _, high = part.partition("–")
        found += range(int(low), int(high or low) + 1)
    assert found == sorted(visits)


def test_columns_of_numbers_are_sorted_as_numbers() -> None:
    assert np.array_equal(numbers_or_texts(["10", "", "9"]), [10.0, np.nan, 9.0], equal_nan=True)
    assert numbers_or_texts(["10", "x"]) == ["10", "x"]
