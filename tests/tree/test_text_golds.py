"""An argument without an annotation gets text; a function that compares it with a number is told so, and no other."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rewardkit as rk


def counted(completion: str, answer) -> float:  # type: ignore[no-untyped-def]
    return 1.0 if len(completion) == answer else 0.0


def numeric(completion, answer):  # type: ignore[no-untyped-def]
    try:
        return float(float(completion) == answer)
    except ValueError:
        return 0.0


@pytest.mark.parametrize(
    ("function", "completions", "golds", "annotation"),
    [
        (counted, ["abc", "ab"], ["3", "3"], "answer: int"),
        (numeric, ["1.5", "no"], ["1.5", "2"], "answer: float"),
        (numeric, ["41", "42"], ["42", "42"], "answer: int"),
    ],
)
def test_text_compared_with_a_number_warns_once_and_names_the_annotation(
    function: Callable[..., Any], completions: list[str], golds: list[str], annotation: str
) -> None:
    reward = rk.reward(function)
    with pytest.warns(rk.errors.RewardKitWarning, match=f"Annotate the argument: `{annotation}`") as caught:
        table = rk.score(reward, completions, answer=golds)
    assert table.total.tolist() == [0.0, 0.0]
    assert len(caught) == 1
    rk.score(reward, completions, answer=golds)  # warnings are errors here
    assert "'answer'" in str(caught[0].message)


def with_text(completion, answer):  # type: ignore[no-untyped-def]
    return float(completion == answer)


def converts(completion, answer):  # type: ignore[no-untyped-def]
    return float(len(completion) == float(answer))


def strips(completion, answer):  # type: ignore[no-untyped-def]
    return float(answer.strip() in completion)


def as_text(completion, answer):  # type: ignore[no-untyped-def]
    return float(str(answer) in completion)


def annotated(completion: str, answer: str) -> float:
    return float(completion == answer)


@pytest.mark.parametrize("function", [with_text, converts, strips, as_text, annotated])
@pytest.mark.parametrize("golds", [["3", "3"], ["007", "7.50"], ["a", "b"], [3, 4], [None, None], ["3", 3]])
def test_functions_that_read_text_are_left_alone(function: Callable[..., Any], golds: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            rk.score(rk.reward(function), ["7", "7.5"], answer=golds)
        except rk.RewardKitError:
            assert function in (converts, strips, annotated)  # they fail on such golds by themselves


def test_a_function_is_tried_with_few_rows_of_the_first_batches() -> None:
    calls: list[object] = []

    def watched(completion, answer):  # type: ignore[no-untyped-def]
        calls.append(answer)
        return 0.0

    reward = rk.reward(watched)
    for _ in range(9):
        rk.score(reward, [f"text {number}" for number in range(20)], answer=["42"] * 20)
    assert calls.count("42") == 9 * 20
    assert calls.count(42) == 3 * 8
