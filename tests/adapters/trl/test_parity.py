"""TRL's own rewards compared with ours: equal where they mean the same, and different where documented."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk

rewards = pytest.importorskip("trl.rewards")

THINK = rk.tags("think", anchored="start")
SAME = [
    "<think>a</think>42", "<think>\na\n</think>\n42", "<think>a</think>", "<think>a", "a</think>42", "42", "",
    "So <think>a</think>42", "<think>a<think>b</think></think>", "<think>a</think><think>b</think>", "<THINK>a</THINK>",
    "<think>a</think>\n<answer>42</answer>", "<think >a</think>",
]  # fmt: skip
OURS_IS_STRICTER = {
    "<think></think>42": "thinking that says nothing is no thinking",
    "<think> \n</think>42": "and neither is white space",
    "<think>\u200b</think>42": "nor what nobody can see",
    "<think>a</think>b</think>42": "the tag is closed twice",
}
OURS_IS_KINDER = {"\n<think>a</think>42": "white space before the tag does no harm"}


def ours(reward: rk.Reward, completion: object) -> float:
    return float(rk.score(reward, [completion]).total[0])


def theirs(completion: str) -> float:
    return float(rewards.think_format_reward([[{"role": "assistant", "content": completion}]])[0])


@pytest.mark.parametrize("completion", SAME)
def test_think_format_is_the_same(completion: str) -> None:
    assert ours(THINK, completion) == theirs(completion)


@pytest.mark.parametrize("completion", OURS_IS_STRICTER)
def test_think_format_where_ours_is_stricter(completion: str) -> None:
    assert (ours(THINK, completion), theirs(completion)) == (0.0, 1.0)


@pytest.mark.parametrize("completion", OURS_IS_KINDER)
def test_think_format_where_ours_is_more_lenient(completion: str) -> None:
    assert (ours(THINK, completion), theirs(completion)) == (1.0, 0.0)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " ", "\n", "<answer>"]), max_size=8).map("".join))
def test_think_format_differs_for_the_reasons_named(completion: str) -> None:
    if ours(THINK, completion) > theirs(completion):
        assert completion != completion.lstrip()
    if ours(THINK, completion) < theirs(completion):
        thinking = completion.removeprefix("<think>").partition("</think>")[0]
        assert completion.count("</think>") > 1 or not thinking.strip()


def test_the_last_message_is_scored_not_the_first() -> None:
    contents = ["Let me look.", "<think>a</think>42"]
    messages = [{"role": "assistant", "content": content} for content in contents]
    assert (ours(THINK, messages), rewards.think_format_reward([messages])) == (1.0, [0.0])


@pytest.mark.parametrize("content", [None, [{"type": "text", "text": "<think>a</think>42"}]])
def test_contents_that_are_not_text(content: object) -> None:
    messages = [{"role": "assistant", "content": content}]
    with pytest.raises(TypeError):
        rewards.think_format_reward([messages])
    assert ours(THINK, messages) == (0.0 if content is None else 1.0)


@given(st.integers(0, 120), st.integers(1, 100), st.data())
def test_soft_overlong_punishment_is_the_same(tokens: int, longest: int, data: st.DataObject) -> None:
    buffer = data.draw(st.integers(0, longest))
    expected = rewards.get_soft_overlong_punishment(longest, buffer)([[7] * tokens])
    assert rk.score(rk.length.overlong(longest, buffer), [""], completion_ids=[[7] * tokens]).total.tolist() == expected


@given(st.lists(st.integers(0, 4), max_size=90), st.integers(1, 5))
def test_repetition_penalty_is_the_same(ids: list[int], size: int) -> None:
    expected = rewards.get_repetition_penalty_reward(size, -0.5)([ids])
    reward = rk.repetition_penalty(ngram=size, max_penalty=-0.5)
    assert rk.score(reward, [""], completion_ids=[ids]).total.tolist() == expected


@pytest.mark.parametrize("tokens", [0, 1, 49, 50, 99, 100, 500])
@pytest.mark.parametrize("answer", ["\\frac{1}{3}", "\\frac{1}{2}"])
def test_cosine_scaled_reward_is_the_same(tokens: int, answer: str) -> None:
    pytest.importorskip("math_verify")
    completion = f"My answer is \\boxed{{{answer}}}"
    messages = [[{"role": "assistant", "content": completion}]]
    (expected,) = rewards.get_cosine_scaled_reward(100)(messages, ["\\frac{1}{3}"], [[7] * tokens])
    reward = rk.length.cosine(rk.exact("solution"), 100)
    table = rk.score(reward, [completion], completion_ids=[[7] * tokens], solution=["\\frac{1}{3}"])
    assert math.isclose(table.total[0], expected)


MATH = [
    # completion, gold, TRL's score, ours
    ("\\boxed{\\frac{1}{3}}", "\\frac{1}{3}", 1.0, 1.0),
    ("\\boxed{\\frac{1}{2}}", "\\frac{1}{3}", 0.0, 0.0),
    ("\\boxed{0.5}", "$\\frac{1}{2}$", 1.0, 1.0),
    ("\\boxed{\\sqrt{12}}", "$2\\sqrt{3}$", 1.0, 1.0),
    ("\\boxed{x^2 - 1}", "$(x-1)(x+1)$", 1.0, 1.0),
    ("no answer", "$5$", 0.0, 0.0),
    ("\\boxed{17 \\times 24}", "$408$", 1.0, 0.0),  # restates the question
    ("\\boxed{4 = 5}", "$5$", 1.0, 0.0),  # is not true
    ("\\boxed{0.333333}", "$\\frac{1}{3}$", 1.0, 0.0),  # is not a third
    ("\\boxed{\\dfrac12}", "$\\frac{1}{2}$", 0.0, 1.0),  # LaTeX as people write it
    # Gold without dollar signs: TRL reads the 2 alone, or nothing at all and leaves the example out.
    ("\\boxed{2}", "2\\sqrt{3}", 1.0, 0.0),
    ("\\boxed{2\\sqrt{3}}", "2\\sqrt{3}", 0.0, 1.0),
    ("\\boxed{\\text{even}}", "even", None, 1.0),
]


@pytest.mark.parametrize(("completion", "gold", "trl", "expected"), MATH)
def test_accuracy_and_where_ours_differs(completion: str, gold: str, trl: float | None, expected: float) -> None:
    pytest.importorskip("math_verify")
    table = rk.score(rk.math_equal("solution"), [completion], solution=[gold])
    assert rewards.accuracy_reward([[{"role": "assistant", "content": completion}]], [gold]) == [trl]
    assert table.total.tolist() == [expected]


def test_reasoning_accuracy_needs_an_end_of_thinking_and_ours_only_where_there_is_thinking() -> None:
    pytest.importorskip("math_verify")
    reward = rk.math_equal("solution")
    for completion, trl, expected in (
        ("<think>\\boxed{4}?</think> \\boxed{5}", 1.0, 1.0),
        ("<think>\\boxed{5}", 0.0, 0.0),
        ("\\boxed{5}", 0.0, 1.0),
    ):
        messages = [[{"role": "assistant", "content": completion}]]
        assert rewards.reasoning_accuracy_reward(messages, ["$5$"]) == [trl]
        assert rk.score(reward, [completion], solution=["$5$"]).total.tolist() == [expected]
