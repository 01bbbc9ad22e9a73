"""Dangerous input is refused before parsing."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.math_equal.notation import clean
from rewardkit.rewards.math_equal.statements import refusal


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9^9^9", "tower"), ("9^{9^{9}}", "tower"), ("x^{x^{x^x}}", "tower"), ("x^(999999)", "power of more"),
        ("2^{10000}", "power of more"),
        ("x^{-5000}", "power of more"), ("((2)^{999})^{999}", "powers of powers"), ("101!", "factorial"),
        ("(10^6)!", "factorial"),
        ("5!!", "factorial"), ("9" * 101, "digits"), ("x+" * 300, "longer"), ("(" * 13, "deeper"),
        ("\u00e9", "not mathematics"),
        ("\x00x", "not mathematics"), ("\ud800", "not mathematics"), ("\\sum_{i=1}^{10^9} i", "tower"),
    ],
)  # fmt: skip
def test_what_may_explode_is_refused(text: str, reason: str) -> None:
    assert reason in (refusal(clean(text)) or "")


@pytest.mark.parametrize(
    "text",
    [
        "e^{x^2}",
        "2^{n}",
        "(x+1)^{10}",
        "5!",
        "n!",
        "(n-1)!",
        "\\sum_{k=1}^{n} k",
        "\\int_0^1 x dx",
        "10^{100}",
        "\\ln 2",
        "x^{-2}",
    ],
)
def test_ordinary_mathematics_is_not(text: str) -> None:
    assert refusal(clean(text)) is None


@pytest.mark.parametrize(
    "text", ["\\sum_{k=1}^{5} k", "5!", "\\binom{5}{2}", "\\gcd(4, 6)", "\\int_0^1 x dx", "7 \\bmod 4", "a \\approx b"]
)
def test_an_answer_must_be_as_evaluated_as_the_gold_answer(text: str) -> None:
    assert "to be evaluated" in (refusal(clean(text), "x") or "")
    assert refusal(clean(text), clean(text)) is None


@given(st.text() | st.text("^{}()!0123456789x\\"))
def test_no_text_raises(text: str) -> None:
    assert refusal(clean(text), "x") != ""
