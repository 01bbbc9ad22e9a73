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
    assert value(rk.length_between(2, 4, unit="words"), "word " * words) == credit


@pytest.mark.parametrize(
    ("tokens", "credit"), [(0, 0.0), (5, 0.5), (10, 1.0), (20, 1.0), (25, 0.5), (30, 0.0), (99, 0.0)]
)
def test_a_margin_falls_to_zero(tokens: int, credit: float) -> None:
    assert value(rk.length_between(10, 20, margin=10), "x", [7] * tokens) == credit


@pytest.mark.parametrize(
    ("completion", "length"),
    [("ab  c\n\nd", 6), ("", 0), ("\u200b\u2060 \u200b", 0), ("a\u200bb", 2), ("<think>a</think>b", 17), (" a ", 1)],
)
def test_characters_are_what_is_seen(completion: str, length: int) -> None:
    assert value(rk.length_between(length, length, unit="characters"), completion) == 1.0


def test_an_extractor_says_what_is_counted() -> None:
    reward = rk.length_between(1, 2, unit="words", extract=rk.extract.tag("answer"))
    assert value(reward, "many many many words <answer>two words</answer>") == 1.0
    assert value(reward, "none") == 0.0


def test_too_long_to_read_is_not_nothing_found() -> None:
    whole = rk.extract.whole()
    for words in (99_000, 100_001):
        assert value(rk.overlong_penalty(100, 10, unit="words", extract=whole), "x " * words) == -1.0
        assert value(rk.length_between(0, 10, unit="words", extract=whole), "x " * words) == 0.0
    table = rk.score(rk.length_between(0, math.inf, unit="words", extract=whole), ["x " * 100_001])
    assert (table.total[0], table.notes["length_between"]) == (0.0, ["longer than 200,000 characters"])
    assert value(rk.length_between(0, 10, unit="words", extract=rk.extract.tag("answer")), "none") == 1.0
    assert value(rk.length_between(100_001, 100_001, unit="words"), "x " * 100_001) == 1.0


@pytest.mark.parametrize("hidden", ["\ufe0f", "\u2800", "\x00", "\ud800", "\u0301", "\U000e0100", "\U0001d159"])
def test_invisible_characters_have_no_length(hidden: str) -> None:
    assert value(rk.length_between(0, 0, unit="words"), f"{hidden} " * 6) == 1.0
    assert value(rk.length_between(5, 9, unit="words"), f"{hidden} " * 6) == 0.0


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (rk.length_between(1, 2, unit="words", margin=1), rk.length_between(1.0, 2.0, unit="words", margin=1.0)),
        (rk.overlong_penalty(10, 2), rk.overlong_penalty(10.0, 2.0)),  # type: ignore[arg-type]
        (rk.cosine_length(rk.exact("a"), 10, right=(0, 1)), rk.cosine_length(rk.exact("a"), 10.0, right=(0.0, 1.0))),  # type: ignore[arg-type]
    ],
)
def test_equal_rewards_have_equal_reprs(one: rk.Reward, same: rk.Reward) -> None:
    assert one == same
    assert (one.fingerprint, repr(one)) == (same.fingerprint, repr(same))


def test_a_threshold_must_be_in_reach() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="never reaches threshold=2"):
        rk.cosine_length(rk.exact("a"), 10, threshold=2.0)


def test_tokens_need_ids() -> None:
    with pytest.raises(rk.BindingError, match="completion_ids"):
        rk.score(rk.length_between(1, 2), ["a"])


