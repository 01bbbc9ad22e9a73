"""Rewards with mean 0 and deviation 1: within the group, the batch, or over the training so far."""

from __future__ import annotations

import math
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.column import sums
from rewardkit.combine.normalization import Normalized
from rewardkit.progress import states as kept
from rewardkit.tree.evaluation.scorer import Scorer


@rk.reward(bounds=(-1e308, 1e308))
def told(completion: str) -> float | None:
    """Scores the number in the completion; ``-`` abstains, ``x`` fails."""
    word = completion.split()[0]
    if word == "x":
        raise rk.RewardFailure("down")
    return None if word == "-" else float(word)


@rk.reward
def opened(completion: str) -> float:
    return float("shut" not in completion)


GROUP = rk.normalize(told)
BATCH = rk.normalize(told, "batch")
RUNNING = rk.normalize(told, "running")


def test_within_the_group() -> None:
    table = rk.score(GROUP, ["1", "2", "3", "5", "5"], prompts=[*"aaabb"])
    np.testing.assert_allclose(table.total, [-1 / 1.0001, 0.0, 1 / 1.0001, 0.0, 0.0])
    assert rk.score(GROUP, ["7"]).total.tolist() == [0.0]
    assert rk.score(GROUP, []).total.tolist() == []


def test_within_the_batch() -> None:
    table = rk.score(BATCH, ["1", "2", "3"], prompts=[*"aab"])
    np.testing.assert_allclose(table.total, [-1 / 1.0001, 0.0, 1 / 1.0001])


@pytest.mark.parametrize("tree", [GROUP, BATCH])
def test_who_abstained_or_failed_is_left_out(tree: rk.Reward) -> None:
    table = rk.score(tree, ["1", "-", "3", "x"])
    deviation = math.sqrt(2) + 1e-4
    np.testing.assert_allclose(table.total, [-1 / deviation, np.nan, 1 / deviation, np.nan])
    assert table.outcomes["told_normalized"].tolist() == ["scored", "abstained", "scored", "failed"]
    nobody = rk.score(tree, ["-", "x", "-"])
    assert nobody.outcomes["told_normalized"].tolist() == ["abstained", "failed", "abstained"]


@given(st.lists(st.lists(st.floats(-100, 100), min_size=4, max_size=4), min_size=1, max_size=4))
def test_the_group_is_normalized_as_trl_does_it(groups: list[list[float]]) -> None:
    completions = [repr(value) for group in groups for value in group]
    prompts = [f"prompt {number}" for number, group in enumerate(groups) for _ in group]
    # GRPOTrainer: (rewards - rewards.mean()) / (rewards.std() + 1e-4), whose std is that of a sample
    expected = [(value - mean(group)) / (stdev(group) + 1e-4) for group in groups for value in group]
    np.testing.assert_allclose(rk.score(GROUP, completions, prompts=prompts).total, expected, rtol=1e-9, atol=1e-9)


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=8), st.floats(-5, 5), st.sampled_from([GROUP, BATCH]))
def test_a_shift_changes_nothing_and_the_order_stays(values: list[float], shift: float, tree: rk.Reward) -> None:
    found = rk.score(tree, list(map(repr, values))).total
    assert found.mean() == pytest.approx(0.0, abs=1e-6)
    assert all(found[one] <= found[two] for one, a in enumerate(values) for two, b in enumerate(values) if a < b)
    shifted = rk.score(tree, [repr(value + shift) for value in values]).total
    np.testing.assert_allclose(shifted, found, atol=1e-6)


@pytest.mark.parametrize("tree", [GROUP, BATCH])
@pytest.mark.parametrize("values", [["3e38", "-3e38"], ["1e-320", "0"], ["1e16", "1e16"]])
def test_huge_and_tiny_numbers_stay_finite(tree: rk.Reward, values: list[str]) -> None:
    assert np.isfinite(rk.score(tree, values).total).all()


def moments(tree: rk.Reward) -> kept.States:
    return kept.initial(Scorer(tree).followers)


def trained(tree: rk.Reward, batches: list[list[str]]) -> rk.Progress:
    """Return the progress after these batches."""
    states = moments(tree)
    for batch in batches:
        table = rk.score(tree, batch, progress=rk.Progress(0, 10, states=states))
        names = list(table.components)
        states = kept.advanced(states, kept.means(names, sums(table.components, names)))
    return rk.Progress(1, 10, states=states)


def test_by_the_training_so_far() -> None:
    assert rk.score(RUNNING, ["3", "5"]).total.tolist() == [3.0, 5.0]
    assert rk.score(RUNNING, ["3"], progress=rk.Progress(0, 10)).total.tolist() == [3.0]
    progress = trained(RUNNING, [["1", "3", "-"]])
    np.testing.assert_allclose(rk.score(RUNNING, ["2", "4"], progress=progress).total, [0.0, 2 / 1.0001])


