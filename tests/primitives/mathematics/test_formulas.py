"""Formulas alone and in lists."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rewardkit.primitives.mathematics.formulas import equal, written
from rewardkit.primitives.mathematics.notation import clean


def compared(one: str, other: str) -> bool | None:
    left, right = written(clean(one)), written(clean(other))
    assert left is not None, one
    assert right is not None, other
    return equal(left, right)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(1, 2)", "(1,2)"), ("\\{1, 2\\}", "\\{2, 1\\}"), ("\\{1, 2\\}", "2, 1"), ("1, 2", "2 \\text{ and } 1"),
        ("(1, 2)", "1, 2"),
        ("\\{1, 1, 2\\}", "1, 2"), ("3, 3", "3"), ("\\pm 3", "-3, 3"), ("1 \\pm \\sqrt2", "1 - \\sqrt2, 1 + \\sqrt2"),
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
    [("(x-1)^2 = 0", "x = 1"), ("\\sqrt2 x = 2", "x = \\sqrt2"), ("\\{1, 2\\}", "[1, 2], 3"), ("x = 1, y = 2", "1, 2")],
)
def test_what_computer_algebra_may_know_better(one: str, other: str) -> None:
    left, right = written(clean(one)), written(clean(other))
    assert left is None or right is None or equal(left, right) is None


@pytest.mark.parametrize(
    "text",
    [
        "", ",", "(1, )", "1,234, 5", "\\{\\}", "\\sin x", "x = ", "a = b = c", "1 < x",
        "\\begin{pmatrix}1&2\\\\3\\end{pmatrix}",
        "\\begin{pmatrix}", "(1, 2) \\cup (3, 4)", "\\mathbb{R}", "x \\ne 3", ",".join("1" * 20), "\\pm 1, \\pm 2",
        "2\\infty",
    ],
)  # fmt: skip
def test_what_is_left_to_computer_algebra(text: str) -> None:
    found = written(clean(text))
    assert found is None or text == "1 < x"


@given(st.text() | st.text("12xy,=<>()[]{}\\pm &le "))
def test_no_text_raises(text: str) -> None:
    found = written(clean(text))
    assert found is None or equal(found, found) in (True, None)
