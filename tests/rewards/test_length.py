"""Length: the same numbers as TRL's functions, in tokens, words and characters."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(reward: rk.Reward, completion: str = "", ids: list[int] | None = None, **columns: Any) -> float:
    return float(rk.score(reward, [completion], completion_ids=None if ids is None else [ids], **columns).total[0])


@pytest.mark.parametrize(("words", "credit"), [(0, 0.0), (1, 0.0), (2, 1.0), (4, 1.0), (5, 0.0)])
def test_length_between_words(words: int, credit: float) -> None:
    assert value(rk.length.between(2, 4, unit="words"), "word " * words) == credit


@pytest.mark.parametrize(
    ("tokens", "credit"), [(0, 0.0), (5, 0.5), (10, 1.0), (20, 1.0), (25, 0.5), (30, 0.0), (99, 0.0)]
)
def test_a_margin_falls_to_zero(tokens: int, credit: float) -> None:
    assert value(rk.length.between(10, 20, margin=10), "x", [7] * tokens) == credit


@pytest.mark.parametrize(
    ("completion", "length"),
    [("ab  c\n\nd", 6), ("", 0), ("\u200b\u2060 \u200b", 0), ("a\u200bb", 2), ("<think>a</think>b", 17), (" a ", 1)],
)
def test_characters_are_what_is_seen(completion: str, length: int) -> None:
    assert value(rk.length.between(length, length, unit="characters"), completion) == 1.0


def test_an_extractor_says_what_is_counted() -> None:
    reward = rk.length.between(1, 2, unit="words", extract=rk.extract.tag("answer"))
    assert value(reward, "many many many words <answer>two words</answer>") == 1.0
    assert value(reward, "none") == 0.0


def test_too_long_to_read_is_not_nothing_found() -> None:
    whole = rk.extract.whole()
    for words in (99_000, 100_001):
        assert value(rk.length.overlong(100, 10, unit="words", extract=whole), "x " * words) == -1.0
        assert value(rk.length.between(0, 10, unit="words", extract=whole), "x " * words) == 0.0
    table = rk.score(rk.length.between(0, math.inf, unit="words", extract=whole), ["x " * 100_001])
    assert (table.total[0], table.notes["length_between"]) == (0.0, ["longer than 200,000 characters"])
    assert value(rk.length.between(0, 10, unit="words", extract=rk.extract.tag("answer")), "none") == 1.0
    assert value(rk.length.between(100_001, 100_001, unit="words"), "x " * 100_001) == 1.0


@pytest.mark.parametrize("hidden", ["\ufe0f", "\u2800", "\x00", "\ud800", "\u0301", "\U000e0100", "\U0001d159"])
def test_invisible_characters_have_no_length(hidden: str) -> None:
    assert value(rk.length.between(0, 0, unit="words"), f"{hidden} " * 6) == 1.0
    assert value(rk.length.between(5, 9, unit="words"), f"{hidden} " * 6) == 0.0


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (rk.length.between(1, 2, unit="words", margin=1), rk.length.between(1.0, 2.0, unit="words", margin=1.0)),
        (rk.length.overlong(10, 2), rk.length.overlong(10.0, 2.0)),  # type: ignore[arg-type]
    ],
)
def test_equal_rewards_have_equal_reprs(one: rk.Reward, same: rk.Reward) -> None:
    assert one == same
    assert (one.fingerprint, repr(one)) == (same.fingerprint, repr(same))


def test_tokens_need_ids() -> None:
    with pytest.raises(rk.errors.BindingError, match="completion_ids"):
        rk.score(rk.length.between(1, 2), ["a"])


@pytest.mark.parametrize(
    ("make", "arguments", "options"),
    [
        (rk.length.between, (2, 1), {}), (rk.length.between, (-1, 1), {}), (rk.length.between, (1, 2), {"margin": -1}),
        (rk.length.between, (1, 2), {"unit": "lines"}), (rk.length.between, (1, 2), {"extract": rk.extract.whole()}),
        (rk.length.overlong, (10, 11), {}), (rk.length.overlong, (0, 0), {}), (rk.length.overlong, (10, -1), {}),
    ],
)  # fmt: skip
def test_options_are_checked(make: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises(rk.RewardDefinitionError):
        make(*arguments, **options)


@given(st.integers(0, 60), st.integers(1, 40), st.data())
def test_the_overlong_penalty_is_trls(tokens: int, longest: int, data: st.DataObject) -> None:
    rewards = pytest.importorskip("trl.rewards")
    buffer = data.draw(st.integers(0, longest))
    ids = [1] * tokens
    theirs = rewards.get_soft_overlong_punishment(longest, buffer)([ids])[0]
    assert value(rk.length.overlong(longest, buffer), "", ids) == theirs


_TURNS = [
    {"role": "assistant", "content": "one two", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    {"role": "tool", "name": "f", "content": "a long result of nine words, all not its own"},
    {"role": "assistant", "content": "<think>hm</think> three"},
]


@pytest.mark.parametrize(("count", "words"), [("trajectory", 4), ("answer", 1)])
def test_lengths_of_trajectories_count_what_the_policy_said(count: Any, words: int) -> None:
    def between(low: int) -> rk.Reward:
        return rk.length.between(low, low, unit="words", count=count)

    assert rk.score(between(words), [_TURNS]).total[0] == 1.0
    assert f"count={count!r}" in repr(between(words))
    penalty = rk.length.overlong(4, 4, unit="words", count=count)
    assert rk.score(penalty, [_TURNS]).total[0] == -(words) / 4


def test_tokens_cannot_be_told_apart() -> None:
    with pytest.raises(rk.RewardDefinitionError, match='unit="words"'):
        rk.length.between(1, 2, count="answer")
    with pytest.raises(rk.RewardDefinitionError, match="count must be one of"):
        rk.length.between(1, 2, unit="words", count="result")  # type: ignore[arg-type]
