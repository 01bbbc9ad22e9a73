"""Pairs, AUC, rank correlation and the bootstrap, compared with their definitions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.analyze.discrimination import Pairs, auc_interval, mean_ranks, pairs, round_scores, spearman
from rewardkit.batch.column import Floats

SCORES = st.sampled_from([0.0, 0.1, 0.5, 1.0, -2.0, float("nan")]) | st.floats(-1e6, 1e6)
GOOD = st.booleans()
GRADES = st.sampled_from([0.0, 1.0, 2.0, 4.5])


@st.composite
def rows(draw: st.DrawFn, labels: st.SearchStrategy[Any] = GOOD) -> tuple[Floats, Any, Any]:
    """Draw (scores, labels, groups) of 0 to 12 rows."""
    size = draw(st.integers(0, 12))
    several = [draw(st.lists(of, min_size=size, max_size=size)) for of in (SCORES, labels, st.integers(0, 3))]
    kind = np.bool_ if size and isinstance(several[1][0], bool) else np.float64
    return np.array(several[0], dtype=np.float64), np.array(several[1], dtype=kind), np.array(several[2], np.int64)


def brute(scores: Floats, labels: Any, groups: Any) -> Pairs:
    right = tied = wrong = 0
    values = round_scores(scores)
    for one, other in combinations(range(len(scores)), 2):
        better, worse = (one, other) if labels[one] > labels[other] else (other, one)
        if groups[one] != groups[other] or labels[one] == labels[other] or np.isnan(scores[[one, other]]).any():
            continue
        right += bool(values[better] > values[worse])
        tied += bool(values[better] == values[worse])
        wrong += bool(values[better] < values[worse])
    return Pairs(right, tied, wrong)


@given(st.one_of(rows(), rows(labels=GRADES)))
def test_pairs_agree_with_the_definition(data: tuple[Floats, Any, Any]) -> None:
    scores, labels, groups = data
    assert pairs(scores, labels, groups) == brute(scores, labels, groups)
    assert pairs(scores, labels) == brute(scores, labels, np.zeros(len(scores)))


@given(rows())
def test_pairs_add_up_over_groups(data: tuple[Floats, Any, Any]) -> None:
    scores, labels, groups = data
    each = [pairs(scores[groups == group], labels[groups == group]) for group in range(4)]
    whole = pairs(scores, labels, groups)
    assert (whole.right, whole.tied, whole.wrong) == tuple(
        sum(getattr(one, name) for one in each) for name in ("right", "tied", "wrong")
    )


@given(rows())
def test_negated_scores_mirror_the_auc(data: tuple[Floats, Any, Any]) -> None:
    scores, labels, _ = data
    one, other = pairs(scores, labels).auc, pairs(-scores, labels).auc
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one + other == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        # sklearn.metrics.roc_auc_score's own example.
        ([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.75),
        ([1, 1, 1, 1], [0, 1, 0, 1], 0.5),
        ([0, 1], [1, 0], 0.0),
        ([0.3, 0.1 + 0.2], [0, 1], 0.5),  # what floats make of it is a tie
        ([0, 1], [1, 1], None),
        ([0, 1], [0, 0], None),
        ([np.nan, np.nan], [0, 1], None),
        ([np.nan, 1], [0, 1], None),
        ([], [], None),
    ],
)
def test_auc(scores: list[float], labels: list[int], expected: float | None) -> None:
    assert pairs(np.array(scores, dtype=np.float64), np.array(labels, dtype=np.bool_)).auc == expected


def test_shares_of_no_pairs_are_none() -> None:
    none = Pairs(0, 0, 0)
    assert (none.accuracy, none.ties, none.inversions, none.auc) == (None, None, None, None)
    some = Pairs(2, 1, 1)
    assert (some.accuracy, some.ties, some.inversions, some.auc) == (0.5, 0.25, 0.25, 0.625)


@given(st.lists(st.integers(-3, 3), max_size=12))
def test_equal_values_share_their_mean_rank(values: list[int]) -> None:
    expected = [sum(o < v for o in values) + (sum(o == v for o in values) + 1) / 2 for v in values]
    assert mean_ranks(np.array(values, dtype=np.float64)).tolist() == expected


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233),  # scipy.stats.spearmanr's own example
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, np.nan, 3], [10, 20, 0, 30], 1.0),
        ([1, 1, 1], [1, 2, 3], None),
        ([1, 2, 3], [1, 1, 1], None),
        ([np.nan, np.nan], [1, 2], None),
    ],
)
def test_spearman(scores: list[float], labels: list[float], expected: float | None) -> None:
    assert spearman(np.array(scores, dtype=np.float64), np.array(labels, dtype=np.float64)) == pytest.approx(expected)


@given(rows(labels=GRADES))
def test_spearman_agrees_with_the_definition(data: tuple[Floats, Any, Any]) -> None:
    scores, labels, _ = data
    kept = ~np.isnan(scores)
    ranks = [
        [sum(o < v for o in values) + sum(o == v for o in values) / 2 for v in values]
        for values in (round_scores(scores[kept]).tolist(), labels[kept].tolist())
    ]
    if not kept.any() or any(len(set(one)) == 1 for one in ranks):
        assert spearman(scores, labels) is None
    else:
        assert spearman(scores, labels) == pytest.approx(np.corrcoef(ranks)[0, 1])


@given(rows(labels=GRADES))
def test_spearman_does_not_depend_on_the_scale(data: tuple[Floats, Any, Any]) -> None:
    scores, labels, _ = data
    found = spearman(scores, labels)
    assert found is None or -1.0 <= found <= 1.0
    assert spearman(round_scores(scores) * 2.0, labels * 3.0 + 1.0) == pytest.approx(found, abs=1e-9)


@given(rows(), st.integers(0, 3))
def test_the_interval_lies_in_0_to_1_and_depends_only_on_the_seed(data: tuple[Floats, Any, Any], seed: int) -> None:
    scores, labels, groups = data
    found = auc_interval(scores, labels, groups, replicates=20, seed=seed)
    assert found == auc_interval(scores, labels, groups, replicates=20, seed=seed)
    assert found is None or 0.0 <= found[0] <= found[1] <= 1.0
    if pairs(scores, labels).auc is None:
        assert found is None


def test_the_interval_covers_and_is_wider_if_rows_of_a_group_correlate() -> None:
    random = np.random.default_rng(1)
    labels = random.random(400) < 0.5
    scores = random.normal(size=400) + labels
    found = auc_interval(scores, labels)
    assert found is not None
    assert found[0] < 0.760 < found[1]  # Phi(1 / sqrt(2)): the AUC of two normals one deviation apart
    assert 0.05 < found[1] - found[0] < 0.15
    repeated = auc_interval(np.tile(scores, 8), np.tile(labels, 8), np.tile(np.arange(400), 8))
    assert repeated is not None
    assert repeated[1] - repeated[0] == pytest.approx(found[1] - found[0], abs=0.02)


def test_there_is_no_interval_without_two_groups_or_replicates() -> None:
    scores, labels = np.array([0.0, 1.0]), np.array([False, True])
    assert auc_interval(scores, labels, np.zeros(2, dtype=np.int64)) is None
    assert auc_interval(scores, labels, replicates=0) is None
