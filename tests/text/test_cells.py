"""The text of a cell, for functions that take rows of text."""

from __future__ import annotations

import ast
import json
import math
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.tree.parameters import cell_text, texts_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("4, 2", "4, 2"),
        ("", ""),
        (None, ""),
        (math.nan, ""),
        (np.float64("nan"), ""),
        (np.int64(7), "7"),
        (np.array([1, 2]), "[1, 2]"),
        (True, "true"),
        (0.1, "0.1"),
        ({"é": None}, '{"é": null}'),
        (date(2026, 1, 2), "2026-01-02"),
        ([date(2026, 1, 2), np.int64(3)], '["2026-01-02", 3]'),
    ],
)
def test_text_as_it_is_nothing_for_missing_values_and_json_for_the_rest(cell: Any, text: str) -> None:
    assert cell_text(cell) == text


@given(JSON.filter(lambda value: value is not None and not isinstance(value, str)))
def test_what_is_no_text_can_be_read_as_json(value: Any) -> None:
    assert json.loads(cell_text(value)) == value


@given(st.lists(st.integers() | st.text()))
def test_lists_can_be_read_as_literals(value: Any) -> None:
    assert ast.literal_eval(texts_of({"a": value})["a"]) == value


def test_anything_has_a_text() -> None:
    own: list[Any] = []
    own.append(own)
    assert cell_text(own) == "[[...]]"
    assert cell_text({(1, 2): 3}) == "{(1, 2): 3}"
