"""Units after a number."""

from __future__ import annotations

import pytest

from rewardkit.rewards.math_equal.notation import clean
from rewardkit.rewards.math_equal.units import differ, unit_of, without_unit


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("", ""), ("cm", "centimeter"), (" \\text{ cm}", "centimeter"), (" \\text{ centimeters}", "centimeter"),
        ("\\text{cm}^{2}", "centimeter^2"), (" \\text{ square feet}", "foot^2"),
        (" \\text{ m}^{3}", "meter^3"), (" \\text{ cubic meters}", "meter^3"), (" \\text{ km/h}", "kilometer/hour"),
        (" \\text{ kilometers per hour}", "kilometer/hour"), ("^{\\circ}", "degree"), (" degrees", "degree"),
        (" \\text{ apples}", "?apple"), (" red apples", "?red apple"), (" \\text{ units}^{2}", "?unit^2"),
        (" m", "meter"),
        (" in total", ""), (" apples in total", "?apple"), (" km north", "?kilometer north"),
        (" light years", "?light year"),
        (" N", "newton"), (" \\text{ N}-\\text{cm}", "centimeter*newton"),
        (" kg m/s^{2}", "kilogram*meter/second^2"),
        (" \\text{ m s}^{-1}", "meter/second"), (" \\text{ m}\\cdot\\text{s}^{-2}", "meter/second^2"),
        ("\\text{ ms}^{-1}", "meter/second"),
        ("^{\\circ} \\text{C}", "celsius"), ("^{\\circ} C", "celsius"), ("^{\\circ}F", "fahrenheit"), (" \\mu m",
        "micrometer"),
        (" \\mu\\text{m}", "micrometer"), (" \\text{µm}", "micrometer"), (" \\Omega", "ohm"),
        (" \\text{ J/(kg K)}", "joule/kelvin/kilogram"),
        (" dollars per ticket", "dollar/?ticket"), (" \\text{ square units}", "?unit^2"), (" kWh", "kilowatthour"),
    ],
)  # fmt: skip
def test_a_unit_is_named(text: str, unit: str) -> None:
    assert unit_of(text) == unit


@pytest.mark.parametrize(
    "text",
    [
        "x", " x", "ab", "m", " xy", " or 5", " \\text{ or } 6", " \\text{ or six}", " million", " \\text{ thousand}",
        " squared", " K", " C", " \\text{K}", " \\text{ M}", " pm", "N", " x^{2}",
        "!", " + 1", " \\times 2", " \\pi", "_{8}", " base eight", " \\text{ mod 7}", ", 6",
        " \\sqrt{2}", " theta", " \\text{ tausend}", " \\text{ trillionths}",
        " \\text{ Milliarden}", " \\text{ ppm}", " \\text{ pairs}",
        " \\text{ per mille}", " al cuadrado",
    ],
)  # fmt: skip
def test_words_that_may_change_the_number_are_not_units(text: str) -> None:
    assert unit_of(text) is None


def test_units_that_are_there_must_be_the_same() -> None:
    for one, other in [
        ("meter", "centimeter"), ("meter*newton", "centimeter*newton"), ("?unit^2", "?unit^3"), ("meter", "meter^2"),
        ("dollar/?ticket", "cent"), ("meter", "?apple"), ("?apple", "?pear"), ("celsius", "degree"),
        ("?light year", "year"),
        ("?dollar loss", "?dollar profit"), ("?odd", ""), ("?unit^2", "meter"), ("?tablespoon", "?teaspoon"),
        ("?unit left", "?unit right"),
        ("celsius", "fahrenheit"), ("meter", "degree"), ("meter/second", "meter"),
    ]:  # fmt: skip
        assert differ(one, other)
        assert differ(other, one)
    for one, other in [
        ("meter", "meter"), ("meter", ""), ("?red apple", "?apple"), ("?year old", "year"), ("?apple", "?apple"),
        ("dollar/?ticket", "dollar"), ("?unit^2", "meter^2"), ("?kilometer north", "kilometer"),
    ]:  # fmt: skip
        assert not differ(one, other)
        assert not differ(other, one)


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
