r"""Numbers: one number with any markup, and nothing else."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.text.numbers import NumberText


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", "42"), (" -4.50 ", "-4.50"), ("+7", "7"), ("42.", "42"), (".5", "0.5"), ("4e2", "400"),
        ("\u22125", "-5"),
        ("$42$", "42"), ("$$42$$", "42"), ("\\(42\\)", "42"), ("\\[ -42 \\]", "-42"), ("**42**", "42"), ("`42`", "42"),
        ("**$42$**", "42"), ("\\text{42}", "42"), ("\\mathbf{42}", "42"), ("$42$.", "42"), ("**42.**", "42"),
        ("x = 42", "42"), ("n=-42", "-42"), ("AB_1 = 42", "42"), ("$\\theta_{12} = 42$", "42"), ("{{42}}", "42"),
        ("\\displaystyle 42", "42"), ("\\bf 42", "42"), ("42\\,", "42"), ("\\,42", "42"), ("*42*", "42"),
        ("\u201342", "-42"), ("- 42", "-42"), ("-$42$", "-42"), ("-**42**", "-42"), ("**-42**", "-42"),
        ("5 × 10\u207b\xb2", "0.05"), ("5 x 10^3", "5000"),
        ("\uff14\uff12", "42"), ("\u200b42\ufeff", "42"), ("(42)", "42"), ("-(42)", "-42"), ("($42$)", "42"),
        ("\xbd", "0.5"), ("3\xbd", "3.5"), ("-3 \xbe", "-3.75"), ("42 million", "42000000"), ("1.5 Thousand", "1500"),
        ("**42** billion", "42e9"), ("-4 hundred", "-400"),
        ("4.2 \\times 10^{3}", "4200"), ("4.2\\cdot10^3", "4200"), ("5 × 10^-2", "0.05"),
    ],
)  # fmt: skip
def test_numbers_are_read(text: str, number: str) -> None:
    assert NumberText().read(text) == Fraction(Decimal(number))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3/5", "3/5"), ("-1 / 3", "-1/3"), ("\\frac{1}{2}", "1/2"), ("-\\dfrac12", "-1/2"), ("\\frac{-1}{2}", "-1/2"),
        ("2\\frac{1}{2}", "5/2"), ("2 1/2", "5/2"), ("$\\frac{3}{4}$", "3/4"), ("$18", "18"), ("\\$18.50",
        "37/2"), ("\u0664\u0662", "42"), ("\u09e7\u09e8\u066b\u09eb", "25/2"), ("57 500", "57500"), ("-$5", "-5"),
        ("3\u20444", "3/4"), ("-3\u22154", "-3/4"), ("0.1\\overline{6}", "1/6"), ("\\frac{1}{-2}", "-1/2"),
        ("-US$42", "-42"), ("-\u20b942", "-42"), ("-Rs. 42", "-42"), ("R$ 42", "42"),
        ("18 €", "18"), ("18€", "18"), ("£3", "3"), ("US$ 7", "7"), ("1,000", "1000"), ("$1,250", "1250"),
    ],
)  # fmt: skip
def test_fractions_and_currencies_are_read(text: str, number: str) -> None:
    assert NumberText().read(text) == Fraction(number)


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "4 2", "4_2", "0x2a", "NaN", "inf", "1e1000", "42 or 43", "42,43", "1,00", "45%", "42 km",
        "42/1",
        "84/2", "\\frac{84}{2}", "1/0", "3 3/2",
        "6*7 = 42", "5 = 42", "wrong = 42", "x == 42", "x + y = 42", "x = y = 42",
        "\u0664\u09e8", "--4", "4-", "$", "$$", "**", "\\text{}",
        "4\\times 10^{9999}",
        "1" * 401, "\\boxed{42}", "\\text{a 42}", "4.2.1",
        "{42", "{4}{2}", "1 00", "1 0000", "42!", "4 \\, 2", "- - 4", "45 \\%", "2^{10}", "101_2", "5%%",
        "(1,000)", "(3)(4)", "((", "()", "\u2153", "4\xbd2", "\xbd2", "million", "5 millions", "4\u06602", "5K",
        "4e\xbd",
        "4 \\times 10", "e5", "%",
        "2x=5", "4x = 2", "-4x=2", "\\ne=42", "\\neq = 42", "\\not=42", "\\leq = 42", "\\notin=42", "\\frac{3}{5}0",
        "\\frac123", "4.2 \\times 10^{0}2", "0,125", "-0,500", "0,123,456", "\u0664\u0662\u066a",
    ],
)  # fmt: skip
def test_other_text_is_not_a_number(text: str) -> None:
    assert isinstance(NumberText().read(text), str)


@pytest.mark.parametrize(
    ("text", "options", "number"),
    [
        ("1,234,567.5", {"thousands": True}, "1234567.5"),
        ("12{,}000", {"thousands": True}, "12000"),
        ("$12,\\!000$", {"thousands": True}, "12000"),
        ("45%", {"percent": True}, "0.45"),
        ("45\\%", {"percent": True}, "0.45"),
        ("45 \\%", {"percent": True}, "0.45"),
        ("**45**%", {"percent": True}, "0.45"),
        ("$45$ %", {"percent": True}, "0.45"),
        ("$-45\\%$", {"percent": True}, "-0.45"),
        ("1\\,000", {"thousands": True}, "1000"),
        ("1 000", {"thousands": True}, "1000"),
        ("1 000", {"thousands": False}, None),
        ("(1,000)", {"thousands": True}, None),
        ("(1000)", {"thousands": True}, "1000"),
        ("1'234'567.5", {"thousands": True}, "1234567.5"),
        ("1\u2019000", {"thousands": True}, "1000"),
        ("1\u202f000", {"thousands": True}, "1000"),
        ("1'000,000", {"thousands": True}, None),
        ("12,34,567", {"thousands": True}, "1234567"),
        ("1,234,56", {"thousands": True}, None),
        ("1.234,56", {"thousands": True}, None),
        ("1.234.567", {"thousands": True}, None),
        ("42 million dollars", {"units": (("dollars", 1),)}, "42000000"),
        ("$42 million", {"units": (("$", 1),)}, "42000000"),
        ("5 million", {"units": (("million", 1),)}, "5"),
        ("18\\,\\text{dollars}", {"units": (("dollars", 1),)}, "18"),
        ("18\\;\\text{dollars}", {"units": (("dollars", 1),)}, "18"),
        ("**18** dollars", {"units": (("dollars", 1),)}, "18"),
        ("$-18$ dollars", {"units": (("dollars", 1),)}, "-18"),
        ("-$18$ dollars", {"units": (("dollars", 1),)}, "-18"),
        ("--18 dollars", {"units": (("dollars", 1),)}, None),
        ("18\xa0dollars", {"units": (("dollars", 1),)}, "18"),
        ("$42", {"units": (("$", 1),)}, "42"),
        ("-$42", {"units": (("$", 1),)}, "-42"),
        ("\\$42", {"units": (("$", 1),)}, "42"),
        ("42 km", {"units": (("km", 1000), ("m", 1))}, "42000"),
        ("42m", {"units": (("km", 1000), ("m", 1))}, "42"),
        ("42", {"units": (("km", 1000), ("m", 1))}, "42"),
        ("42\\text{ apples}", {"units": (("apples", 1),)}, "42"),
        ("1,5", {"thousands": True}, None),
        ("12{,}00", {"thousands": True}, None),
        ("42 kg", {"units": (("km", 1000),)}, None),
        ("km", {"units": (("km", 1000),)}, None),
        ("$42 km", {"units": (("$", 1), ("km", 1))}, None),
    ],
)
def test_notes_name_the_option_that_would_allow_it(text: str, options: dict[str, Any], number: str | None) -> None:
    units = tuple((unit, Fraction(factor)) for unit, factor in options.pop("units", ()))
    read = NumberText(**options, units=units).read(text)
    assert read == Fraction(number) if number else isinstance(read, str)


@pytest.mark.slow
@given(st.text(max_size=500), st.booleans())
def test_any_text_is_a_number_or_a_reason(text: str, loose: bool) -> None:
    units = (("$", Fraction(1)), ("x", Fraction(2)))
    read = NumberText(loose, loose, units if loose else ()).read(text)
    assert isinstance(read, Fraction) or (isinstance(read, str) and read)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3))
def test_markup_does_not_change_the_value(number: Decimal) -> None:
    for dressed in (f"${number}$", f"\\({number}\\)", f"**{number}**", f"\\text{{{number}}}", f"`{number}`."):
        assert NumberText().read(dressed) == Fraction(number)
