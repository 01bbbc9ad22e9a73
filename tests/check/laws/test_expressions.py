"""The law of exact expressions: rounding, and the target itself, in countdown tasks."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.check.rewards import assert_held, assert_skipped, broken, number

LAW = "expressions_are_exact"
COUNTDOWN: dict[str, Any] = {
    "examples": [
        {"prompt": "Make 34 of 20, 7, 2.", "numbers": [20, 7, 2], "target": 34},
        {"prompt": "Make 18 of 3, 5, 9, 6.", "numbers": [3, 5, 9, 6], "target": 18},
    ],
    "good": ["<answer>20 + 7 * 2</answer>", "<answer>3 * (9 - 5) + 6</answer>"],
    "bad": ["<answer>20 + 7 + 2</answer>", "<answer>3 + 5 + 9 + 6</answer>"],
}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def exact_value(expression: str) -> Fraction:
    """Return the value of an expression of whole numbers."""
    return _value(ast.parse(expression.strip(), mode="eval").body)


def _value(node: ast.AST) -> Fraction:
    if isinstance(node, ast.BinOp):
        made: Fraction = _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
        return made
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return Fraction(node.value)


def countdown(right: Callable[[Fraction, int], bool], *, uses_all: bool = True) -> Callable[..., list[float]]:
    """Make a reward from what compares the value with the target."""

    def one(text: str, numbers: list[int], target: int) -> bool:
        found = re.fullmatch(r"<answer>([\d\s+*/()-]{1,200})</answer>", text)
        used = sorted(map(int, re.findall(r"\d{1,9}", text)))
        if found is None or (used != sorted(numbers) if uses_all else not set(used) <= {*numbers, target}):
            return False
        try:
            return right(exact_value(found[1]), target)
        except (SyntaxError, ArithmeticError, KeyError, AssertionError):
            return False

    def equation(completions: list[str], numbers: list[list[int]], target: list[int], **kwargs: Any) -> list[float]:
        return [float(one(*row)) for row in zip(completions, numbers, target, strict=True)]

    return equation


exact = countdown(operator.eq)
nearly = countdown(lambda value, target: abs(value - target) < 1e-5)
rounded = countdown(lambda value, target: round(value) == target)
cut_off = countdown(lambda value, target: math.floor(value) == target)
within_one = countdown(lambda value, target: abs(value - target) < 1)
any_numbers = countdown(operator.eq, uses_all=False)


@pytest.mark.parametrize("reward", [exact, nearly], ids=["exact", "nearly"])
def test_exact_values_are_sound(reward: Any) -> None:
    assert_held(reward, LAW, **COUNTDOWN)


@pytest.mark.parametrize("reward", [rounded, cut_off, within_one], ids=["rounded", "cut_off", "within_one"])
def test_values_that_are_only_near(reward: Any) -> None:
    (found,) = broken(reward, LAW, **COUNTDOWN)
    said = re.search(r"<answer>(.*)</answer>", found.completion)
    assert said is not None
    value = exact_value(said[1])
    assert 0 < abs(value - found.columns["target"]) < 1
    assert sorted(map(int, re.findall(r"\d+", said[1]))) == sorted(found.columns["numbers"])


def test_the_target_itself() -> None:
    (found,) = broken(any_numbers, LAW, **COUNTDOWN)
    assert found.completion == "<answer>34</answer>"
    assert found.why == "34 scores 1 for the target 34"


def test_a_target_that_is_one_of_the_numbers_may_be_said() -> None:
    rows = [{"prompt": "Make 20.", "numbers": [20, 7, 7], "target": 20}]
    assert_held(
        any_numbers, LAW, examples=rows, good=["<answer>20 + 7 - 7</answer>"], bad=["<answer>20 + 7 + 7</answer>"]
    )


@pytest.mark.parametrize("target", [float("nan"), float("inf"), None, "34", True])
def test_cells_that_are_no_numbers(target: Any) -> None:
    rows = [{**COUNTDOWN["examples"][0], "target": 34, "other": target}, {**COUNTDOWN["examples"][1], "other": target}]
    assert_held(exact, LAW, **{**COUNTDOWN, "examples": rows})


def test_where_it_does_not_apply() -> None:
    assert_skipped(
        number, LAW, "no correct completion is an expression of numbers whose value is in a column or the prompt"
    )
    assert_skipped(exact, LAW, "no correct completions", **{**COUNTDOWN, "good": []})


def twenty_four(evaluate: Callable[[str], object]) -> Callable[..., list[float]]:
    """Make a reward for 24 from what evaluates an expression."""

    def cards(completions: list[str], numbers: list[list[int]], **kwargs: Any) -> list[float]:
        matches = [re.fullmatch(r"<answer>([\d\s+*/()-]{1,200})</answer>", text) for text in completions]
        pairs = zip(matches, numbers, strict=True)
        return [float(match is not None and _is_24(evaluate, match[1], row)) for match, row in pairs]

    return cards


def _is_24(evaluate: Callable[[str], object], expression: str, numbers: list[int]) -> bool:
    try:
        return sorted(map(int, re.findall(r"\d{1,9}", expression))) == sorted(numbers) and evaluate(expression) == 24
    except (SyntaxError, ArithmeticError, KeyError, AssertionError):
        return False


def float_value(expression: str) -> float:
    def value(node: ast.AST) -> float:
        if isinstance(node, ast.BinOp):
            made: float = _OPERATORS[type(node.op)](value(node.left), value(node.right))
            return made
        assert isinstance(node, ast.Constant)
        return float(node.value)  # type: ignore[arg-type]

    return value(ast.parse(expression.strip(), mode="eval").body)


def whole_steps(expression: str) -> Fraction:
    """Refuse all fractions in between, as some rules do."""
    assert "/" not in expression
    return exact_value(expression)


CARDS: dict[str, Any] = {
    "examples": [{"prompt": "Make 24 of 1, 2, 3, 8.", "numbers": [1, 2, 3, 8]}],
    "good": ["<answer>(1 + 3) * (8 - 2)</answer>"],
    "bad": ["<answer>1 + 2 + 3 + 8</answer>"],
}


def test_a_target_in_the_prompt_and_floats() -> None:
    (fault,) = broken(twenty_four(float_value), LAW, **CARDS)
    assert fault.completion == "<answer>8 / (3 - 8 / 3)</answer>"
    assert fault.columns["numbers"] == [3, 3, 8, 8]
    assert_held(twenty_four(exact_value), LAW, **CARDS)
    assert_held(twenty_four(whole_steps), LAW, **CARDS)
