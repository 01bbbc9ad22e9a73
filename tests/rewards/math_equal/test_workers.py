"""Computer algebra in the worker: the comparisons that the faster methods cannot make."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rewardkit.rewards.math_equal.notation import clean
from rewardkit.rewards.math_equal.reward import submit


def compared(gold: str, *sides: str, evaluated: bool = True) -> str:
    stated = tuple(map(clean, sides))
    reason: str = submit("compare", clean(gold), stated, timeout=20.0, evaluated=evaluated).result()
    return reason


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("\\ln 8", "3 \\ln 2"), ("\\sqrt[3]{2}", "2^{\\frac13}"), ("\\sin^2 x + \\cos^2 x", "1"),
        ("\\sin 30^\\circ", "\\frac12"),
        ("\\sqrt{3 + 2\\sqrt2}", "1 + \\sqrt2"), ("x^{1/2}", "\\sqrt{x}"), ("0.25 \\ln 3", "\\frac{\\ln 3}{4}"),
        ("\\mathbb{R}", "(-\\infty, \\infty)"),
        ("(-\\infty, 1) \\cup (2, \\infty)", "(2, \\infty) \\cup (-\\infty, 1)"), ("\\pm \\ln 2", "\\ln 2, -\\ln 2"),
        ("5!", "120"),
        ("x > \\ln 2", "\\ln 2 < x"), ("\\binom{5}{2}", "10"),
    ],
)  # fmt: skip
def test_equal(gold: str, answer: str) -> None:
    assert compared(gold, answer) == ""


@pytest.mark.parametrize(
    ("gold", "answer", "reason"),
    [
        ("\\ln 8", "\\ln 9", "is not equal"), ("\\ln 2", "0.693147", "is not equal"),
        ("\\ln 2", "\\ln 2 + 0.000000000000000000001", "is not equal"),
        ("\\sqrt[3]{2}", "1.259921", "is not equal"), ("\\ln 2", "\\ln (2", "cannot be read"),
        ("\\ln 2", "\\frac{0}{0}", "cannot be read"),
        ("10 \\ln 2", "2 \\cdot 5 \\ln 2", "to be evaluated"),
        ("10 \\ln 2", "(7 + 3) \\ln 2", "to be evaluated"),
        ("e^x + x = 0", "1 = 2", "is not equal"), ("x \\ln 2", "y \\ln 2", "is not equal"),
        ("\\ln x", "\\infty", "is not equal"),
    ],
)  # fmt: skip
def test_not_equal(gold: str, answer: str, reason: str) -> None:
    assert reason in compared(gold, answer)


def test_every_side_counts_but_only_the_last_need_be_worked_out() -> None:
    assert compared("10 \\ln 2", "2 \\cdot 5 \\ln 2", "10 \\ln 2") == ""
    assert compared("10 \\ln 2", "3 \\ln 2", "10 \\ln 2") == "is not equal"
    assert compared("10 \\ln 2", "2 \\cdot 5 \\ln 2", evaluated=False) == ""


@pytest.mark.parametrize(
    ("gold", "reason"),
    [("\\ln 2", ""), ("\\frac{1}{", "cannot be read"), ("\\frac{1}{0}", "cannot be read"), ("\\ln 2 = x", "")],
)
def test_golds_are_checked(gold: str, reason: str) -> None:
    assert submit("check", gold, timeout=20.0).result().startswith(reason)


@pytest.mark.slow
def test_the_parent_never_loads_computer_algebra() -> None:
    script = """
import sys
from rewardkit.rewards.math_equal.reward import math_equal
import rewardkit as rk
assert rk.score(math_equal("answer"), ["\\\\boxed{\\\\ln 4}"], answer=["2 \\\\ln 2"]).total.tolist() == [1.0]
assert not {"sympy", "math_verify", "antlr4"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
