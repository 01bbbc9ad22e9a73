"""Literals: JSON and Python literals are checked before anything parses them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.text.literals import (
    DEPTH,
    JSON_CHARACTERS,
    LITERAL_CHARACTERS,
    NUMBER_CHARACTERS,
    LiteralError,
    check_json,
    check_number,
    read_literal,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(VALUES, max_size=4))
def test_what_python_and_json_write_is_read(values: list[Any]) -> None:
    assert read_literal(repr(values)) == values
    check_json(json.dumps(values))


@pytest.mark.parametrize(
    "text",
    [
        "[f()]",
        "[1 + 1]",
        "[1 2]",
        "[x]",
        "1, 2",
        "{'a': 1, 'a': 2}",
        "[1e999]",
        "[" * (DEPTH + 1) + "]" * (DEPTH + 1),
        "[" + "1," * LITERAL_CHARACTERS + "]",
    ],
    ids=lambda text: text[:20],
)
def test_python_that_is_not_a_plain_literal_is_refused(text: str) -> None:
    with pytest.raises(LiteralError):
        read_literal(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        "[NaN]",
        "[1e999]",
        "[" * (DEPTH + 1) + "]" * (DEPTH + 1),
        " " * (JSON_CHARACTERS + 1),
    ],
    ids=lambda text: text[:20],
)
def test_ambiguous_or_oversized_json_is_refused(text: str) -> None:
    with pytest.raises(LiteralError):
        check_json(text)


def test_text_that_is_not_json_is_json_decode_error() -> None:
    with pytest.raises(json.JSONDecodeError):
        check_json("[1, ")


def test_numbers_are_finite_and_short() -> None:
    check_number("1e308")
    for text in ("1e309", "nan", "9" * (NUMBER_CHARACTERS + 1)):
        with pytest.raises(LiteralError):
            check_number(text)
