"""Arithmetic: expressions of the numbers in a column, with their exact values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.completion.parsed_completion import ParsedCompletion
from rewardkit.check.laws.partial_credit import Expression, expression_in
from tests.check.laws.test_expressions import exact_value


def found(body: str, **columns: Any) -> Expression | None:
    return expression_in(ParsedCompletion(f"Well.<answer>{body}</answer>."), columns)


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, list[int]]:
    numbers = draw(st.lists(st.integers(1, 99), min_size=2, max_size=5))
    written = str(numbers[0])
    for place, number in enumerate(numbers[1:]):
        sign = draw(st.sampled_from("+-*/"))
        grouped = f"({written}){sign}{number}" if place else f"{written}{sign}{number}"
        written = draw(st.sampled_from([f"{written} {sign} {number}", grouped]))
    return written, numbers


@given(expressions())
def test_the_value_is_exact(made: tuple[str, list[int]]) -> None:
    written, numbers = made
    wanted = exact_value(written)
    one = found(written, nums=numbers, target=float(wanted))
    if Fraction(float(wanted)) != wanted:
        assert one is None  # no column has 34/7
        return
    assert one is not None
    assert (one.value, one.numbers, one.target) == (wanted, tuple(numbers), "target")
    assert one.span.of(one.text) == written
    assert one.saying("1") == "Well.<answer>1</answer>."


@given(st.lists(st.integers(0, 30), min_size=2, max_size=4))
def test_others_have_the_values_that_they_say(numbers: list[int]) -> None:
    total = sum(numbers)
    one = found(" + ".join(map(str, numbers)), nums=numbers, target=total)
    assert one is not None
    others = list(one.others())
    assert len(others) > 3 * len(set(numbers)) - 3
    for written, value in others[:: max(1, len(others) // 20)]:
        assert exact_value(written) == value
        again = found(written, nums=numbers, target=value.numerator) if value.denominator == 1 else None
        assert value.denominator != 1 or value < 0 or (again is not None and again.value == value)


@pytest.mark.parametrize("body", ["20 + 7 * 2", " 20+7×2 ", "20 + 7 x 2 = 34", "(20 + (7 * 2))"])
def test_usual_notations(body: str) -> None:
    one = found(body, nums=(20, 7, 2), target=34)
    assert one is not None
    assert (one.value, one.numbers) == (Fraction(34), (20, 7, 2))
    assert one.saying("34").startswith("Well.<answer>" + body[: len(body) - len(body.lstrip())] + "34")


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        ("20 + 7", {"nums": ["20", "7"], "target": 27}),
        ("20 + 7", {"nums": [20, 7], "target": "27"}),
        ("20 + 7", {"nums": [20, 7, 2], "target": 27}),
        ("20 + 7", {"nums": None, "target": None}),
        ("20 + 7", {"nums": [20, 7], "target": float("nan")}),
        ("20 + 7", {"nums": [20, 7], "target": float("inf")}),
        ("20 + 7", {"nums": [20, float("nan")], "target": 27}),
        ("20 + 7", {"nums": [20, 7], "target": 10**400}),
        ("1 + 0", {"nums": [1, 0], "target": True}),
        ("1 / 0", {"nums": [1, 0], "target": 0}),
        ("2 ** 20", {"nums": [2, 20], "target": 2**20}),
        ("20 // 2", {"nums": [20, 2], "target": 10}),
        ("2(3+4)", {"nums": [2, 3, 4], "target": 14}),
        ("2² + 3", {"nums": [2, 3], "target": 7}),
        ("007 + 1", {"nums": [7, 1], "target": 8}),
        ("27", {"nums": [20, 7], "target": 27}),
        ("", {"nums": [20, 7], "target": 27}),
        ("1+" * 3_000 + "1", {"nums": [1], "target": 3_001}),
        ("(" * 500 + "1+2" + ")" * 500, {"nums": [1, 2], "target": 3}),
        ("9" * 5_000 + " + 1", {"nums": [1], "target": 3}),
    ],
)
def test_what_is_no_expression_of_a_column(body: str, columns: dict[str, Any]) -> None:
    assert found(body, **columns) is None


def test_an_unmarked_expression_is_left_alone() -> None:
    assert expression_in(ParsedCompletion("20 + 7"), {"nums": [20, 7], "target": 27}) is None
