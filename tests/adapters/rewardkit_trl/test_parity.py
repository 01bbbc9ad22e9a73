"""TRL's own rewards beside ours: equal where they mean the same, and where they differ, how."""

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
def test_think_format_where_ours_is_kinder(completion: str) -> None:
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


@given(st.integers(0, 120), st.integers(1, 100), st.data())
def test_soft_overlong_punishment_is_the_same(tokens: int, longest: int, data: st.DataObject) -> None:
    buffer = data.draw(st.integers(0, longest))
    expected = rewards.get_soft_overlong_punishment(longest, buffer)([[7] * tokens])
    assert (
        rk.score(rk.overlong_penalty(longest, buffer), [""], completion_ids=[[7] * tokens]).total.tolist() == expected
    )


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
    reward = rk.cosine_length(rk.exact("solution"), 100)
    table = rk.score(reward, [completion], completion_ids=[[7] * tokens], solution=["\\frac{1}{3}"])
    assert math.isclose(table.total[0], expected)
