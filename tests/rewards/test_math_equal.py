r"""Mathematical equality: what is equal, what must not score, and what no text can do."""

from __future__ import annotations

import os
import pickle
import runpy
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.rewards.math_equal import reward as in_worker
from rewardkit.rewards.math_equal.reward import math_equal
from rewardkit.workers import worker

PAIRS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "accuracy" / "math_equal_pairs.py"))["PAIRS"]


def scored(completions: list[str], golds: list[Any], **options: Any) -> rk.ScoreTable:
    table = rk.score(math_equal("answer", **options), completions, answer=golds)
    assert set(table.outcomes["math_equal"]) == {"scored"}
    return table


def value(completion: str, gold: Any, **options: Any) -> float:
    return float(scored([completion], [gold], **options).total[0])


def boxed(answer: str) -> str:
    return f"So it is \\boxed{{{answer}}}."


@pytest.mark.parametrize("topic", PAIRS)
def test_every_pair_labeled_by_hand(topic: str) -> None:
    scores = scored([boxed(answer) for _, answer, _ in PAIRS[topic]], [gold for gold, _, _ in PAIRS[topic]]).total
    wrong = [pair for pair, score in zip(PAIRS[topic], scores, strict=True) if score != float(pair[2])]
    assert not wrong


@pytest.mark.parametrize(
    "answer",
    [
        "4 or 5", "5 or 4", "4 and 5", "4, 5", "\\{4, 5\\}", "x=4, x=5", "x = 4 or x = 5", "4 = 5", "5 = 4",
        "4 \\approx 5",
        "5 \\approx 4", "4 \\ne 5", "4 < 5", "4 \\to 5", "4/5", "4;5", "[4, 5]", "(4, 5)", "5?", "5!", "not 5", "-5",
        "5 5",
        "2 + 3", "10 - 5", "2.5 \\times 2", "\\frac{10}{2}", "10/2", "\\sqrt{25}", "5^1", "\\log_2 32", "\\max(4, 5)",
        "\\sum_{i=1}^{5} 1", "\\int_0^5 dx", "|5|", "\\lfloor 5 \\rfloor", "4 \\boxed{5}", "\\text{five}",
        "5 \\text{ or } 6", "5 \\text{ or six}", "5 \\text{ thousand}", "5\\pi", "5x", "5_8", "\\gcd(5, 10)",
        "\\frac{5}{0}",
        "\\binom{5}{1}", "5 \\bmod 7", "5 + 0i", "\\text{4 or } 5", "4 \\text{ or maybe } x = 5", "x \\ne 5",
        "\\pm 5", "5e",
    ],
)  # fmt: skip
def test_nothing_but_the_number_scores(answer: str) -> None:
    assert value(boxed(answer), 5) == 0.0


@pytest.mark.parametrize(
    "completion",
    [
        "\\boxed{4} or \\boxed{5}", "\\boxed{5} or \\boxed{4}", "[\\boxed{4}, \\boxed{5}]", "\\boxed{4 \\boxed{5}}",
        "\\boxed{5", "\\boxed{}", "<answer>4</answer> \\boxed{5}",
        "<answer>4</answer><answer>5</answer>", "<answer>5</answer><answer>5",
        "<answer>\\boxed{4} \\boxed{5}</answer>", "<think>\\boxed{5}</think>4",
        "<think>\\boxed{5}</think>", "<think>The answer is 5.", "It is $4$ or $5$.", "The answer is 4 or 5.",
        "The answer is $4$ or $5$.", "The answer is not 5.", "The answer is 5, or 4.", "The answer is 5. Answer: 4",
        "We know that 5 is prime.", "", " ", "answer:", "The answer is \\[5\\] or \\[4\\]", "It is $5$ and not $4$",
    ],
)  # fmt: skip
def test_only_one_final_answer_counts(completion: str) -> None:
    assert value(completion, 5) == 0.0


@pytest.mark.parametrize(
    "completion",
    [
        "\\boxed{5}", "\\fbox{5}", "\\boxed{5} Indeed, \\boxed{ 5 }.", "<answer>5</answer>", "4\n#### 5", "5", "$5$",
        "x = 5",
        "<answer>So \\boxed{5}</answer>", "<think>4</think>\\boxed{5}", "The answer is 5.", "The answer is **5**.",
        "**Answer:** $5$", "Final Answer: The final answer is $5$. I hope it is correct.",
        "The answer is:\n\\[\n5\n\\]",
        "The answer is\n5", "Hence $x = 5$.", "First $4$.\nThen\n\\[ x = 5 \\]", "$4$, so\n$$5$$", "Hence \\(5\\)",
        "Answer: 4. Answer: 5",
        "<answer>\\(5\\)</answer>", "The answer is \\$5.", "The answer is 5 apples.", "The answer is $5$ cm.",
    ],
)  # fmt: skip
def test_the_final_answer_is_found(completion: str) -> None:
    assert value(completion, 5) == 1.0


