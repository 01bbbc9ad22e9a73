"""Numbers: read strictly, compared exactly, partial credit on request."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(completion: str, gold: Any, **options: Any) -> float:
    table = rk.score(rk.number("answer", **options), [completion], answer=[gold])
    assert table.outcomes["number"].tolist() == ["scored"]
    return float(table.total[0])


@pytest.mark.parametrize(
    ("completion", "gold"),
    [
        ("<answer>42</answer>", "42"), ("<answer>42.0</answer>", 42), ("<answer>4.2e1</answer>", 42.0),
        ("<answer>-0.5</answer>", "-.5"), ("<answer>\u22125</answer>", -5), ("\\boxed{42}", 42), ("#### 42", "42"),
        ("It is 41, no, 42.", 42), ("costs 0.1", 0.1), ("+7", 7), ("<answer>42.</answer>", 42), (".5", Decimal("0.5")),
        ("<answer>" + "1" * 300 + "</answer>", int("1" * 300)), ("1e300", "1e300"), ("<think>1</think> 42", 42),
    ],
)  # fmt: skip
def test_equal_numbers_are_one(completion: str, gold: Any) -> None:
    assert value(completion, gold) == 1.0


@pytest.mark.parametrize(
    ("completion", "gold"),
    [
        ("", 42), ("no idea", 42), ("<answer></answer>", 42), ("<answer>42 apples</answer>", 42), ("42 or 43", 42),
        ("<answer>4_2</answer>", 42), ("<answer>0x2a</answer>", 42), ("<answer>NaN</answer>", 42),
        ("<answer>inf</answer>", 42), ("<answer>1e999</answer>", 42), ("<answer>\u0664\u0662</answer>", 42),
        ("<answer>42</answer><answer>42</answer>", 42), ("<think>42</think>", 42), ("<answer>1,000</answer>", 1000),
        ("<answer>45%</answer>", 0.45), ("<answer>4 2</answer>", 42), ("<answer>42/1</answer>", 42),
        ("<answer>1" + "0" * 500 + "</answer>", 10), ("<answer>42.00000000000000000000000000000001</answer>", 42),
    ],
)  # fmt: skip
def test_what_is_no_such_number_is_zero(completion: str, gold: Any) -> None:
    assert value(completion, gold) == 0.0


@pytest.mark.parametrize(
    ("completion", "last"),
    [
        ("The change is \u221242.", -42), ("x = \u22120.5", -0.5), ("a loss of -$42", -42),
        ("a loss of -\\$42.50", -42.5), ("it is \u2212\u20ac7", -7), ("earns $42", 42), ("$-42", -42),
        ("so...42", 42), ("so ....5", 5), ("0.42", 0.42),
        ("is .5", 0.5), ("40 \u2212 2 = 38", 38), ("**42**", 42), ("$42$", 42), ("\\(42\\)", 42), ("42\r\n", 42),
        ("42.<|im_end|>", 42), ("a</think>42", 42), ("<think>1</think>2<think>3</think>42", 42),
    ],
)  # fmt: skip
def test_the_last_number_keeps_its_sign(completion: str, last: float) -> None:
    assert value(completion, last) == 1.0
    assert value(completion, -last) == 0.0


@pytest.mark.parametrize(("completion", "gold"), [("It is 1e9999", 9), ("It is 1e0042", 2), ("so...42", 0.42)])
def test_no_piece_of_a_number_is_the_answer(completion: str, gold: Any) -> None:
    assert value(completion, gold) == 0.0


@pytest.mark.parametrize(
    ("answer", "gold", "options", "expected"),
    [
        ("90", 100, {"credit": "linear"}, 0.9),
        ("-100", 100, {"credit": "linear"}, 0.0),
        ("90", 100, {"credit": "exponential"}, math.exp(-0.1)),
        ("90", 100, {"tolerance": 10}, 1.0),
        ("89", 100, {"tolerance": 10}, 0.0),
        ("89", 100, {"tolerance": 10, "credit": "linear"}, 0.99),
        ("90", 100, {"relative": 0.1}, 1.0),
        ("0.1", 0, {"tolerance": 0.1}, 1.0),
        ("0.5", 0, {"credit": "linear"}, 0.5),
        ("0.3", "0.1", {"tolerance": 0.2}, 1.0),
        ("1,000", "1000", {"thousands": True}, 1.0),
        ("10,00", "1000", {"thousands": True}, 0.0),
        ("45%", "0.45", {"percent": True}, 1.0),
        ("0.45", "45%", {"percent": True}, 1.0),
        ("1." + "0" * 40 + "1%", "1%", {"percent": True}, 0.0),
        ("1e999", 5, {"credit": "exponential"}, 0.0),
        ("1e999", 5, {"credit": "linear"}, 0.0),
        ("-1e999", 0, {"credit": "linear", "relative": 1e300}, 0.0),
    ],
)
def test_tolerance_and_credit(answer: str, gold: Any, options: dict[str, Any], expected: float) -> None:
    assert value(f"<answer>{answer}</answer>", gold, **options) == pytest.approx(expected)


@given(
    st.floats(-1e300, 1e300),
    st.floats(-1e300, 1e300),
    st.sampled_from(["binary", "linear", "exponential"]),
    st.floats(0, 1e10),
    st.floats(0, 2),
)
def test_every_pair_scores_within_bounds_and_equality_scores_one(
    answer: float, gold: float, credit: Any, tolerance: float, relative: float
) -> None:
    options = {"credit": credit, "tolerance": tolerance, "relative": relative}
    assert 0.0 <= value(f"<answer>{answer!r}</answer>", gold, **options) <= 1.0
    assert value(f"<answer>{gold!r}</answer>", gold, **options) == 1.0


@pytest.mark.parametrize("credit", ["linear", "exponential"])
def test_nearer_is_never_worse(credit: Any) -> None:
    values = [value(f"<answer>{answer}</answer>", 100, credit=credit) for answer in (100, 101, 110, 150, 200, 1000)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("gold", ["", "forty", "1e999", "1_000", float("nan"), float("inf"), True, [1], "42 apples"])
def test_gold_without_a_number_is_the_datas_fault(gold: Any) -> None:
    with pytest.raises(rk.CoercionError, match=r"reward 'number'.*'answer', row 0"):
        rk.score(rk.number("answer"), ["42"], answer=[gold])


def test_gold_may_have_an_extractor_and_an_option_of_its_own() -> None:
    reward = rk.number("answer", gold=rk.extract.after("####"), thousands=True)
    assert rk.score(reward, ["1,000"], answer=["so\n#### 1,000"]).total.tolist() == [1.0]


@pytest.mark.parametrize(
    "options", [{"tolerance": -1}, {"relative": math.inf}, {"credit": "cubic"}, {"tolerance": "1"}]
)
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="number"):
        rk.number("answer", **options)


def test_a_miss_says_by_how_much() -> None:
    table = rk.score(rk.number("answer"), ["<answer>40</answer>"], answer=[42])
    assert table.notes["number"] == ["'40' is off by 2"]


@pytest.mark.parametrize(
    ("answer", "gold", "options", "expected"),
    [
        ("101", 100, {"credit": {0.01: 0.8, 0.1: 0.5}}, 0.8),
        ("110", 100, {"credit": {0.1: 0.5, 0.01: 0.8}}, 0.5),
        ("111", 100, {"credit": {0.01: 0.8, 0.1: 0.5}}, 0.0),
        ("5", 3, {"credit": "linear", "scale": 10}, 0.8),
        ("$18.00", "18", {"units": ["$"]}, 1.0),
        ("18 apples", "18", {"units": ["apples", "$"]}, 1.0),
        ("1500 m", "1.5 km", {"units": {"m": 1, "km": 1000}}, 1.0),
        ("18 pears", "18", {"units": ["apples"]}, 0.0),
        ("100.00000000000000000000001", 100, {"credit": "linear"}, 1.0 - 1e-6),
    ],
)
def test_steps_scale_and_units(answer: str, gold: Any, options: dict[str, Any], expected: float) -> None:
    assert value(f"<answer>{answer}</answer>", gold, **options) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("completion", "gold"),
    [("#### 42<|im_end|>", 42), ("#### Final Answer\nIt is 42", 42), ("#### Answer: 42", 0), ("42\n#### Unknown", 0)],
)
def test_a_heading_marks_no_answer(completion: str, gold: Any) -> None:
    table = rk.score(rk.number("answer"), [completion], answer=[42])
    assert table.total.tolist() == [1.0 if gold == 42 else 0.0]


@pytest.mark.parametrize(
    "options",
    [
        {"credit": {}}, {"credit": {0.1: 1.0}}, {"credit": {0.1: 0.5, 0.2: 0.7}}, {"credit": {-0.1: 0.5}},
        {"credit": 0.5},
        {"scale": 0.0}, {"scale": -1.0}, {"units": "km"}, {"units": {"km": 0}}, {"units": [""]}, {"units": {"km": "x"}},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="number: "):
        rk.number("answer", **options)
