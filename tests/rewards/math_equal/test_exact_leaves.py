"""Structures of formulas, compared without computer algebra."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.rewards.math_equal.closed_form import decide
from rewardkit.rewards.math_equal.notation import clean
from rewardkit.rewards.math_equal.structure import parse


def compared(one: str, other: str) -> bool | None:
    return decide(parse(clean(one)), parse(clean(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(1, 2)", "(1,2)"), ("\\{1, 2\\}", "\\{2, 1\\}"), ("\\{1, 2\\}", "2, 1"), ("1, 2", "2 \\text{ and } 1"),
        ("(1, 2)", "1, 2"),
        ("\\{1, 1, 2\\}", "1, 2"), ("\\pm 3", "-3, 3"), ("1 \\pm \\sqrt2", "1 - \\sqrt2, 1 + \\sqrt2"),
        ("[0, \\infty)", "x \\ge 0"), ("x > 3", "2x > 6"), ("3 < x", "x > 3"), ("(1, 2]", "1 < x \\le 2"),
        ("-x < 3", "(-3, \\infty)"),
        ("2x + 3y = 6", "4x + 6y - 12 = 0"), ("x + y < 1", "2 > 2x + 2y"), ("y = \\frac2x", "xy = 2"),
        ("x = 1, y = 2", "y = 2, 1 = x"),
        ("\\begin{pmatrix}1&x\\\\0&1\\end{pmatrix}", "\\begin{bmatrix} 1 & x \\\\ 0 & 2-1 \\end{bmatrix}"), ("x", "x"),
    ],
)  # fmt: skip
def test_the_same_in_other_words(one: str, other: str) -> None:
    assert compared(one, other) is compared(other, one) is True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(1, 2)", "(2, 1)"), ("(1, 2)", "[1, 2]"), ("(1, 2)", "\\{1, 2\\}"), ("\\{1, 2\\}", "\\{1, 2, 3\\}"),
        ("(1, 2)", "(1, 2, 3)"),
        ("1, 2", "1, 3"), ("3", "\\pm 3"), ("3", "(3, 4)"), ("(0, \\infty)", "(-\\infty, 0)"), ("x > 3", "x \\ge 3"),
        ("x > 3", "x < 3"),
        ("x > 3", "y > 3"), ("1 < x < 2", "1 < x \\le 2"), ("2x + 3y = 6", "2x + 3y = 7"), ("x + y < 1", "x + y > 1"),
        ("x + y < 1", "x + y \\le 1"),
        ("x^2 + y^2 = 25", "x^2 - y^2 = 25"), ("x = 1, y = 2", "x = 2, y = 1"), ("(\\infty, 1)", "(x, 1)"),
        ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{pmatrix}1&2\\end{pmatrix}"),
    ],
)  # fmt: skip
def test_something_else(one: str, other: str) -> None:
    assert compared(one, other) is compared(other, one) is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\\sqrt2 x = 2", "x = \\sqrt2"), ("(x-1)^2 = 0", "x = 1"), ("\\sin x", "x"), ("(1, 2) \\cup (3, 4)", "(1, 4)"),
        ("\\mathbb{R}", "(-\\infty, \\infty)"), ("2\\infty", "\\infty"), ("x^2 < 4", "(-2, 2)"),
    ],
)  # fmt: skip
def test_what_is_left_to_computer_algebra(one: str, other: str) -> None:
    assert compared(one, other) is None


@given(st.text() | st.text("12xy,=<>()[]{}\\pm &le "))
def test_no_text_raises(text: str) -> None:
    node = parse(clean(text))
    assert decide(node, node) in (True, False, None)
