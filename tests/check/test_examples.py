"""Examples: rows and their completions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.check.examples import Example, examples_of, grouped
from rewardkit.testing import check_reward

ROWS: list[dict[str, Any]] = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
CHAT = [{"role": "assistant", "content": "42"}]


@given(st.integers(1, 5), st.integers(0, 7))
def test_one_completion_for_each_example_or_all_of_them_for_every_one(rows: int, texts: int) -> None:
    good = [f"text {number}" for number in range(texts)]
    found = examples_of([{"answer": number} for number in range(rows)], good)
    assert [example.columns for example in found] == [{"answer": number} for number in range(rows)]
    for number, example in enumerate(found):
        assert example.good == ((good[number],) if texts == rows else tuple(good))
        assert example.bad == ()


def test_a_list_for_each_example() -> None:
    found = examples_of(ROWS, good=[["a", "b"], ["c"]], bad=["x", "y", "z"])
    assert [example.good for example in found] == [("a", "b"), ("c",)]
    assert [example.bad for example in found] == [("x", "y", "z")] * 2


def test_chat_messages_are_one_completion() -> None:
    assert [example.good for example in examples_of(ROWS, good=[CHAT, CHAT])] == [(CHAT,), (CHAT,)]
    assert [example.good for example in examples_of(ROWS, good=[[CHAT, "42"], [CHAT]])] == [(CHAT, "42"), (CHAT,)]
    assert examples_of(ROWS[:1], good=[CHAT, CHAT])[0].good == (CHAT, CHAT)


def test_a_function_of_the_row() -> None:
    found = examples_of(ROWS, good=lambda row: f"<answer>{row['answer']}</answer>", bad=lambda row: ["", row["prompt"]])
    assert [example.good for example in found] == [("<answer>42</answer>",), ("<answer>7</answer>",)]
    assert [example.bad for example in found] == [("", "6*7?"), ("", "3+4?")]


def test_a_function_cannot_change_the_rows() -> None:
    def spoils(row: dict[str, Any]) -> str:
        row["answer"] = "spoilt"
        return "a"

    assert examples_of(ROWS, good=spoils)[0].columns == {"answer": "42"}
    assert ROWS[0] == {"prompt": "6*7?", "answer": "42"}


def test_rows_with_a_completion_join_their_example_or_make_one() -> None:
    good = [{**ROWS[1], "completion": "seven"}, {"prompt": "1+1?", "answer": "2", "completion": "two"}]
    bad = [{**ROWS[1], "completion": "eight"}]
    found = examples_of(ROWS, good=good, bad=bad)
    assert found[0] == Example("6*7?", {"answer": "42"})
    assert found[1] == Example("3+4?", {"answer": "7"}, ("seven",), ("eight",))
    assert found[2] == Example("1+1?", {"answer": "2"}, ("two",))


def test_the_shown_columns_of_an_example() -> None:
    assert Example("6*7?", {"answer": "42"}, ("42",)).shown == {"prompt": "6*7?", "answer": "42"}
    assert Example(None, {"answer": "42"}).shown == {"answer": "42"}
    assert examples_of([{"prompts": "plural", "completion": "no column"}])[0] == Example("plural")
    assert examples_of([{}]) == (Example(),)
    assert examples_of(row for row in ROWS) == examples_of(ROWS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([],), "at least one row"),
        (("6*7?",), "examples="),
        (({"answer": "42"},), "examples="),
        ((["6*7?"],), r"examples\[0\]"),
        ((ROWS, "<answer>42</answer>"), "good= must be a list"),
        ((ROWS, [], "no"), "bad="),
        ((ROWS, 3), "good="),
    ],
)
def test_arguments_of_the_wrong_type_are_errors(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(rk.errors.BindingError, match=says):
        examples_of(*arguments)


def test_rows_with_the_same_prompt_and_columns_are_one_group() -> None:
    rows = [{"prompt": "Tell a story."}, {"prompt": "Tell a story."}, {"prompt": "Tell a joke."}]
    known = grouped(examples_of(rows, ["a", "b", "c"], ["x", "x", "y"]))
    assert [(one.good, one.bad) for one in known] == [(("a", "b"), ("x", "x")), (("c",), ("y",))]
    assert len(grouped(examples_of(ROWS, ["a", "b"]))) == 2
    assert len(grouped(examples_of([{"answer": "1"}, {"answer": "1"}]))) == 2  # without a prompt, nobody knows


def test_rows_with_arrays_stay_apart() -> None:
    rows = [{"prompt": "6*7?", "steps": np.arange(3)}, {"prompt": "6*7?", "steps": np.arange(3)}]
    assert len(grouped(examples_of(rows))) == 2
    rows = [{"prompt": np.array([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])} for _ in "ab"]
    assert len(grouped(examples_of(rows))) == 2


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"call": []}, "a completion must be text, messages, or"),
        ({"calls": ["open"]}, r"the calls are \['open'\]"),
        ({"calls": [("open", {})], "anwser": "18"}, "it also has 'anwser'"),
    ],
)
def test_calls_that_are_written_wrong_are_refused(written: Any, problem: str) -> None:
    with pytest.raises(rk.errors.BindingError, match=problem):
        check_reward(rk.agents.finished(), examples=[{"prompt": "Open it."}], good=[[written]], laws=["total"])
    with pytest.raises(rk.errors.BindingError, match=problem):
        check_reward(rk.agents.finished(), examples=[{"prompt": "Open it."}], good=[written], laws=["total"])
