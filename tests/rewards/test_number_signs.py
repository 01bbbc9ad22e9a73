"""The sign of the last number, as models write it."""

from __future__ import annotations

import pytest

import rewardkit as rk


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        ("Thus $x\\approx-0.73$.", -0.73),
        ("$x \\to - 5$", -5),
        ("The answer is $- 5$.", -5),
        ("The answer is **- 5**", -5),
        ("x = \u20115", -5),
        ("x \u2192 - 3", -3),
        ("$x \\in 42$", 42),
        ("答案是-42。", -42),
        ("答えは−42です", -42),
        ("คำตอบคือ-42", -42),
        ("The answer is -(42).", -42),
        ("The answer is -US$42.", -42),
        ("The answer is -$\\frac{3}{4}$", "-0.75"),
        ("The answer is $-2\\frac{3}{4}$", "-2.75"),
        ("The answer is -(3/4)", "-0.75"),
        ("The answer is -¾", "-0.75"),
        ("The answer is \\frac{3}{4}.", "0.75"),
        ("La respuesta es menos 42", -42),
        ("Die Antwort ist minus 42", -42),
        ("答案是负42", -42),
    ],
)
def test_the_sign_is_read(completion: str, number: float | str) -> None:
    table = rk.score(rk.number("answer"), [completion] * 2, answer=[number, -float(number)])
    assert table.total.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("completion", ["$a\\geq-3$", "x > -3", "x-3", "(x)-3", "x - 3", "read pages 1-3", "the MP-3"])
def test_a_hyphen_that_is_no_sign_leaves_no_number(completion: str) -> None:
    table = rk.score(rk.number("answer"), [completion] * 2, answer=[3, -3])
    assert table.total.tolist() == [0.0, 0.0]
