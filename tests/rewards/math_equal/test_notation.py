"""Normal notation, names and sides of equations, brackets."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.math_equal.notation import clean, compact, is_about, is_name, sides, wrapped


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("$\\dfrac12$.", "\\frac{1}{2}"), ("\\frac 1 2", "\\frac{1}{2}"), ("\\frac{1}2", "\\frac{1}{2}"),
        ("\\sqrt2", "\\sqrt{2}"),
        ("\\frac1{2}", "\\frac{1}{2}"), ("x^2", "x^{2}"), ("2^10", "2^{10}"), ("x_1", "x_{1}"),
        ("\\left( 1, 2 \\right]", "( 1, 2 ]"),
        ("\\[ x \\]", "x"), ("\\(x\\)", "x"), ("1{,}000", "1000"), ("5,\\!525", "5525"), ("1\\,000", "1 000"),
        ("50\\%", "50\\%"),
        ("50%", "50\\%"),
        ("\\textbf{(C)}", "\\text{(C)}"), ("\\mathrm{cm}", "\\text{cm}"), ("90\u00b0", "90^{\\circ}"),
        ("90^\\circ", "90^{\\circ}"),
        ("x \u2264 \u03c0", "x \\le \\pi"), ("x <= 3", "x \\le 3"), ("**5**", "5"), ("a\n b", "a b"), ("\u22125", "-5"),
        ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"), ("\\fractal", "\\fractal"),
    ],
)  # fmt: skip
def test_there_is_one_way_of_writing(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text() | st.text("\\{}^_ $frac123x."))
def test_cleaning_never_raises(text: str) -> None:
    assert len(clean(text)) <= 12 * len(text)


def test_only_spaces_without_meaning_go() -> None:
    assert compact("x + 1") == compact("x+1")
    assert compact("\\pi x") != compact("\\pix")
    assert compact("1 2") != compact("12")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("5", ["5"]), ("x = 5", ["x", "5"]), ("5 = x", ["x", "5"]), ("x = 2 + 3 = 5", ["x", "2 + 3", "5"]),
        ("4 = 5", ["4", "5"]),
        ("x \\le 5", ["x \\le 5"]), ("x := 5", ["x := 5"]), ("=", ["", ""]),
    ],
)  # fmt: skip
def test_an_equation_has_sides(text: str, parts: list[str]) -> None:
    assert sides(clean(text)) == parts


@pytest.mark.parametrize(
    "side", ["x", "f(3)", "a_{10}", "\\text{Area}", "AB", "\\angle ABC", "e", "i", "(x, y)", "x'", "P(X)"]
)
def test_a_name_names_one_value(side: str) -> None:
    assert is_name(side)
    assert is_about(side)


@pytest.mark.parametrize("side", ["x + y", "x^{2}", "AB \\cdot BC - CD", "x^{2}+y^{2}"])
def test_the_side_of_a_value_may_be_an_expression(side: str) -> None:
    assert is_about(side)
    assert not is_name(side)


@pytest.mark.parametrize(
    "side", ["4", "2x", "\\pi", "e^{2}", "17 \\times 24", "4 x", "", "\\text{4 or } x", "\\sqrt{2}", "x4"]
)
def test_what_holds_a_number_is_neither(side: str) -> None:
    assert not is_about(side)
    assert not is_name(side)


@pytest.mark.parametrize(
    ("text", "brackets"),
    [
        ("(1, 2)", "()"), ("[1, 2)", "[)"), ("\\{1, 2\\}", "\\{\\}"), ("(1 + 2)", "()"), ("(1, 2), (3, 4)", ""),
        ("1, 2", ""),
        ("(1, 2", ""), ("((1, 2))", "()"), ("", ""), ("(", ""), ("(x)(y, z)", ""), ("(f(1, 2), 3)", "()"),
    ],
)  # fmt: skip
def test_only_brackets_around_a_whole_text_count(text: str, brackets: str) -> None:
    assert wrapped(text)[0] == brackets
