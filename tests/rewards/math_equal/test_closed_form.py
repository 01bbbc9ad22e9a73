"""Formulas compared exactly, and formulas outside the supported field."""

from __future__ import annotations

from fractions import Fraction
from operator import eq, sub

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.math_equal.closed_form import Formula, attempted, degree, formula, ratio
from rewardkit.rewards.math_equal.notation import clean


def read(text: str) -> Formula:
    found = formula(clean(text))
    assert found is not None, text
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2\\sqrt{3}", "\\sqrt{12}"), ("\\frac{1}{\\sqrt3}", "\\frac{\\sqrt3}{3}"), ("\\sqrt6", "\\sqrt2\\sqrt3"),
        ("\\frac{1+\\sqrt5}{2}", "\\frac12 + \\frac{\\sqrt5}2"), ("(1+\\sqrt2)(1-\\sqrt2)", "-1"),
        ("\\sqrt{\\frac12}", "\\frac{\\sqrt2}{2}"),
        ("(x+1)^2", "x^2+2x+1"), ("\\frac{x^2-1}{x-1}", "x+1"), ("n(n+1)/2", "\\frac{n^2+n}{2}"), ("ab", "ba"),
        ("2a \\cdot 3b", "6ab"),
        ("\\pi/4", "0.25\\pi"), ("e^2", "e \\cdot e"), ("i^2", "-1"), ("\\sqrt{-4}", "2i"), ("\\frac{1}{i}", "-i"),
        ("a_1", "a_{1}"),
        ("\\frac{1}{1+\\sqrt2}", "\\sqrt2-1"), ("x^{-1}", "\\frac1x"), ("-x^2", "-(x^2)"), ("3-(-2)", "5"),
        ("0 x", "0"), ("2\\frac12", "\\frac52"), ("abc", "cab"),
        ("AB + CD", "CD + AB"), ("\\vec{a} + b", "b + \\vec{a}"),
    ],
)  # fmt: skip
def test_equal_formulas_are_equal(one: str, other: str) -> None:
    assert attempted(eq, read(one), read(other)) is attempted(eq, read(other), read(one)) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2\\sqrt{3}", "3\\sqrt{2}"), ("\\sqrt2", "1.41421356237"), ("\\pi", "3.14159265358979"), ("x", "y"),
        ("x", "x_1"), ("-x^2", "(-x)^2"),
        ("\\rho", "r"), ("\\sqrt5", "r_5"), ("\\sqrt5", "5"), ("e", "2.718281828"), ("i", "-i"),
        ("x + 10^{-20}", "x"), ("2^{-3}", "2^3"), ("AB", "BA"), ("\\vec{a}", "a"), ("x'", "x"), ("90^\\circ", "90"),
    ],
)  # fmt: skip
def test_different_formulas_are_not(one: str, other: str) -> None:
    assert attempted(eq, read(one), read(other)) is attempted(eq, read(other), read(one)) is False


@pytest.mark.parametrize(
    "text",
    [
        "", "+", "x+", "(x", "x)", "\\sin x", "\\ln 2", "x^x", "2^x", "x^{1/3}", "\\sqrt[3]{2}", "\\sqrt{x}",
        "x^{99}", "x^2^3", "1/2x",
        "x2", "2 3", "f(x)", "act", "x [1]", "\\frac{dy}{dx}",
        "x \\text{ cm}", "x!", "|x|", "\\frac{1}{0}", "\\frac{1}{x-x}",
        "0^{-1}", "50\\%", "x = 1",
        "\\infty", "x, y", "3 or 4", "\\sqrt{1000003}", "(a+b+c+d)^{9}",
        "((((((((((((((((((1))))))))))))))))))",
        "(1+\\sqrt{2}+\\sqrt{3}+\\sqrt{5}+\\sqrt{7}+\\sqrt{11})^{20}", "x_{12}_{3}", "1_2", "\\pi_", "()",
        "{}",
        "\u0661", "\x00", "\ud800",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_left_to_others(text: str) -> None:
    assert formula(clean(text)) is None


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("408\\pi", 0), ("17 \\times 24 \\pi", 1), ("(2+3+4)x", 2), ("1+\\sqrt2", 0), ("1+\\sqrt2+1", 1),
        ("3 \\cdot 5^2", 2), ("2^{10}", 1),
        ("\\frac{3\\pi}{4}", 0), ("\\sqrt{16}", 1), ("-3-\\sqrt2", 0), ("\\frac{2}{3}x + \\frac13", 0),
        ("x^2+2x+1", 0), ("2(x+1)", 0),
    ],
)  # fmt: skip
def test_arithmetic_that_was_left_is_counted(text: str, operations: int) -> None:
    assert read(text).arithmetic == operations


_FORMULAS = st.recursive(
    st.integers(0, 9).map(str) | st.sampled_from(["x", "y", "\\pi", "i", "\\sqrt{2}", "\\sqrt{3}", "\\sqrt{6}"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "\\cdot"]), inner).map(
            lambda parts: f"({parts[0]}{parts[1]} {parts[2]})"
        )
        | st.tuples(inner, inner).map(lambda parts: f"\\frac{{{parts[0]}}}{{{parts[1]}}}")
    ),
    max_leaves=6,
)


@given(_FORMULAS, _FORMULAS)
def test_equality_agrees_with_numbers(one: str, other: str) -> None:
    left, right = formula(one), formula(other)
    if left is None or right is None:
        return
    equal = abs(_value(left) - _value(right)) < 1e-9 * max(1.0, abs(_value(left)))
    assert attempted(eq, left, right) is equal
    assert attempted(eq, left, left) is True


def _value(value: Formula) -> complex:
    point = {"x": 1.3177, "y": 0.7071234, "\\pi": 3.14159265358979, "√2": 2**0.5, "√3": 3**0.5, "√-1": 1j}
    above, below = (
        sum(complex(coefficient) * _product(monomial, point) for monomial, coefficient in polynomial.items())
        for polynomial in (value.above, value.below)
    )
    return above / below


def _product(monomial: tuple[tuple[str, int], ...], point: dict[str, complex]) -> complex:
    result = 1 + 0j
    for letter, power in monomial:
        result *= point[letter] ** power
    return result


@given(st.text() | st.text("0123456789.+-*/^_(){}xyi \\frac sqrt"))
def test_no_text_raises(text: str) -> None:
    found = formula(clean(text))
    assert found is None or attempted(eq, found, found) in (True, None)


def test_multiples_differences_and_degrees() -> None:
    assert ratio(read("2x+4y"), read("x+2y")) == 2
    assert ratio(read("2x+4y"), read("x+3y")) is None
    assert ratio(read("0"), read("x")) is None
    zero = attempted(sub, read("x+1"), read("x"))
    assert zero is not None
    assert zero.above == {(): Fraction(1)}
    assert [degree(read(text)) for text in ("x^2y", "7", "\\sqrt2 x")] == [3, 0, 0]
