"""Filters as typed in a search field."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from rewardkit.page.filters import Column, Condition, Filter

TEXTS = ["a prime number", "an even number", "two words"]
COLUMNS: dict[str, Column] = {"mean": np.array([0.2, 0.9, np.nan]), "level": ["hard", "easy", "harder"]}


def found(text: str) -> list[int]:
    rows = Filter.parse(text).rows(TEXTS, COLUMNS)[0]
    return [int(row) for row in rows]


def test_words_must_all_occur() -> None:
    assert found("") == [0, 1, 2]
    assert found("NUMBER") == [0, 1]
    assert found("number prime") == [0]
    assert found('"two words"') == [2]
    assert found('"words two"') == []


def test_numbers_are_compared_and_missing_ones_never_match() -> None:
    assert found("mean<0.5") == [0]
    assert found("mean>=0.9") == [1]
    assert found("mean!=0.2") == [1]


def test_columns_of_text() -> None:
    assert found("level=hard") == [0]
    assert found("level:HARD") == [0, 2]
    assert found("level!=hard") == [1, 2]


def test_all_conditions_must_hold() -> None:
    assert Filter.parse('x mean<0.5 "y z"') == Filter(("x", "y z"), (Condition("mean", "<", "0.5"),))
    assert found("number mean>0.5") == [1]


def test_invalid_conditions_are_reported() -> None:
    rows, complaints = Filter.parse("means<0.5").rows(TEXTS, COLUMNS)
    assert rows.tolist() == []
    assert "no column 'means'" in complaints[0]
    assert "'high'" in Filter.parse("mean<high").rows(TEXTS, COLUMNS)[1][0]


@given(st.text(st.characters(exclude_categories=())))
def test_no_input_raises(text: str) -> None:
    rows, _ = Filter.parse(text).rows(TEXTS, COLUMNS)
    assert set(rows.tolist()) <= {0, 1, 2}