@pytest.mark.parametrize(
    ("make", "arguments", "options"),
    [
        (rk.length_between, (2, 1), {}), (rk.length_between, (-1, 1), {}), (rk.length_between, (1, 2), {"margin": -1}),
        (rk.length_between, (1, 2), {"unit": "lines"}), (rk.length_between, (1, 2), {"extract": rk.extract.whole()}),
        (rk.overlong_penalty, (10, 11), {}), (rk.overlong_penalty, (0, 0), {}), (rk.overlong_penalty, (10, -1), {}),
        (rk.cosine_length, (rk.exact("a"), 0), {}), (rk.cosine_length, (rk.exact("a"), 10), {"right": (1.0,)}),
        (rk.cosine_length, (5, 10), {}),
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
    assert value(rk.overlong_penalty(longest, buffer), "", ids) == theirs


@given(st.integers(0, 300), st.integers(1, 200), st.booleans())
def test_the_cosine_is_that_of_trls_formula(tokens: int, longest: int, right: bool) -> None:
    reward = rk.cosine_length(rk.exact("answer"), longest)
    low, high = (0.5, 1.0) if right else (-0.5, -1.0)
    expected = low + 0.5 * (high - low) * (1.0 + math.cos(min(tokens / longest, 1.0) * math.pi))
    assert value(reward, "a" if right else "b", [1] * tokens, answer=["a"]) == expected


def test_cosine_length_follows_what_says_right() -> None:
    @rk.reward
    def maybe(completion: str) -> float | None:
        return None if completion == "skip" else 1.0

    table = rk.score(rk.cosine_length(maybe, 100), ["skip", "a"], completion_ids=[[1] * 50] * 2)
    assert [outcome.name for outcome in table.outcomes["cosine_length"]] == ["ABSTAINED", "SCORED"]
    assert table.total[1] == pytest.approx(0.75)
    assert rk.cosine_length(maybe, 100).bounds == (-1.0, 1.0)
    assert {"maybe", "cosine_length", "completion_tokens"} <= set(table.outcomes)


def words_of(numbers: list[int], rights: list[bool]) -> list[str]:
    return [" ".join(["right" if right else "wrong"] * number) for number, right in zip(numbers, rights, strict=True)]


@rk.reward
def is_right(completion: str) -> float | None:
    if "down" in completion:
        raise rk.RewardFailure("down")
    return None if "skip" in completion else float("right" in completion)


SHORTEST = rk.shortest_correct(is_right, unit="words")


def test_the_shortest_correct_is_the_best_and_wrong_ones_get_nothing() -> None:
    reward = rk.shortest_correct(is_right)
    completions = ["right", "right", "right", "wrong"]
    table = rk.score(reward, completions, completion_ids=[[1] * 20, [1] * 30, [1] * 40, [1]])
    assert table.total.tolist() == [1.0, 0.75, 0.5, 0.0]
    assert table["completion_tokens"].tolist() == [20.0, 30.0, 40.0, 1.0]
    assert rk.score(SHORTEST, ["right right", "right right"]).total.tolist() == [1.0, 1.0]
    assert rk.score(SHORTEST, ["right"]).total.tolist() == [1.0]
    assert rk.score(SHORTEST, ["wrong", "wrong wrong"]).total.tolist() == [0.0, 0.0]
    assert rk.score(SHORTEST, []).total.tolist() == []


def test_shortest_correct_follows_what_says_right() -> None:
    table = rk.score(SHORTEST, ["right " * 3, "skip", "down", "right", "right " * 9], prompts=[*"aaaab"])
    assert [str(outcome) for outcome in table.outcomes["shortest_correct"]] == [
        *("scored", "abstained", "failed", "scored", "scored")
    ]
    assert table.total[[0, 3, 4]].tolist() == [0.5, 1.0, 1.0]


def naive_shortest(numbers: list[int], rights: list[bool], low: float) -> list[float]:
    lengths = [number for number, right in zip(numbers, rights, strict=True) if right]
    found = []
    for number, right in zip(numbers, rights, strict=True):
        spread = max(lengths) - min(lengths) if right else 0
        found.append(float(right) if not spread else 1.0 - (1.0 - low) * (number - min(lengths)) / spread)
    return found


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=5), max_size=4),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_shortest_correct_is_what_a_naive_reading_gives(groups: list[list[tuple[int, bool]]], low: float) -> None:
    completions, prompts, expected = [], [], []
    for place, group in enumerate(groups):
        numbers, rights = [number for number, _ in group], [right for _, right in group]
        completions += words_of(numbers, rights)
        prompts += [f"prompt {place}"] * len(group)
        expected += naive_shortest(numbers, rights, low)
    reward = rk.shortest_correct(is_right, low=low, unit="words")
    assert rk.score(reward, completions, prompts=prompts).total.tolist() == pytest.approx(expected)


def test_shortest_correct_in_a_gate_still_sees_its_group() -> None:
    opened = rk.reward(name="opened")(lambda completion: float("x" not in completion))
    completions = ["right", "right right right", "right right right right x"]
    assert rk.score(rk.gate(opened, SHORTEST), completions).total.tolist() == [1.0, 0.75, 0.0]
    assert rk.rank_in_group(SHORTEST).facts.together == SHORTEST.facts.together == "group"


def test_rewards_by_length_can_be_combined() -> None:
    tree = SHORTEST + rk.shortest_correct(is_right) + rk.cosine_length(is_right, 10) + rk.cosine_length(is_right, 20)
    table = rk.score(tree, ["right"], completion_ids=[[1] * 10])
    assert table.total[0] == pytest.approx(1.0 + 1.0 + 0.5 + 0.75)
    assert {"completion_words", "completion_tokens"} < set(table.components)


def test_the_options_of_shortest_correct_are_checked_and_printed() -> None:
    half = rk.shortest_correct(is_right, low=0.25, threshold=0.5, unit="characters")
    assert repr(half) == "shortest_correct(is_right, low=0.25, threshold=0.5, unit='characters')"
    assert half.bounds == (0.0, 1.0)
    makes: list[tuple[Any, dict[str, Any], str]] = [
        (is_right, {"low": 1.5}, "low .*got 1.5"),
        (is_right, {"low": math.nan}, "low must be finite"),
        (is_right, {"threshold": 1.5}, "is_right is 1, .* threshold=1.5"),
        (is_right, {"unit": "lines"}, "shortest_correct: unit .*tokens, words, characters"),
        (3, {}, "shortest_correct: correct must be a reward"),
    ]
    for correct, options, message in makes:
        with pytest.raises(rk.RewardDefinitionError, match=message):
            rk.shortest_correct(correct, **options)
    with pytest.raises(rk.BindingError, match="completion_ids"):
        rk.score(rk.shortest_correct(is_right), ["right"])