@given(st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=3), min_size=1, max_size=6), st.floats(0.5, 50))
def test_older_batches_count_less_by_half_lives(batches: list[list[int]], half_life: float) -> None:
    tree = rk.normalize(told, "running", half_life=half_life)
    progress = trained(tree, [list(map(str, batch)) for batch in batches])
    weights = np.array([0.5 ** (age / half_life) for age in range(len(batches))][::-1])
    weights /= weights.sum()
    average = sum(weights * [np.mean(batch) for batch in batches])
    square = sum(weights * [np.mean(np.square(batch)) for batch in batches])
    deviation = math.sqrt(max(square - average**2, 0.0)) + 1e-4
    found = rk.score(tree, ["2"], progress=progress).total[0]
    assert found == pytest.approx((2 - average) / deviation, rel=1e-3, abs=1e-3)


def test_evaluation_has_the_reward_itself_whatever_was_seen_in_training() -> None:
    seen = trained(RUNNING, [["1", "3"]])
    evaluation = rk.Progress(seen.step, seen.max_steps, training=False, states=seen.states)
    assert rk.score(RUNNING, ["3", "5"], progress=evaluation).total.tolist() == [3.0, 5.0]


def test_a_batch_in_which_all_abstained_teaches_nothing() -> None:
    progress = trained(RUNNING, [["1", "3"], ["-", "x"]])
    np.testing.assert_allclose(rk.score(RUNNING, ["4"], progress=progress).total, [2 / 1.0001])


def test_the_running_kind_sees_all_rows_and_follows_the_named_component() -> None:
    tree = rk.gate(opened, rk.normalize(told, "running"))
    table = rk.score(tree, ["1", "3 shut"])
    assert table["told"].tolist() == [1.0, 3.0]
    assert table.total.tolist() == [1.0, 0.0]
    assert [follower.component for follower in Scorer(tree).followers] == ["told"]


def test_behind_a_gate_the_whole_batch_counts() -> None:
    table = rk.score(rk.gate(opened, BATCH), ["1", "2 shut", "3"], prompts=[*"abc"])
    np.testing.assert_allclose(table.total, [-1 / 1.0001, 0.0, 1 / 1.0001])


def test_within_gates_routes_and_each_other() -> None:
    gated = rk.score(rk.gate(opened, GROUP), ["1", "2 shut", "3", "4 shut"], prompts=[*"aaab"])
    np.testing.assert_allclose(gated.total, [-1 / 1.0001, 0.0, 1 / 1.0001, 0.0])
    routed = rk.score(rk.route({"a": GROUP, "b": told}, by="task"), ["1", "3", "5"], task=[*"aab"]).total
    np.testing.assert_allclose(routed, [-1 / (math.sqrt(2) + 1e-4), 1 / (math.sqrt(2) + 1e-4), 5.0])
    twice = rk.score(rk.normalize(GROUP), ["1", "2", "3"]).total
    np.testing.assert_allclose(twice, [-1, 0, 1], atol=1e-3)
    ranked = rk.score(rk.normalize(rk.rank_in_group(told)), ["1", "50", "7000"]).total
    np.testing.assert_allclose(ranked, [-1, 0, 1], atol=1e-3)


def test_facts_and_repr() -> None:
    kinds = [(tree.facts.together, repr(tree)) for tree in (GROUP, BATCH, RUNNING)]
    assert kinds == [
        ("group", "normalize(told)"),
        ("batch", "normalize(told, by='batch')"),
        ("sample", "normalize(told, by='running')"),
    ]
    assert repr(rk.normalize(told, "running", half_life=5)) == "normalize(told, by='running', half_life=5)"
    assert GROUP.bounds == (-math.inf, math.inf)
    assert isinstance(GROUP, Normalized)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: rk.normalize(told, "prompt"), "by must be one of group, batch, running, got 'prompt'"),  # type: ignore[arg-type]
        (lambda: rk.normalize(3), "normalize must be a reward"),  # type: ignore[arg-type]
        (lambda: rk.normalize(told, "running", half_life=0), "half_life must be"),
        (lambda: rk.normalize(told, "running", half_life=math.nan), "half_life must be finite"),
        (lambda: rk.normalize(told + opened, "running"), r"no fixed name.*\.named"),
        (lambda: rk.normalize(rk.product(told, opened), "running"), r"no fixed name.*\.named"),
        (lambda: rk.normalize(rk.gate(opened, told), "running"), r"no fixed name.*\.named"),
    ],
)
def test_invalid_normalizations_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_a_name_makes_anything_normal() -> None:
    tree = rk.normalize(rk.product(told, opened).named("both"), "running") + rk.product(opened, told)
    assert [follower.component for follower in Scorer(tree).followers] == ["both"]