HOSTILE = [
    "9^9^9^9", "9^{9^{9^9}}", "x^{x^{x^x}}", "(((1+1)^{99})^{99})^{99}", "2^{10^9}", "2^{9999999999}", "10^{10^{10}}",
    "((((2^{99})^{99})^{99})^{99})\\pi", "100000000!", "(10^6)!", "9!!!!!!", "((3!)!)!", "\\binom{10^6}{5*10^5}",
    "\\sum_{i=1}^{10^9} i", "\\prod_{i=1}^{10^9} i", "\\sum_{i=1}^{1000000000} i", "\\int_0^1 \\int_0^1 x^y dx dy",
    "\\int e^{-x^2} \\sin(x^x) dx", "\\lim_{x \\to 0} \\frac{\\sin x}{x}", "\\sqrt[10^9]{2}", "\\sqrt[1000000000]{2}",
    "\\sqrt" * 200 + "2", "\\sqrt{" * 200 + "2" + "}" * 200, "{" * 900, "}" * 900, "(" * 900,
    "((" * 20 + "1" + "))" * 20,
    "\\left(" * 10_000, "\\left(" * 100 + "1" + "\\right)" * 100, "\\frac{1}{" * 100 + "2" + "}" * 100,
    "1+" * 490 + "1",
    "x+" * 490 + "x", "-" * 900 + "1", "9" * 100_000, "9" * 900, "1." + "3" * 900, "1e999999999", "10^{-999999999}",
    "\\begin{pmatrix}" + "1&" * 300 + "1\\end{pmatrix}", "\\begin{pmatrix}" * 20,
    "\\det\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
    "(\\sqrt{2}+\\sqrt{3}+\\sqrt{5}+\\sqrt{7}+\\sqrt{11})^{999}", "(x+y+z+w)^{999}", "(a+b)^{20}" * 15,
    "\\sin(" * 20 + "1" + ")" * 20,
    "e^{e^{e^{e^{9}}}}", "\\log(" * 15 + "9" + ")" * 15, "\\frac{0}{0}", "\\frac{1}{0}", "0^0", "\\infty - \\infty",
    "nan",
    "\\text{" * 100, "\\text{a" + "}" * 100, "\\ud800", "\ud800", "\x00", "5\x005", "\u0665", "\U0001d7d3", "\u202e5",
    "\u200b5",
    "__import__('os').system('true')", "lambda: 0", "\\input{/etc/passwd}", "\\def\\x{\\x\\x}\\x", "x" * 990,
    "=" * 990, "," * 990,
    "1," * 400, "\\{" * 400, "\\pm" * 300, "\\pm 1" * 9 + "\\pm\\ln 2", "|" * 900, "!" * 900, "_" * 900, "^" * 900,
    "\\" * 900,
    "\\arctan(\\tan(" * 6 + "x" + "))" * 6, "x^{999} - y^{999} + \\sin(x)^{99}", "\\floor{9}", "7 \\bmod 3",
    "\\gcd(10^{99}, 3)",
    "," * 1_900 + "\\in \\mathbb{Z}", "k, " * 600 + "\\in \\mathbb{Z}", ", " * 900 + "integer",
    "\\text{ for all " * 120,
    "\\equiv " * 250 + "\\pmod 5", "\\cup" * 400, "(\\pm 1, " * 200, "\\tanh 9999", "e^{-999^{2}}",
    "\\ln 3 + e^{-9999}",
    "1:" * 900, "\\begin{cases}" * 140, "$$" * 900, "a**" * 600, "\\frac" * 380, "\\overline" * 200, "x|" * 900,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("gold", ["5", "\\ln 3", "x^2 + \\sin x"])
def test_hostile_answers_score_nothing_and_the_next_is_served(gold: str) -> None:
    completions = [f"<answer>{answer}</answer>" for answer in HOSTILE] + [f"<answer>{gold}</answer>"]
    table = scored(completions, [gold] * len(completions), timeout=2.0)
    assert table.total.tolist() == [0.0] * len(HOSTILE) + [1.0]
    assert all(table.notes["math_equal"][:-1])
    assert not table.notes["math_equal"][-1]


@pytest.mark.parametrize(
    ("function", "argument", "reason"),
    [(time.sleep, 60, "takes more than 0.5 s"), (os._exit, 1, "takes too much memory")],
)
def test_an_answer_that_takes_too_much_scores_nothing(
    function: Callable[..., Any], argument: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def takes_too_much(name: str, *arguments: Any, timeout: float, **options: Any) -> Future[Any]:
        return worker.submit(function, (argument,), timeout)

    reward = math_equal("answer", timeout=0.5)
    assert rk.score(reward, [boxed("\\ln 3")], answer=["\\ln 2"]).total.tolist() == [0.0]
    monkeypatch.setattr(in_worker, "submit", takes_too_much)
    table = rk.score(reward, [boxed("\\ln 4"), boxed("\\ln 2")], answer=["\\ln 2", "\\ln 2"])
    assert table.total.tolist() == [0.0, 1.0]
    assert reason in table.notes["math_equal"][0]


@pytest.mark.parametrize(
    "gold",
    [
        "", "  ", "\\frac{1}{", "x^{2", "5 5 \\frac", "\\frac{1}{0}", "9^{9^{9^9}}", "(10^9)!", "9" * 2000,
        "\\left(" * 100,
        "A full solution ends in #### 5", True, None, [], float("inf"), "\\sum_{i=1}^{10^9} i",
        "\ud800", "\x00", "{" * 20_000, "(" * 20_000 + ")" * 20_000, "," * 20_000 + "\\in \\mathbb{Z}",
    ],
)  # fmt: skip
def test_a_gold_that_is_not_mathematics_is_a_coercion_error(gold: Any) -> None:
    if gold is None:
        gold = b"5"
    with pytest.raises(rk.errors.CoercionError, match=r"reward 'math_equal'.*'answer', row 1"):
        rk.score(math_equal("answer"), ["5", "5"], answer=["5", gold])


def test_a_gold_that_takes_too_long_is_a_coercion_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def takes_too_much(name: str, *arguments: Any, timeout: float, **options: Any) -> Future[Any]:
        return worker.submit(time.sleep, (60,), timeout)

    monkeypatch.setattr(in_worker, "submit", takes_too_much)
    with pytest.raises(rk.errors.CoercionError, match=r"takes more than 0\.3 s"):
        rk.score(math_equal("answer", timeout=0.3), ["5"], answer=["\\ln 17"])


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (5, "5"),
        (0.5, "\\frac12"),
        (1e-7, "0.0000001"),
        (Decimal("2.50"), "2.5"),
        (Fraction(1, 3), "\\frac{1}{3}"),
        (-3, "-3"),
    ],
)
def test_a_gold_may_be_a_number(gold: Any, answer: str) -> None:
    assert value(boxed(answer), gold) == 1.0


