"""The sign of the last number, as models write it."""

from __future__ import annotations

import pytest

import rewardkit as rk


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        ("Thus $x\\approx-0.73$.", -0.73),
        ("$x \\to - 5$", -5),
        ("$a\\geq-3$", -3),
        ("The answer is $- 5$.", -5),
        ("The answer is **- 5**", -5),
        ("x = \u20115", -5),
        ("x \u2192 - 3", -3),
        ("read pages 3-5", 5),
        ("COVID-19", 19),
        ("$x \\in 42$", 42),
    ],
)
def test_the_sign_is_read(completion: str, number: float) -> None:
    table = rk.score(rk.number("answer"), [completion] * 2, answer=[number, -number])
    assert table.total.tolist() == [1.0, 0.0]
