"""Numbers: read strictly, compared exactly, partial credit on request."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.number.final import FinalNumber
from rewardkit.text.numbers import NumberText


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
        ("<answer>inf</answer>", 42), ("<answer>1e999</answer>", 42), ("<answer>4\u0662</answer>", 42),
        ("<answer>41</answer><answer>42</answer>", 42), ("<think>42</think>", 42), ("<answer>1,00</answer>", 100),
        ("<answer>45%</answer>", 0.45), ("<answer>4 2</answer>", 42), ("<answer>42/1</answer>", 42),
        ("<answer>1" + "0" * 500 + "</answer>", 10), ("<answer>42.00000000000000000000000000000001</answer>", 42),
    ],
)  # fmt: skip
def test_other_text_is_not_a_number(completion: str, gold: Any) -> None:
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
def test_a_part_of_an_expression_is_not_the_answer(completion: str, gold: Any) -> None:
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


@pytest.mark.parametrize("gold", ["", "forty", "1e999", "1_000", "nan", float("inf"), True, [], "42 apples"])
def test_gold_without_a_number_is_the_datas_fault(gold: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match=r"reward 'number'.*'answer', row 0"):
        rk.score(rk.number("answer"), ["42"], answer=[gold])


def test_gold_may_have_its_own_extractor_and_options() -> None:
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
    [
        ("#### 42<|im_end|>", 42),
        ("#### Final Answer\nIt is 42", 42),
        ("#### Answer: 42", 42),
        ("42\n#### Unknown", 0),
        ("#### Step 1: count 5\n6 * 7 = 42.\nThe answer is 42.", 42),
        ("#### 1. Add\n2. Stop\nIt is 42.", 42),
        ("#### Adding 40 and 2\nThis gives 42", 42),
        ("#### 42 apples", 0),
        ("#### 42\nI took 3 steps.", 42),
    ],
)
def test_a_heading_does_not_mark_an_answer(completion: str, gold: Any) -> None:
    table = rk.score(rk.number("answer"), [completion], answer=[42])
    assert table.total.tolist() == [1.0 if gold == 42 else 0.0]


@pytest.mark.parametrize(
    "options",
    [
        {"credit": {}}, {"credit": {0.1: 1.0}}, {"credit": {0.1: 0.5, 0.2: 0.7}}, {"credit": {-0.1: 0.5}},
        {"credit": 0.5}, {"credit": {0.1: 0.5, 0.2: math.nan}}, {"credit": {0.1: "0.5"}}, {"credit": {0.1: "x"}},
        {"credit": {0.1: None}}, {"units": 5}, {"units": None}, {"units": [["m"]]}, {"units": ["5"]}, {"units": ["%"]},
        {"units": ["m2"]}, {"units": ["-"]}, {"units": {"m": 1, "m ": 2}}, {"units": ["m", "m"]}, {"thousands": "no"},
        {"percent": 1}, {"tolerance": math.nan},
        {"scale": 0.0}, {"scale": -1.0}, {"units": "km"}, {"units": {"km": 0}}, {"units": [""]}, {"units": {"km": "x"}},
    ],
)  # fmt: skip
def test_invalid_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="number: "):
        rk.number("answer", **options)


@pytest.mark.parametrize("column", ["", " ", None, 5])
def test_the_column_has_a_name(column: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="column"):
        rk.number(column)


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="number: tolerance"):
        rk.number("answer", tolerance=-1)


METRES = {"units": {"m": 1, "km": 1000}}
DOLLARS = {"units": ["$", "dollars"]}
PERCENT = {"percent": True}
THOUSANDS = {"thousands": True}

RIGHT: list[tuple[str, Any, dict[str, Any]]] = [
    ("It is 42!", 42, {}),
    ("Natalia sold 48/2 = 24 clips in May.\nShe sold 48+24 = 72 clips altogether.\n#### 72", 72, {}),
    ("So she makes 9 * 2 = $<<9*2=18>>18 every day.", 18, {}),
    ("Betty has only 100 / 2 = $50.\nShe needs $5 more.", 5, {}),
    ("He pays 3 x $12 = $36 in total.", 36, {}),
    ("Each bag costs $2.50, so 4 bags cost $10.00.", 10, {}),
    ("The total is $1,250.", 1250, THOUSANDS),
    ("$$1{,}250 + 750 = 2{,}000$$", 2000, THOUSANDS),
    ("It comes to $12,\\!500$ miles.", 12500, THOUSANDS),
    ("Thus the answer is **42**.", 42, {}),
    ("Answer: *42*", 42, {}),
    ("Answer: _42_", 42, {}),
    ("Therefore, $x = 42$.", 42, {}),
    ("so \\[ x = \\frac{84}{2} = 42. \\]", 42, {}),
    ("Half, \\frac{1}{2}, of 84 is 42", 42, {}),
    ("\\sqrt{1764} = 42", 42, {}),
    ("$x^2 + 1 = 42$", 42, {}),
    ("$2^{10} = 1024$", 1024, {}),
    ("5! = 120", 120, {}),
    ("a_{10} = 55", 55, {}),
    ("The slope is $m_1 = 3$", 3, {}),
    ("A 30-60-90 triangle: the angle is $90^\\circ$", 90, {}),
    ("The ratio is 3:4, hence 12", 12, {}),
    ("It is 42 km^2", 42, {}),
    ("It is $42\\text{ cm}^2$", 42, {}),
    ("It is 42 m2", 42, {}),
    ("It is 42 m\u00b2", 42, {}),
    ("Water is H2O, and 42 of it", 42, {}),
    ("The answer is \u20135.", -5, {}),
    ("x = - 5", -5, {}),
    ("x =- 5", -5, {}),
    ("The answer is - 5.", -5, {}),
    ("- 5", -5, {}),
    ("f(2) = -5", -5, {}),
    ("Items:\n- 5", 5, {}),
    ("The distance is 5 \u00d7 10^3", 5000, {}),
    ("The distance is $5 \\times 10^{3}$ m", 5000, {}),
    ("The distance is 5 x 10^-3.", "0.005", {}),
    ("The distance is 5 \u00b7 10\u00b3", 5000, {}),
    ("It weighs 4.2e3 g", 4200, {}),
    ("\u7b54\u6848\u662f42\u3002", 42, {}),
    ("42\n\nI hope this helps!", 42, {}),
    ("It is 5 km.", "5 km", METRES),
    ("It is 5 km.", 5000, METRES),
    ("1.5 km", "1500 m", METRES),
    ("It is $1.5\\text{ km}$", "1500 m", METRES),
    ("It is **1.5** km", "1500 m", METRES),
    ("It is 1.5\u00a0km", "1500 m", METRES),
    ("<answer>1.5\u00a0km</answer>", "1500 m", METRES),
    ("It is 1.5\\,\\mathrm{km}", "1500 m", METRES),
    ("It is 5 x 10^3 m", "5 km", METRES),
    ("From 3 km 5 apples hang", 5, METRES),
    ("It costs -$18", -18, DOLLARS),
    ("It costs \\$18", 18, DOLLARS),
    ("It costs $18$ dollars", 18, DOLLARS),
    ("It costs $18$", 18, DOLLARS),
    ("It costs $18.", 18, {"units": {"$": 1, "\u20ac": 1.1}}),
    ("It costs \u20ac10.", 11, {"units": {"$": 1, "\u20ac": 1.1}}),
    ("\\boxed{18\\,\\text{dollars}}", 18, DOLLARS),
    ("\\boxed{18\\;\\text{dollars}}", 18, DOLLARS),
    ("#### **18** dollars", 18, DOLLARS),
    ("#### $18$ dollars", 18, DOLLARS),
    ("18\u00a0dollars", 18, DOLLARS),
    ("It is 45\\%.", "45%", PERCENT),
    ("It is $45\\%$", "0.45", PERCENT),
    ("It is 45 %", "0.45", PERCENT),
    ("It is **45**%", "0.45", PERCENT),
    ("It is **45%**", "0.45", PERCENT),
    ("It is $45$%", "0.45", PERCENT),
    ("\\boxed{45 \\%}", "0.45", PERCENT),
    ("<answer>45 %</answer>", "0.45", PERCENT),
    ("\\boxed{x = 42}", 42, {}),
    ("\\boxed{{42}}", 42, {}),
    ("\\boxed{\\displaystyle 42}", 42, {}),
    ("\\boxed{42\\,}", 42, {}),
    ("\\boxed{1\\,000}", 1000, THOUSANDS),
    ("<answer>*42*</answer>", 42, {}),
    ("<answer>\u201342</answer>", -42, {}),
    ("<answer>- 42</answer>", -42, {}),
    ("<answer>-$42$</answer>", -42, {}),
]

WRONG: list[tuple[str, Any, dict[str, Any]]] = [
    ("It is \\frac{1}{2}", 2, {}),
    ("It is \\frac12", 2, {}),
    ("It is -\\dfrac{\\sqrt{3}}{2}", 2, {}),
    ("It is \\frac{1}{2", 2, {}),
    ("It is 1/2", 2, {}),
    ("It is x/2", 2, {}),
    ("It is 3\\frac{1}{2}", 3, {}),
    ("It is 2\\pi", 2, {}),
    ("It is 10\\sqrt{5}", 5, {}),
    ("It is -**5**", 5, {}),
    ("It is 2\u03c0", 2, {}),
    ("It is $2^{10}$", 10, {}),
    ("It is $2^{10}$", 2, {}),
    ("It is 2**10", 10, {}),
    ("It is 2\u00b3", 2, {}),
    ("It is $\\sqrt{2}$", 2, {}),
    ("It is $\\sqrt[3]{5}$", 5, {}),
    ("It is \u221a2", 2, {}),
    ("It is sqrt(2)", 2, {}),
    ("It is \\ln 2", 2, {}),
    ("It is $x^2$", 2, {}),
    ("It is $x_{2}$", 2, {}),
    ("It is 101_2", 2, {}),
    ("It is 101_{2}", 101, {}),
    ("It is 5 \u00d7 10^3", 3, {}),
    ("It is 5 \u00d7 3", 3, {}),
    ("It is 5 * 3", 3, {}),
    ("It is 12 + 30", 30, {}),
    ("It is $12 + $30", 30, {}),
    ("It is 1 000", 0, {}),
    ("It is 1'000", 0, {}),
    ("It is 1_000", 0, {}),
    ("It is 1{,}000", 0, {}),
    ("It is 1.000,50", 50, {}),
    ("It is 3.14.15", 0.15, {}),
    ("It is 3:5", 5, {}),
    ("It is $42!$", 42, {}),
    ("It is 0x2a", 2, {}),
    ("It is 0x2a", 0, {}),
    ("It is x2.5", 5, {}),
    ("It was COVID-19", -19, {}),
    ("He read pages 3-5", -5, {}),
    ("(x)-5", 5, {}),
    ("It was COVID-19", 19, {}),
    ("He read pages 3\u20135", 5, {}),
    ("He read pages 3-5", 5, {}),
    ("It is 5 km.", "5 m", METRES),
    ("It is 5 km.", 5, METRES),
    ("It is 45\\%.", 45, PERCENT),
    ("It is 45%", 45, {}),
    ("It is 45\\%", 45, {}),
    ("It is 45 %", 45, {}),
    ("\\boxed{6*7 = 42}", 42, {}),
    ("\\boxed{5 = 42}", 42, {}),
    ("\\boxed{wrong = 42}", 42, {}),
    ("#### 41 or 42", 42, {}),
]


@pytest.mark.parametrize(("completion", "gold", "options"), RIGHT)
def test_an_honest_answer_is_found(completion: str, gold: Any, options: dict[str, Any]) -> None:
    assert value(completion, gold, **options) == 1.0


@pytest.mark.parametrize(("completion", "gold", "options"), WRONG)
def test_a_piece_of_an_answer_earns_nothing(completion: str, gold: Any, options: dict[str, Any]) -> None:
    assert value(completion, gold, **options) == 0.0


def test_the_finder_is_part_of_the_identity_and_prints_as_before() -> None:
    assert rk.number("answer", units=["km"]) != rk.number("answer", units=["m"])
    assert repr(rk.number("answer")) == "number('answer')"
    finder = FinalNumber(NumberText())
    assert repr(finder) == "final_number()"
    assert pickle.loads(pickle.dumps(finder)) == finder != FinalNumber(NumberText(percent=True))


@pytest.mark.parametrize("piece", ["\\sqrt{", "\\frac{1}", "^{", "1_", "5/", "- ", "1 000 ", "#### 5a\n", "5!", "a5."])
def test_a_long_text_of_pieces_earns_nothing(piece: str) -> None:
    assert value(piece * (200_000 // len(piece)), 42) == 0.0


FRAGMENTS = st.sampled_from(
    ["5", "-", "1,0", ".", "\\frac", "{", "}", "^", "_", "\\sqrt", "[", "(", ")", " ", "\n", "%", "$", "km", "m",
     "####", "\\boxed{", "<answer>", "*", "/", "\\times", " 10", "e", "!", "is ", "=", "\\", "\u2013", "\u00b2",
     "0x", "\\text{"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=200), st.lists(FRAGMENTS, max_size=40).map("".join)))
def test_any_text_has_a_score(completion: str) -> None:
    assert value(completion, 5) in (0.0, 1.0)
    assert 0.0 <= value(completion, "5 m", credit="linear", thousands=True, percent=True, **METRES) <= 1.0


WORDS = st.lists(st.sampled_from(["the", "is", "so", "we", "get", "apples", "Then", "total"]), max_size=6)


@given(WORDS, st.decimals(-(10**6), 10**6, places=2), WORDS)
def test_a_number_among_words_is_found_with_its_sign(before: list[str], number: Decimal, after: list[str]) -> None:
    completion = " ".join([*before, str(number), *after]) + "."
    assert value(completion, number) == 1.0
    assert number == 0 or value(completion, -number) == 0.0


@pytest.mark.parametrize(
    ("gold", "shown"), [(["0.5", "0.25"], "0.5"), (["1/3", "2"], "1/3"), ([1e20, 3], "100000000000000000000")]
)
def test_the_note_says_which_of_several_golds_was_right(gold: list[Any], shown: str) -> None:
    table = rk.score(rk.number("answer"), [f"<answer>{gold[0]}</answer>"], answer=[gold])
    assert table.notes["number"] == [f"the gold answer is {shown!r}"]
