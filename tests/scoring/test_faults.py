"""Faults are grouped by kind, with all rows counted and the whole reason of the first row of each kind."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from rewardkit.scoring.report import Faults

COERCION = "reward 'number': column {column!r}: {value!r} is not a number. Fix the data."


def listed(*reasons: str) -> list[str]:
    """Return the paragraphs for rows 0, 1, ... with these reasons, each as one line."""
    faults = Faults()
    for row, reason in enumerate(reasons):
        faults.add(row, reason)
    return [" ".join(paragraph.split()) for paragraph in faults.lines()]


def counts(lines: list[str]) -> list[int]:
    return [
        int(found[1].replace(",", "")) for line in lines if (found := re.match(r"(?:\.\.\. and )?([\d,]+) row", line))
    ]


def test_rows_with_other_values_are_one_kind() -> None:
    values = ["many", "a 'few'", 'it isn\'t "one"', "x" * 500, "1,203 euros", ""]
    lines = listed(*(COERCION.format(column="answer", value=value) for value in values))
    assert lines == [
        "6 rows: reward 'number': column 'answer': 'many' is not a number. Fix the data. "
        "(first: row 0; the other rows have different values)"
    ]


def test_other_columns_components_and_reasons_are_other_kinds() -> None:
    lines = listed(
        COERCION.format(column="answer", value="many"),
        COERCION.format(column="price", value="many"),
        COERCION.format(column="answer", value="many"),
        "close: raised ValueError: no digits",
        "far: raised ValueError: no digits",
        "far: raised KeyError: 'x'",
    )
    assert counts(lines) == [2, 1, 1, 1, 1]
    assert lines[0].endswith("(first: row 0)")
    assert lines[1].endswith("'price': 'many' is not a number. Fix the data. (row 1)")


def test_the_reason_is_whole_with_its_context() -> None:
    reason = f"reward 'f'{' could not be computed' * 20}\n  this row, completion 'x'\nFix the function."
    (line,) = listed(reason)
    assert line == "1 row: " + reason.replace("\n  ", "; ").replace("\n", "; ") + " (row 0)"


def test_messages_without_quotes_are_merged_by_exception_where_they_are_many() -> None:
    fruits = ("apples", "pears", "plums", "figs")
    few = [f"close: raised ValueError: no price for {fruit}" for fruit in fruits]
    assert counts(listed(*few)) == [1, 1, 1, 1]
    many = [f"close: raised ValueError: no price for {fruit}s{'x' * row}" for row in range(9) for fruit in fruits]
    lines = listed("far: raised KeyError: 'x'", *many)
    assert counts(lines) == [36, 1]
    assert "no price for appless (first: row 1; the other rows have different values)" in lines[0]


def test_a_million_kinds_take_bounded_space() -> None:
    faults = Faults()
    for row in range(5_000):
        faults.add(row, "judge: " + "".join(chr(97 + int(digit)) for digit in str(row)))
    assert len(faults._kinds) <= 1_001
    assert sum(counts(list(map(str.strip, faults.lines())))) == 5_000


def test_control_characters_are_spelled_out() -> None:
    (line,) = listed("close: raised ValueError: \x1b[2J\u202e")
    assert "\\x1b[2J\\u202e" in line


@given(
    st.lists(
        st.one_of(st.text(max_size=30), st.sampled_from(["a: raised E: 1", "a: raised E: 'x", "b: no"])), max_size=40
    )
)
def test_every_row_is_counted_once(reasons: list[str]) -> None:
    assert sum(counts(listed(*reasons))) == len(reasons)


@pytest.mark.parametrize("value", ["'", '"', "\\", "a\nb", "isn't", "'x", "7.5e-3"])
def test_any_value_is_of_the_same_kind(value: str) -> None:
    both = [COERCION.format(column="answer", value="many"), COERCION.format(column="answer", value=value)]
    assert counts(listed(*both)) == [2]
