"""Laws of batches: a score does not depend on the other completions."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.whole import detect_scope
from tests.check.rewards import (
    assert_held,
    assert_skipped,
    awaited,
    broken,
    closeness,
    naive,
    number,
    shortest,
    shown,
    subject,
    tagged_number,
    tree,
)

LAWS = ("batch_equals_singles", "permutation", "neighbors_do_not_leak")
TEXTS: dict[str, Any] = {"good": ["42", "7"], "bad": ["41 or so", "8 or so"]}


def first_wins(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """A bonus for the first completion."""
    return [
        float(gold in text) + 0.1 * (row == 0) for row, (text, gold) in enumerate(zip(completions, answer, strict=True))
    ]


def one_row_off(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Compares each completion with the gold answer of its neighbor."""
    return [float(gold in text) for text, gold in zip(completions, [*answer[1:], answer[0]], strict=True)]


def first_gold(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """The gold of the first row for all of them."""
    return [float(answer[0] in text) for text in completions]


def share_of_the_longest(completions: list[str], **kwargs: Any) -> list[float]:
    """Compares over the whole batch, regardless of the prompts."""
    longest = max(map(len, completions)) or 1
    return [len(text) / longest for text in completions]


def shorter_than_its_group(completions: list[str], prompts: list[str], **kwargs: Any) -> list[float]:
    """Compares the completions of one prompt, as GRPO does."""
    scores = []
    for text, prompt in zip(completions, prompts, strict=True):
        own = [other for other, beside in zip(completions, prompts, strict=True) if beside == prompt]
        scores.append(sum(len(text) < len(other) for other in own) / len(own))
    return scores


def two_at_most(completions: list[str], **kwargs: Any) -> list[float]:
    if len(completions) > 8:
        raise ValueError("too many")
    return [float("4" in text) for text in completions]


@rk.reward(scope="group")
def earlier_is_better(completion: list[str]) -> list[float]:
    return [1.0 / (row + 1) for row, _ in enumerate(completion)]


@rk.reward(scope="batch")
def above_the_mean(completion: list[str]) -> list[float]:
    mean = sum(map(len, completion)) / len(completion)
    return [1 / (1 + 2 ** ((mean - len(text)) / 10)) if len(text) < 400 else 1.0 for text in completion]


@pytest.mark.parametrize("reward", [number, tree, closeness, tagged_number, awaited, naive], ids=shown)
def test_rewards_that_look_at_one_completion_hold_to_all_of_them(reward: Any) -> None:
    assert_held(reward, *LAWS)


@pytest.mark.parametrize(
    "reward", [shortest, shorter_than_its_group, rk.rank_in_group(number), rk.diversity()], ids=shown
)
def test_rewards_that_compare_a_group_hold_to_what_concerns_them(reward: Any) -> None:
    assert_held(reward, *LAWS[1:], **TEXTS)
    assert_skipped(reward, LAWS[0], "compares completions", **TEXTS)


@pytest.mark.parametrize("most", [4, 8, 24])
@pytest.mark.parametrize("reward", [one_row_off, first_gold])
def test_a_score_that_depends_on_the_row(reward: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A slow machine can afford fewer rows.
    monkeypatch.setattr(RewardUnderTest, "affordable", lambda self, count, share=0.25: min(count, most))
    (found,) = broken(reward, "batch_equals_singles", **TEXTS)
    assert "alone" in found.why
    assert "of a batch of" in found.why
    assert found.completion


def test_a_score_that_depends_on_the_order() -> None:
    for reward in (first_wins, earlier_is_better):
        found = broken(reward, "permutation", **TEXTS)
        assert all("in a different order" in one.why for one in found)
        assert {one.columns["answer"] for one in found} <= {"42", "7"}


def test_a_batch_that_raises_where_each_alone_does_not() -> None:
    (found,) = broken(two_at_most, "batch_equals_singles")
    assert "a batch of 9 completions raises" in found.why
    assert "too many" in found.why


def test_other_prompts_in_the_batch() -> None:
    (found,) = broken(share_of_the_longest, "neighbors_do_not_leak", **TEXTS)
    assert "for another prompt in the batch" in found.why
    assert found.score is not None
    assert_skipped(share_of_the_longest, "neighbors_do_not_leak", "two examples", examples=[{}], good=["a"], bad=["b"])
    # Neither correct nor incorrect completions are known, as in a file of samples.
    assert_held(number, "neighbors_do_not_leak", good=None, bad=None)


def test_what_says_that_it_compares_the_batch() -> None:
    flat = rk.reward(scope="batch")(lambda completion: [0.5 for _ in completion])
    assert_held(flat, "neighbors_do_not_leak", **TEXTS)
    assert_skipped(above_the_mean, "batch_equals_singles", "'batch'", **TEXTS)
    (found,) = broken(above_the_mean, "neighbors_do_not_leak", **TEXTS)
    assert "if the answers to another prompt in the batch are correct" in found.why
    assert_skipped(rk.normalize(number, "batch"), "neighbors_do_not_leak", "normalizes over the batch")


@pytest.mark.parametrize(
    ("reward", "scope"),
    [(shorter_than_its_group, "group"), (naive, "sample"), (tagged_number, "sample"), (first_gold, "sample")],
)
def test_a_trainers_function_that_compares_is_found_out_and_others_are_not(reward: Any, scope: str) -> None:
    one = subject(reward, **TEXTS)
    detect_scope(one)
    assert one.scope == scope
