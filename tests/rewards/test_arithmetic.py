"""Arithmetic: exact, limited, and nothing but arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.arithmetic import arithmetic


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("3 * (4 + 5)", 27), ("2 + 3 * 4", 14), ("10 - 4 - 3", 3), ("8 / 4 / 2", 1), ("7 / 2", Fraction(7, 2)),
        ("-3 + 5", 2), ("3 * -4", -12), ("-(2 + 3)", -5), ("3 - -4", 7), ("+3", 3), ("0.1 + 0.2", Fraction(3, 10)),
        (".5 * 4", 2), ("3 × 4 ÷ 2 − 1", 5), ("3·4", 12), (" 12\n", 12), ("((((7))))", 7), ("007", 7),
        ("1 / 3 * 3", 1), ("2-1", 1), ("(1+2)*(3+4)", 21), ("9" * 300 + "*0", 0),
    ],
)  # fmt: skip
def test_it_is_worked_out_exactly(expression: str, value: Fraction | int) -> None:
    assert arithmetic(expression) == value


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("", "expression"), (" \n", "expression"), (None, "expression"), ("1 / 0", "divides by zero"),
        ("1 / (2 - 2)", "divides by zero"), ("2(3)", "operator is missing"), ("(2)3", "operator is missing"),
        ("2 3", "operator is missing"), ("(2 3)", "operator or"), ("3 +", "at the end"), ("(3", r"'\)' is missing"),
        ("3)", "operator is missing"), ("()", "number is missing"), ("* 3", "number is missing"),
        ("--3", "number is missing"), ("2 ** 3", "powers"), ("2 // 3", "number is missing"),
        ("2 ^ 3", "powers"), ("1e5", "not arithmetic"), ("1_000", "not arithmetic"),
        ("1,000", "not arithmetic"),
        ("0x1f", "not arithmetic"), ("1.2.3", "not arithmetic"), ("5.", "not arithmetic"),
        ("\u0664 + 1", "not arithmetic"),
        ("3 + x", "not arithmetic"), ("3 = 3", "not arithmetic"), ("3 + 4 # five", "not arithmetic"),
        ("__import__('os')", "not arithmetic"), ("1;2", "not arithmetic"), ("1\x002", "not arithmetic"),
        ("\ud800", "not arithmetic"), ("1\u00a0+ 1", "not arithmetic"), ("1" * 1001, "longer than"),
        ("(" * 51 + "1" + ")" * 51, "deeper"), ("(" * 1000, "deeper"), ("-(" * 400, "deeper"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_the_reason(expression: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        arithmetic(expression)


@pytest.mark.parametrize(
    ("expression", "numbers", "each"),
    [
        ("3 * 4 + 5", [3, 4, 5], "once"), ("5 + 4 * 3", [3, 4, 5], "once"), ("3 * 3", [3, 3], "once"),
        ("-3 + 4", [3, 4], "once"), ("3.0 + 4", [3, 4], "once"), ("0.1 + 1", [0.1, 1], "once"),
        ("3 + 4", [3, 4, 5], "at most once"), ("5", [3, 4, 5], "at most once"),
    ],
)  # fmt: skip
def test_the_given_numbers_are_used(expression: str, numbers: list[float], each: Any) -> None:
    assert arithmetic(expression, numbers=numbers, each=each) == arithmetic(expression)


@pytest.mark.parametrize(
    ("expression", "numbers", "each", "reason"),
    [
        ("17", [3, 4, 5], "once", "uses 17 in addition "
            "to the given 3, 4, 5"), ("3 + 4", [3, 4, 5], "once", "does not use 5"),
        ("3 + 3", [3, 4], "once", "uses 3 in addition"), ("3 + 3", [3, 4], "at most once", "uses 3 in addition"),
        ("34", [3, 4], "once", "uses 34"), ("3 + 4 + 0 * 9", [3, 4], "once", "uses 0, 9"),
        ("3", [3, 3], "once", "does not use 3"), ("1", [], "once", "uses 1"),
    ],
)  # fmt: skip
def test_other_numbers_are_refused(expression: str, numbers: list[float], each: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        arithmetic(expression, numbers=numbers, each=each)


@pytest.mark.parametrize(
    "options",
    [{"each": "twice"}, {"numbers": [-3]}, {"numbers": ["x"]}, {"numbers": [float("nan")]}, {"numbers": [None]}],
)
def test_invalid_options_are_definition_errors(options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="arithmetic"):
        arithmetic("3", **options)


_NUMBERS = st.integers(0, 99).map(str)
_EXPRESSIONS = st.recursive(
    _NUMBERS,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(" ".join) | inner.map("({})".format),
    max_leaves=12,
)


@given(_EXPRESSIONS)
def test_it_agrees_with_python(expression: str) -> None:
    assert arithmetic(expression) == eval(expression)


@given(st.text() | st.text("0123456789+-*/(). "))
def test_whatever_the_text_it_is_a_number_or_a_value_error(text: str) -> None:
    try:
        said = str(arithmetic(text))
    except ValueError as error:
        said = str(error)
    assert said