def test_a_gold_may_be_boxed_or_have_its_own_extractor() -> None:
    assert value("5", "\\boxed{5}") == 1.0
    assert value("\\boxed{4, 5}", "So $x$ is $\\boxed{5}$ or $\\boxed{4}$.") == 1.0
    assert value("\\boxed{41}", "First 41, then \\boxed{5}.") == 0.0
    assert scored(["5"], ["long\n#### 5"], gold=rk.extract.after("####")).total.tolist() == [1.0]
    reward = math_equal("answer", gold=rk.extract.boxed(), extract=rk.extract.after("A:"))
    assert rk.score(reward, ["A: 5"], answer=["long\n\\boxed{5}"]).total.tolist() == [1.0]


@pytest.mark.parametrize(
    ("answer", "gold"),
    [("17 \\times 24", "408"), ("\\frac{816}{2}", "408"), ("\\sqrt{16}", "4"), ("17 \\times 24 \\pi", "408\\pi")],
)
def test_expressions_count_only_on_request(answer: str, gold: str) -> None:
    assert value(boxed(answer), gold) == 0.0
    assert value(boxed(answer), gold, allow_unevaluated=True) == 1.0


def test_a_miss_says_why() -> None:
    table = scored([boxed("41"), boxed("17 + 25"), "", boxed("\\sqrt[3]{4}")], ["42", "42", "42", "\\sqrt[3]{2}"])
    assert table.notes["math_equal"] == [
        "'41' is not '42'",
        "'17 + 25' is not a number. The gold answer is '42'",
        "no answer found",
        "'\\\\sqrt[3]{4}' is not equal",
    ]


def test_it_works_off_the_main_thread() -> None:
    with ThreadPoolExecutor(2) as threads:
        scores = list(threads.map(lambda answer: value(boxed(answer), "\\ln 4"), ["2 \\ln 2", "\\ln 5"]))
    assert scores == [1.0, 0.0]


@pytest.mark.parametrize("timeout", [0, -1, 61, float("nan"), float("inf"), "3", True, None])
def test_impossible_timeouts_are_refused(timeout: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="math_equal"):
        math_equal("answer", timeout=timeout)


