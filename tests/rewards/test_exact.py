"""Exact match, ignoring white space and Unicode form."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest

import rewardkit as rk


@pytest.mark.parametrize(
    ("completion", "gold", "value"),
    [
        ("<answer>Paris</answer>", "Paris", 1.0),
        ("<answer> Paris\n </answer>", "Paris", 1.0),
        ("New   York", "New\tYork", 1.0),
        ("<answer>paris</answer>", "Paris", 0.0),
        ("<answer>Paris.</answer>", "Paris", 1.0),
        ("<answer>not Paris</answer>", "Paris", 0.0),
        ("<answer>Paris</answer><answer>Rome</answer>", "Paris", 0.0),
        ("<think>Paris</think>Rome", "Paris", 0.0),
        ("\\boxed{42}", 42, 1.0),
        ("#### 42", "42", 1.0),
        (unicodedata.normalize("NFD", "café"), "café", 1.0),
        ("", "Paris", 0.0),
        ("<answer></answer>", "Paris", 0.0),
        ("\u0420aris", "Paris", 0.0),
    ],
)
def test_exact(completion: str, gold: Any, value: float) -> None:
    table = rk.score(rk.exact("answer"), [completion], answer=[gold])
    assert table.total.tolist() == [value]
    assert bool(table.notes["exact"][0]) == (value == 0.0)


def test_ignore_case_folds() -> None:
    reward = rk.exact("answer", ignore_case=True)
    assert rk.score(reward, ["PARIS", "STRASSE"], answer=["paris", "straße"]).total.tolist() == [1.0, 1.0]


def test_gold_and_answer_have_their_own_extractors() -> None:
    reward = rk.exact("solution", extract=rk.extract.boxed(), gold=rk.extract.after("####"))
    assert rk.score(reward, ["\\boxed{72}", "72"], solution=["6*12\n#### 72"] * 2).total.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("gold", [1.5, True, [], ["a", 1.5], "", "  ", {"a": 1}])
def test_gold_that_is_not_text_is_a_coercion_error(gold: Any) -> None:
    with pytest.raises(rk.errors.CoercionError, match=r"reward 'exact'.*'answer', row 0"):
        rk.score(rk.exact("answer"), ["a"], answer=[gold])


def test_gold_without_what_its_extractor_looks_for_is_the_datas_fault() -> None:
    with pytest.raises(rk.errors.CoercionError, match="no gold answer"):
        rk.score(rk.exact("answer", gold=rk.extract.after("####")), ["a"], answer=["72"])


def test_a_missing_gold_abstains() -> None:
    assert rk.score(rk.exact("answer"), ["a"], answer=[None]).outcomes["exact"].tolist() == ["abstained"]


# Unicode sorts the marks on one character in time quadratic in their number: 190,000 of them took 27 s.
@pytest.mark.parametrize(
    "unit", ["\u0300\u0327", "\u0f73", "\u0344\u0323", "a" + "\u0300\u0327" * 15, "\u1e69", "\u3164"]
)
def test_many_combining_marks_take_linear_time(unit: str) -> None:
    started = time.perf_counter()
    table = rk.score(rk.exact("answer", ignore_case=True), ["a" + unit * (190_000 // len(unit))], answer=["é"])
    assert time.perf_counter() - started < 1.0
    assert table.total.tolist() == [0.0]


@pytest.mark.parametrize(("marks", "value"), [(2, 1.0), (30, 1.0), (31, 0.0)])
def test_marks_are_put_in_order_up_to_the_stream_safe_limit(marks: int, value: float) -> None:
    above, below = "\u0300" * (marks // 2), "\u0327" * (marks - marks // 2)
    assert rk.score(rk.exact("answer"), ["o" + above + below], answer=["o" + below + above]).total.tolist() == [value]
    assert rk.score(rk.exact("answer"), ["o" + above + below], answer=["o" + above + below]).total.tolist() == [1.0]
