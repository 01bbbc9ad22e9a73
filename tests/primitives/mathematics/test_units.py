"""Units after a number."""

from __future__ import annotations

import pytest

from rewardkit.primitives.mathematics.notation import clean
from rewardkit.primitives.mathematics.units import UNKNOWN, differ, unit_of, without_unit


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("", ""), ("cm", "centimeter"), (" \\text{ cm}", "centimeter"), (" \\text{ centimeters}", "centimeter"),
        ("\\text{cm}^{2}", "centimeter^2"), (" \\text{ square feet}", "foot^2"),
        (" \\text{ m}^{3}", "meter^3"), (" \\text{ cubic meters}", "meter^3"), (" \\text{ km/h}", "kilometer/hour"),
        (" \\text{ kilometers per hour}", "kilometer/hour"), ("^{\\circ}", "degree"), (" degrees", "degree"),
        (" \\text{ apples}", UNKNOWN), (" red apples", UNKNOWN), (" \\text{ units}^{2}", UNKNOWN), (" m", "meter"),
    ],
)  # fmt: skip
def test_a_unit_is_named(text: str, unit: str) -> None:
    assert unit_of(text) == unit


@pytest.mark.parametrize(
    "text",
    [
        "x", " x", "ab", "m", " xy", " or 5", " \\text{ or } 6", " \\text{ or six}", " million", " \\text{ thousand}",
        " squared",
        "!", " + 1", " \\times 2", " \\pi", "_{8}", " \\text{ cm}^{4}", " base eight", " \\text{ mod 7}", ", 6",
        " \\sqrt{2}",
    ],
)  # fmt: skip
def test_words_that_may_change_the_number_are_not_units(text: str) -> None:
    assert unit_of(text) is None


def test_only_known_units_differ() -> None:
    assert differ("meter", "centimeter")
    assert not differ("meter", "meter")
    assert not differ("meter", "")
    assert not differ("meter", UNKNOWN)


@pytest.mark.parametrize(
    ("text", "formula", "unit"),
    [
        ("2\\pi \\text{ cm}", "2\\pi", "centimeter"), ("2\\pi^\\circ", "2\\pi", "degree"),
        ("2\\pi r h", "2\\pi r h", ""),
        ("\\text{even}", "\\text{even}", ""), ("2\\pi \\text{ or } 3", "2\\pi \\text{ or } 3", ""),
        ("2\\pi \\text{ or six}", "2\\pi \\text{ or six}", ""),
    ],
)  # fmt: skip
def test_only_a_unit_that_is_spelled_out_leaves_a_formula(text: str, formula: str, unit: str) -> None:
    assert without_unit(clean(text)) == (formula, unit)
