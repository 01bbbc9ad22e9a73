"""Random trees: the terms sum to the total, parts score as the whole, and everything agrees with a naive reading."""

from __future__ import annotations

import math
import pickle

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

import rewardkit as rk
from rewardkit.core.evaluation.scorer import Scorer
from tests.trees import Rows, couples_groups, expected, progresses, rows, task_of, trees

few = settings(suppress_health_check=[HealthCheck.too_slow])


def scored(tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None) -> rk.ScoreTable:
    return Scorer(tree).score(given_rows.batch(progress), strict=False)


@few
@given(trees(groups=True), rows(), progresses)
def test_terms_sum_to_the_total_and_are_all_nan_where_there_is_none(
    tree: rk.Reward, given_rows: Rows, progress: rk.Progress | None
) -> None:
    table = scored(tree, given_rows, progress)
    terms = np.array([*table.terms.values(), np.zeros(len(table))])
    scorable = ~np.isnan(table.total)
    np.testing.assert_allclose(np.nansum(terms, axis=0)[scorable], table.total[scorable], rtol=0, atol=1e-9)
    assert np.isnan(terms[:-1][:, ~scorable]).all()


@few
@given(trees(), rows(single=True), progresses)
def test_every_total_is_what_a_naive_reading_of_the_design_gives(
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
def test_every_component_says_how_it_came_about(
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
    """Whether `node` stands in a branch, where it abstains on the rows of the others."""
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