def test_it_prints_pickles_and_compares() -> None:
    reward = math_equal("answer", allow_unevaluated=True, timeout=1.0)
    assert repr(reward) == "math_equal('answer', allow_unevaluated=True, timeout=1.0)"
    assert pickle.loads(pickle.dumps(reward)) == reward != math_equal("answer")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.rewards.math_equal.reward.find_spec", lambda name: None)
    with pytest.raises(rk.errors.MissingExtraError, match="math"):
        math_equal("answer")


_LATEX = st.text("0123456789xyab+-*/^_=,.(){}[]\\$ %!|&<>") | st.lists(
    st.sampled_from(
        [
            "\\frac",
            "\\sqrt",
            "{",
            "}",
            "1",
            "2",
            "x",
            "\\pi",
            "+",
            "-",
            "^",
            ",",
            "(",
            ")",
            "\\text{a}",
            "\\pm",
            "=",
            " ",
        ]
    )
).map("".join)


@given(st.text() | _LATEX)
def test_any_text_next_to_a_number_scores_within_bounds(text: str) -> None:
    assert value(f"<answer>{text}</answer>", "7/3") in (0.0, 1.0)
    assert value(text, "\\text{even}") in (0.0, 1.0)


_NUMERALS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.integers(0, 10**9).map("{:,}".format),
    st.decimals(-1000, 1000, places=3).map(str),
    st.tuples(st.integers(-99, 99), st.integers(1, 99)).map(lambda pair: f"\\frac{{{pair[0]}}}{{{pair[1]}}}"),
    st.integers(0, 100).map("{}\\%".format),
)


@given(_NUMERALS, st.sampled_from(["{}", "${}$", "\\({}\\)", "x = {}", "{} \\text{{ cm}}", "{}.", "({})"]))
def test_the_gold_number_scores_in_any_formatting(gold: str, dress: str) -> None:
    if ("%" in gold and "cm" in dress) or ("," in gold and "(" in dress):
        return  # (1,000) is a pair
    assert value(boxed(dress.format(gold)), gold) == 1.0


@given(_NUMERALS, _NUMERALS)
def test_equality_of_plain_numbers_is_symmetric(one: str, other: str) -> None:
    assert value(boxed(one), other, allow_unevaluated=True) == value(boxed(other), one, allow_unevaluated=True)


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("a + A", "2a", 0.0), ("R^2", "r^2", 0.0), ("1", "xy=1", 0.0), ("x=1", "xy=1", 0.0),
        ("2\\sqrt{3}", "AB = 2\\sqrt{3}", 1.0), ("2^{2018}", "2^{2018}", 1.0), ("2^{2017}", "2^{2018}", 0.0),
    ],
)  # fmt: skip
def test_letters_products_and_powers_too_high_to_work_out(answer: str, gold: str, score: float) -> None:
    table = rk.score(rk.math_equal("answer"), [f"\\boxed{{{answer}}}"], answer=[gold])
    assert table.total.tolist() == [score]


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("2,1", "x=1,y=2", 0.0), ("(1,2)", "x=1,y=2", 1.0), ("y=2,x=1", "x=1,y=2", 1.0), ("2,1", "x=1,x=2", 1.0),
        ("1<x<2", "1,2", 0.0), ("-1<x<3", "-1, 3", 0.0), ("f(x)", "f'(x)", 0.0), ("25", "x^2+y^2=25", 0.0),
        ("a<-1 \\text{ and } a>2", "a<-1 \\text{ or } a>2", 0.0),
        ("a<-1 \\text{ or } a>2", "a<-1 \\text{ or } a>2", 1.0), ("1, 2", "x = 1 \\text{ or } x = 2", 1.0),
        ("5\\text{K}", "5", 0.0), ("5 \\text{ lakh}", "5", 0.0), ("5 \\text{ apples}", "5", 1.0),
        ("10080", "10,\\! 080", 1.0), ("\u00bd", "1/2", 1.0), ("\u221a3", "\\sqrt{3}", 1.0),
        ("0.\\bar{3}", "\\frac13", 1.0),
    ],
)  # fmt: skip
def test_names_ends_connectives_and_other_ways_of_writing(answer: str, gold: str, score: float) -> None:
    table = rk.score(rk.math_equal("answer"), [f"\\boxed{{{answer}}}"], answer=[gold])
    assert table.total.tolist() == [score]


@pytest.mark.parametrize(
    ("completion", "score"),
    [
        ("#### The answer is 72", 1.0), ("#### Step 1: 71\nThe answer is 72", 1.0), ("x = -\\boxed{72}", 0.0),
        ("<answer>The answer is 72</answer>", 1.0), ("<answer>The answer is not 72</answer>", 0.0),
    ],
)  # fmt: skip
def test_leads_headings_and_the_sign_of_a_box(completion: str, score: float) -> None:
    assert rk.score(rk.math_equal("answer"), [completion], answer=["72"]).total.tolist() == [score]
