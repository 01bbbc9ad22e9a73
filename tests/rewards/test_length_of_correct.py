"""Length of correct answers: cosine_length, shortest_correct, kimi_length."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def value(reward: rk.Reward, completion: str = "", ids: list[int] | None = None, **columns: Any) -> float:
    return float(rk.score(reward, [completion], completion_ids=None if ids is None else [ids], **columns).total[0])


def test_equal_rewards_have_equal_reprs() -> None:
    one = rk.length.cosine(rk.exact("a"), 10, right=(0, 1))
    same = rk.length.cosine(rk.exact("a"), 10.0, right=(0.0, 1.0))  # type: ignore[arg-type]
    assert one == same
    assert (one.fingerprint, repr(one)) == (same.fingerprint, repr(same))


@pytest.mark.parametrize("arguments", [(rk.exact("a"), 0), (rk.exact("a"), 10, (1.0,)), (5, 10)])
def test_options_of_cosine_length_are_checked(arguments: tuple[Any, ...]) -> None:
    correct, longest, *right = arguments
    with pytest.raises(rk.RewardDefinitionError):
        rk.length.cosine(correct, longest, **({"right": right[0]} if right else {}))


def test_a_threshold_must_be_in_reach() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="never reaches threshold=2"):
        rk.length.cosine(rk.exact("a"), 10, threshold=2.0)


@given(st.integers(0, 300), st.integers(1, 200), st.booleans())
def test_the_cosine_is_that_of_trls_formula(tokens: int, longest: int, right: bool) -> None:
    reward = rk.length.cosine(rk.exact("answer"), longest)
    low, high = (0.5, 1.0) if right else (-0.5, -1.0)
    expected = low + 0.5 * (high - low) * (1.0 + math.cos(min(tokens / longest, 1.0) * math.pi))
    assert value(reward, "a" if right else "b", [1] * tokens, answer=["a"]) == expected


def test_cosine_length_follows_what_says_right() -> None:
    @rk.reward
    def maybe(completion: str) -> float | None:
        return None if completion == "skip" else 1.0

    table = rk.score(rk.length.cosine(maybe, 100), ["skip", "a"], completion_ids=[[1] * 50] * 2)
    assert [outcome.name for outcome in table.outcomes["length_cosine"]] == ["ABSTAINED", "SCORED"]
    assert table.total[1] == pytest.approx(0.75)
    assert rk.length.cosine(maybe, 100).bounds == (-1.0, 1.0)
    assert {"maybe", "length_cosine", "completion_tokens"} <= set(table.outcomes)


def words_of(numbers: list[int], rights: list[bool]) -> list[str]:
    return [" ".join(["right" if right else "wrong"] * number) for number, right in zip(numbers, rights, strict=True)]


@rk.reward
def is_right(completion: str) -> float | None:
    if "down" in completion:
        raise rk.RewardFailure("down")
    return None if "skip" in completion else float("right" in completion)


SHORTEST = rk.length.shortest_correct(is_right, unit="words")


def test_the_shortest_correct_is_the_best_and_wrong_ones_get_nothing() -> None:
    reward = rk.length.shortest_correct(is_right)
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
    assert [str(outcome) for outcome in table.outcomes["length_shortest_correct"]] == [
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
    reward = rk.length.shortest_correct(is_right, low=low, unit="words")
    assert rk.score(reward, completions, prompts=prompts).total.tolist() == pytest.approx(expected)


def test_shortest_correct_in_a_gate_still_sees_its_group() -> None:
    opened = rk.reward(name="opened")(lambda completion: float("x" not in completion))
    completions = ["right", "right right right", "right right right right x"]
    assert rk.score(rk.gate(opened, SHORTEST), completions).total.tolist() == [1.0, 0.75, 0.0]
    assert rk.rank_in_group(SHORTEST).facts.together == SHORTEST.facts.together == "group"


def test_rewards_by_length_can_be_combined() -> None:
    tree = (
        SHORTEST
        + rk.length.shortest_correct(is_right)
        + rk.length.cosine(is_right, 10)
        + rk.length.cosine(is_right, 20)
    )
    table = rk.score(tree, ["right"], completion_ids=[[1] * 10])
    assert table.total[0] == pytest.approx(1.0 + 1.0 + 0.5 + 0.75)
    assert {"completion_words", "completion_tokens"} < set(table.components)


def test_the_options_of_shortest_correct_are_checked_and_printed() -> None:
    half = rk.length.shortest_correct(is_right, low=0.25, threshold=0.5, unit="characters")
    assert repr(half) == "length.shortest_correct(is_right, low=0.25, threshold=0.5, unit='characters')"
    assert half.bounds == (0.0, 1.0)
    makes: list[tuple[Any, dict[str, Any], str]] = [
        (is_right, {"low": 1.5}, "low .*got 1.5"),
        (is_right, {"low": math.nan}, "low must be finite"),
        (is_right, {"threshold": 1.5}, "is_right is 1, .* threshold=1.5"),
        (is_right, {"unit": "lines"}, "length.shortest_correct: unit .*tokens, words, characters"),
        (3, {}, "length.shortest_correct: correct must be a reward"),
    ]
    for correct, options, message in makes:
        with pytest.raises(rk.RewardDefinitionError, match=message):
            rk.length.shortest_correct(correct, **options)
    with pytest.raises(rk.errors.BindingError, match="completion_ids"):
        rk.score(rk.length.shortest_correct(is_right), ["right"])


# --- The length reward of Kimi k1.5 -----------------------------------------------------------------------

KIMI = rk.length.kimi(is_right, unit="characters")


def open_r1(lengths: list[int], rights: list[bool]) -> list[float]:
    """The formula of the paper, as open-r1's len_reward computes it for one group."""
    spread = max(lengths) - min(lengths)
    relative = [0.5 - (length - min(lengths)) / spread if spread else 0.0 for length in lengths]
    return [one if right else min(0.0, one) for one, right in zip(relative, rights, strict=True)]


