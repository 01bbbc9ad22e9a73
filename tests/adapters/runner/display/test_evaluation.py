"""Held-out scores: one row's fault is no other's, and what was not reached counts as nothing."""

from __future__ import annotations

import math

import pytest

import rewardkit as rk
from rewardkit_adapters.runner.report import scored


@rk.reward
def brace(completion: str) -> float:
    return float(completion.startswith("{"))


@rk.reward
def right(completion: str, gold: str) -> float:
    return float(completion == gold)


@rk.reward
def broken(completion: str) -> float:
    raise ValueError("a bug")


@rk.reward
def down(completion: str) -> float:
    if completion == "b":
        raise rk.RewardFailure("the judge is down")
    return 1.0


@rk.reward
def tokens(completion: str, completion_ids: list[int]) -> float:
    return len(completion_ids) / 10


def test_a_component_that_was_not_reached_counts_as_nothing() -> None:
    found = scored(rk.gate(brace, right), ["{}", "{a", "x"], prompts=["p"] * 3, columns={"gold": ["{}", "{}", "x"]})
    assert found.means["right"] == pytest.approx(1 / 3)
    assert found.totals == [1.0, 0.0, 0.0]
    assert found.total == pytest.approx(1 / 3)


def test_a_branch_has_its_own_mean() -> None:
    routed = rk.route({"a": brace, "b": right}, by="task")
    columns = {"task": ["a", "a", "b", "b"], "gold": ["", "", "x", "x"]}
    found = scored(routed, ["{", "{", "x", "y"], prompts=["p"] * 4, columns=columns)
    assert found.means["brace"] == 1.0
    assert found.means["right"] == 0.5


def test_a_bug_scores_the_lowest_bound_and_a_failure_nothing() -> None:
    assert scored(broken + brace, ["{"], prompts=["p"], columns={}).totals == [1.0]
    found = scored(down, ["a", "b"], prompts=["p"] * 2, columns={})
    assert found.total == 1.0
    assert math.isnan(found.totals[1])
    assert found.unscorable == 1


def test_rewards_see_tokens_and_groups() -> None:
    ids = [[1] * 3, [1] * 5, [1], [1, 1]]
    completions = ["abc", "abcde", "a", "ab"]
    assert scored(tokens, completions, prompts=["p"] * 4, columns={}, completion_ids=ids).totals == [0.3, 0.5, 0.1, 0.2]
    ranked = scored(
        rk.rank_in_group(tokens), completions, prompts=["p"] * 4, columns={}, completion_ids=ids, generations=2
    )
    assert ranked.totals == [0.0, 1.0, 0.0, 1.0]
