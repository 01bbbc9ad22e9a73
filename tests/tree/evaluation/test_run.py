"""Run: each node once, on the rows that need it; random trees agree with a naive implementation."""

from __future__ import annotations

import math
import pickle

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from tests.counting import counted
from tests.trees import Rows, couples_groups, expected, progresses, rows, task_of, trees

few = settings(suppress_health_check=[HealthCheck.too_slow])


def scored(tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None) -> rk.ScoreTable:
    return Scorer(tree).score(given_rows.batch(progress), strict=False)


@few
@given(trees(), rows(single=True), progresses)
def test_totals_equal_those_of_a_naive_implementation(
    tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None
) -> None:
    table = scored(tree, given_rows, progress)
    wanted = [
        expected(tree, completion, task_of(group), progress)[1]
        for completion, group in zip(given_rows.completions, given_rows.groups, strict=True)
    ]
    np.testing.assert_allclose(table.total, wanted, rtol=0, atol=1e-9)


@few
@given(trees(), rows(single=True), progresses)
def test_outcomes_equal_those_of_a_naive_implementation(
    tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None
) -> None:
    scorer = Scorer(tree)
    table = scorer.score(given_rows.batch(progress), strict=False)
    for name, node in scorer.names.components:
        for row, outcome in enumerate(table.outcomes[name]):
            is_scored = outcome is rk.Outcome.SCORED
            assert is_scored == (not math.isnan(table[name][row]))
            if outcome is rk.Outcome.SKIPPED or (outcome is rk.Outcome.ABSTAINED and task_is_routed(tree, node)):
                continue
            by_hand = expected(node, given_rows.completions[row], task_of(given_rows.groups[row]), progress)
            # A name hands through what the leaf below it did.
            assert str(outcome) == by_hand[0], (name, row)
            if is_scored:
                assert abs(table[name][row] - by_hand[1]) < 1e-9


def task_is_routed(tree: rk.Reward, node: rk.Reward) -> bool:
    """Whether `node` is in a branch of a route, where it abstains on the rows of other branches."""
    return any(child.facts.choose is not None or child.facts.stages for child in ancestors(tree, node))


def ancestors(tree: rk.Reward, node: rk.Reward) -> list[rk.Reward]:
    inside = [tree] if tree != node and contains(tree, node) else []
    return inside + [found for child in tree.children for found in ancestors(child, node)]


def contains(tree: rk.Reward, node: rk.Reward) -> bool:
    return tree == node or any(contains(child, node) for child in tree.children)


@few
@given(trees(groups=True), rows(), progresses, st.randoms(use_true_random=False))
def test_a_batch_scored_whole_equals_its_parts_in_any_order(
    tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None, random: object
) -> None:
    whole = scored(tree, given_rows, progress)
    if couples_groups(tree):
        parts = [[row for row, group in enumerate(given_rows.groups) if group == one] for one in set(given_rows.groups)]
    else:
        parts = [[row] for row in range(len(given_rows))]
    random.shuffle(parts)  # type: ignore[attr-defined]
    half = len(parts) // 2
    for taken in (parts[:half], parts[half:]):
        order = [row for part in taken for row in part]
        table = scored(tree, given_rows.take(order), progress)
        np.testing.assert_array_equal(table.total, whole.total[order])
        for name in whole.components:
            np.testing.assert_array_equal(table.components[name].codes, whole.components[name].codes[order])
            np.testing.assert_array_equal(table[name], whole[name][order])
        for name, values in whole.terms.items():
            np.testing.assert_array_equal(table.terms[name], values[order])


@few
@given(trees(groups=True), rows(), progresses)
def test_a_pickled_tree_is_the_same_tree(tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None) -> None:
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert again.fingerprint == tree.fingerprint
    np.testing.assert_array_equal(scored(again, given_rows, progress).total, scored(tree, given_rows, progress).total)


@few
@given(trees(groups=True), rows(), progresses)
def test_values_lie_within_the_declared_bounds(tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None) -> None:
    total = scored(tree, given_rows, progress).total
    low, high = tree.bounds
    known = total[~np.isnan(total)]
    assert np.all((known >= low - 1e-9) & (known <= high + 1e-9))


@few
@given(trees(groups=True), rows(), progresses)
def test_scoring_twice_gives_the_same_and_repr_never_raises(
    tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None
) -> None:
    first, second = (scored(tree, given_rows, progress) for _ in range(2))
    np.testing.assert_array_equal(first.total, second.total)
    assert repr(first) == repr(second)
    assert repr(tree)


def test_a_node_in_many_places_is_evaluated_once_per_distinct_row() -> None:
    part, calls = counted("part")
    condition, asked = counted("condition", lambda completion: 1.0 if "o" in completion else 0.0)
    other, _ = counted("other", lambda completion: 1.0 if "e" in completion else 0.0)
    tree = (
        rk.gate(condition, part)
        + rk.gate(other, part + condition)
        + 0.5 * rk.product(part, condition)
        + rk.monitor(part)
        + rk.gate(part, part, threshold=0.1)
    )
    rk.score(tree, ["open", "on", "else", "shut", "open"])
    assert set(calls.values()) == set(asked.values()) == {1}
    assert len(calls) == 4


def test_a_closed_gate_never_evaluates_its_inside() -> None:
    part, calls = counted("part")
    inner, inner_calls = counted("inner")
    condition, _ = counted("condition", lambda completion: 1.0 if completion == "open" else 0.0)
    tree = rk.gate(condition, part + rk.gate(part, inner, threshold=0.9), otherwise=-0.5)
    table = rk.score(tree, ["open", "shut"])
    assert list(calls) == ["open"]
    assert list(inner_calls) == []
    assert table.outcomes["part"].tolist() == ["scored", "skipped"]
    assert table.outcomes["inner"].tolist() == ["skipped", "skipped"]
    assert table.total.tolist() == [0.5, -0.5]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["ab", "a", "b", ""]), max_size=6))
def test_parts_behind_several_gates_are_evaluated_on_the_union_of_the_open_rows(completions: list[str]) -> None:
    part, calls = counted("part")
    first, _ = counted("first", lambda completion: float("a" in completion))
    second, _ = counted("second", lambda completion: float("b" in completion))
    table = rk.score(rk.gate(first, part) + rk.gate(second, part), completions)
    assert set(calls) == {completion for completion in completions if completion}
    assert set(calls.values()) <= {1}
    assert table.total.tolist() == [0.5 * len(completion) for completion in completions]