def test_a_short_right_answer_is_paid_and_a_short_wrong_one_is_not() -> None:
    reward = rk.length.kimi(is_right)
    completions = ["right", "right", "right", "wrong", "wrong", "wrong"]
    table = rk.score(reward, completions, completion_ids=[[1] * length for length in (20, 30, 40, 20, 30, 40)])
    assert table.total.tolist() == [0.5, 0.0, -0.5, 0.0, 0.0, -0.5]
    assert rk.score(KIMI, ["right"]).total.tolist() == [0.0]
    assert rk.score(KIMI, ["right", "wrong"]).total.tolist() == [0.0, 0.0]
    assert rk.score(KIMI, []).total.tolist() == []
    assert KIMI.bounds == (-0.5, 0.5)


@given(st.lists(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=6), max_size=4))
def test_kimi_length_is_the_papers_formula_in_each_group(groups: list[list[tuple[int, bool]]]) -> None:
    completions, prompts, expected = [], [], []
    for place, group in enumerate(groups):
        texts = [("right" if right else "wrong") + "." * number for number, right in group]
        completions += texts
        prompts += [f"prompt {place}"] * len(group)
        expected += open_r1([len(text) for text in texts], [right for _, right in group])
    assert rk.score(KIMI, completions, prompts=prompts).total.tolist() == pytest.approx(expected)


def test_kimi_length_leaves_out_what_is_not_judged() -> None:
    completions = ["right" + "." * 10, "skip", "down" * 99, "right", "right" + "." * 20]
    table = rk.score(KIMI, completions, prompts=["a"] * 5)
    assert [str(outcome) for outcome in table.outcomes["length_kimi"]] == [
        *("scored", "abstained", "failed", "scored", "scored")
    ]
    assert table.total[[0, 3, 4]].tolist() == [0.0, 0.5, -0.5]


def test_the_options_of_kimi_length_are_checked_and_printed() -> None:
    assert repr(rk.length.kimi(is_right, threshold=0.5)) == "length.kimi(is_right, threshold=0.5)"
    assert rk.rank_in_group(KIMI).facts.together == KIMI.facts.together == "group"
    for correct, options in ((is_right, {"threshold": 1.5}), (is_right, {"unit": "lines"}), (3, {})):
        with pytest.raises(rk.RewardDefinitionError):
            rk.length.kimi(correct, **options)  # type: ignore[arg-type]
    with pytest.raises(rk.errors.BindingError, match="completion_ids"):
        rk.score(rk.length.kimi(is_right), ["right"])
