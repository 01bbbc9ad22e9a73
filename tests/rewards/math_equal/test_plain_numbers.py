"""Plain numbers: which texts are read, exactly, and which are not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.math_equal.notation import clean
from rewardkit.rewards.math_equal.plain_numbers import read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", "42"), ("-42", "-42"), ("+42", "42"), ("\u221242", "-42"), ("042", "42"), ("4.20", "4.2"), (".5", "0.5"),
        ("12,000", "12000"), ("12{,}000", "12000"), ("12,\\!000", "12000"), ("1\\,000\\,000", "1000000"),
        ("1 000", "1000"),
        ("1,234.5", "1234.5"), ("\\frac{3}{4}", "3/4"), ("\\dfrac34", "3/4"), ("-\\frac{-3}{4}", "3/4"), ("3/4", "3/4"),
        ("-\\left(\\frac{3}{4}\\right)", "-3/4"), ("(-3)", "-3"), ("-(-3)", "3"), ("{7}", "7"), ("\\{7\\}", "7"),
        ("2\\frac{1}{2}", "5/2"), ("-2 1/2", "-5/2"), ("0.\\overline{3}", "1/3"), ("1.1\\overline{6}", "7/6"),
        ("10^6", "1000000"), ("-10^{-2}", "-1/100"), ("1.5 \\times 10^{3}", "1500"), ("2 \\cdot 10^2", "200"),
        ("1.5e3", "1500"),
        ("$42$", "42"), ("\\(42\\)", "42"), ("\\$42", "42"), ("-\\$42", "-42"), ("42.", "42"), ("\\text{42}", "42"),
        ("42 \\text{ cm}^2", "42"), ("42^\\circ", "42"), ("42\u00b0", "42"), ("42 apples", "42"),
        ("42 square feet", "42"), ("42 million", "42000000"), ("5 \\text{ million dollars}", "5000000"),
        ("15th Day", "15"),
        ("15 \\text{th}", "15"), ("60^\\circ 42'", "607/10"), ("\u20ac5", "5"), ("5 m\u00b2", "5"),
    ],
)  # fmt: skip
def test_a_number_is_read_exactly(text: str, value: str) -> None:
    number = read(clean(text))
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "4x", "4 x", "4 2", "1,00", "1,0000", "12,34", "1.2.3", "1 00", "4!", "4-2", "4+2", "4*2",
        "4 \\times 2",
        "\\frac{4}{0}", "4/0", "\\frac{4.5}{2}", "\\frac{\\pi}{2}", "2\\frac{3}{2}", "2\\frac{-1}{2}", "3/4/5", "--4",
        "+-4",
        "4 \\text{ or } 5", "4 or five", "4 \\text{ dozen}", "4\\text{K}", "4 millionth",
        "(1,234)", "[1,234]", "four", "\\sqrt{4}", "2^2", "4_8", "0x4",
        "4_000",
        "\u0664", "4\\%x", "1e9999", "10^{9999}", "9" * 401, "((4))x", "4 e", "5m", "3ab", "\\infty", "\\pm 4", "=4",
        "4 \\%\\%",
    ],
)  # fmt: skip
def test_anything_else_is_left_alone(text: str) -> None:
    assert read(clean(text)) is None


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("50\\%", "0.5", True), ("50\\%", "50", True), ("50\\%", "50 \\text{ percent}", True), ("50\\%", "5", False),
        ("0.5\\%", "0.5", False), ("0.5\\%", "0.005", True), ("1\\%", "1", True), ("0\\%", "0", True),
        ("5 \\text{ cm}", "5", True), ("5 \\text{ cm}", "5 \\text{ m}", False),
        ("5 \\text{ cm}", "5 \\text{ apples}", False),
        ("5 \\text{ minutes}", "5 \\text{ min}", True), ("\\$5", "5 \\text{ dollars}", True),
        ("\\$5", "5 \\text{ cents}", False),
    ],
)  # fmt: skip
def test_percent_signs_and_units_may_be_left_out_but_not_changed(one: str, other: str, equal: bool) -> None:
    left, right = read(clean(one)), read(clean(other))
    assert left is not None
    assert right is not None
    assert left.equals(right) is right.equals(left) is equal


def test_a_division_that_was_not_done_is_known() -> None:
    divided = {
        text: number and number.divided for text in ("12/4", "\\frac{12}{4}", "12/5", "3") for number in [read(text)]
    }
    assert divided == {"12/4": True, "\\frac{12}{4}": True, "12/5": False, "3": False}


@given(st.fractions())
def test_every_fraction_is_read_back(value: Fraction) -> None:
    for text in (
        str(value),
        f"\\frac{{{value.numerator}}}{{{value.denominator}}}",
        f"{value.numerator}/{value.denominator}",
    ):
        number = read(text)
        assert number is not None
        assert number.value == value


@given(st.text() | st.text("0123456789.,/+-%{}()\\ frace"))
def test_no_text_raises(text: str) -> None:
    number = read(clean(text))
    assert number is None or number.equals(number)
