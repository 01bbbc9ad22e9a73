"""Thresholds, confusion tables, reliability curves, saturation and misjudged cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.analyze.calibration import (
    Confusion,
    Saturation,
    best_threshold,
    calibration_error,
    confusion,
    is_share,
    misjudged,
    reliability,
    saturation,
)
from rewardkit.analyze.discrimination import round_scores
from rewardkit.batch.column import Column, Floats
from rewardkit.batch.score import SCORED

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.5000001, 1.0, float("nan")]) | st.floats(-5, 5), st.booleans()),
    max_size=12,
)


def split(rows: list[tuple[float, bool]]) -> tuple[Floats, Any]:
    return np.array([score for score, _ in rows], dtype=np.float64), np.array(
        [good for _, good in rows], dtype=np.bool_
    )


@given(PAIRS, st.floats(-5, 5))
def test_the_confusion_counts_every_scored_row(rows: list[tuple[float, bool]], threshold: float) -> None:
    scores, good = split(rows)
    found = confusion(scores, good, threshold)
    reached = [
        (score >= threshold - 1e-9, label)
        for score, label in zip(round_scores(scores), good, strict=True)
        if score == score
    ]
    assert found == Confusion(
        threshold, *(reached.count(which) for which in ((True, True), (True, False), (False, False), (False, True)))
    )


def test_rates() -> None:
    found = Confusion(0.5, true_positives=3, false_positives=1, true_negatives=4, false_negatives=2)
    assert (found.accuracy, found.precision, found.recall, found.false_positive_rate) == (0.7, 0.75, 0.6, 0.2)
    none = Confusion(0.5, 0, 0, 0, 0)
    assert (none.accuracy, none.precision, none.recall, none.false_positive_rate) == (None, None, None, None)


def separation(found: Confusion) -> float:
    return (found.recall or 0.0) - (found.false_positive_rate or 0.0)


@given(PAIRS)
def test_the_best_threshold_separates_best(rows: list[tuple[float, bool]]) -> None:
    scores, good = split(rows)
    best = best_threshold(scores, good)
    others = [separation(confusion(scores, good, one)) for one in round_scores(scores[~np.isnan(scores)])]
    kept = good[~np.isnan(scores)]
    if best is None:
        assert not kept.size or kept.all() or not kept.any() or max(others) <= 1e-9
    else:
        assert separation(confusion(scores, good, best)) >= max(others) - 1e-9 > 0.0


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(0, False), (0.4, False), (0.9, True)], 0.9),
        ([(0, False), (0.4, True), (0.9, True)], 0.4),
        ([(0, True), (1, False)], None),
        ([(1, True), (1, False)], None),
        ([(1, True), (0, True)], None),
        ([(np.nan, True), (0, False)], None),
        ([], None),
    ],
)
def test_best_threshold(rows: list[tuple[float, bool]], expected: float | None) -> None:
    assert best_threshold(*split(rows)) == expected


@given(PAIRS)
def test_bins_hold_every_scored_row_once(rows: list[tuple[float, bool]]) -> None:
    scores, good = split(rows)
    bins = reliability(scores, good, bins=4)
    known = scores[~np.isnan(scores)]
    assert sum(one.count for one in bins) == len(known)
    assert sum(one.good or 0 for one in bins) == good[~np.isnan(scores)].sum()
    for one in bins:
        assert one.lowest - 1e-6 <= one.mean_score <= one.highest + 1e-6
        assert one.mean_label == pytest.approx((one.good or 0) / one.count)
    error = calibration_error(bins)
    assert (error is None) == (not len(known))


def test_reliability_and_its_error() -> None:
    scores = np.array([0.1, 0.1, 0.3, 0.9, 0.9, np.nan])
    good = np.array([False, False, True, True, False, True])
    bins = reliability(scores, good, bins=10)
    assert [(round(one.lowest, 9), one.count, one.good) for one in bins] == [(0.1, 2, 0), (0.3, 1, 1), (0.9, 2, 1)]
    assert calibration_error(bins) == pytest.approx((2 * 0.1 + 1 * 0.7 + 2 * 0.4) / 5)
    assert calibration_error(()) is None
    graded = reliability(np.array([2.0, 2.0]), np.array([1.0, 4.0]))
    assert [(one.lowest, one.highest, one.mean_label, one.good) for one in graded] == [(2.0, 2.0, 2.5, None)]


def test_shares() -> None:
    assert is_share(np.array([0.0, 1.0, np.nan]))
    assert not is_share(np.array([0.0, 1.1]))
    assert not is_share(np.array([np.nan]))


def test_saturation() -> None:
    assert saturation(np.array([0.5, 0.5, 0.8, np.nan]), (0.0, 0.8)) == Saturation(0.5, 0.8, 2 / 3, 1 / 3, 0.0, 1 / 3)
    assert saturation(np.array([1.0]), (0.0, np.inf)) == Saturation(1.0, 1.0, 1.0, 1.0, 0.0, None)
    assert saturation(np.array([np.nan])) is None


def column(values: list[float], notes: dict[int, str]) -> Column:
    return Column(np.array(values), np.full(len(values), SCORED, dtype=np.int8), notes)


def test_misjudged_rows_tie_with_or_lose_to_the_other_label() -> None:
    scores, good = np.array([0.9, 0.2, 0.5, 0.5, 0.1, np.nan]), np.array([True, True, False, False, False, True])
    told = {"number": column([1, 0, 0, 0, 0, 0], {1: "off by 2"})}
    high, low = misjudged(scores, good, list("abcdef"), told, rows=np.array([10, 11, 12, 13, 14, 15]))
    assert [(case.row, case.score, case.completion) for case in high] == [(12, 0.5, "c"), (13, 0.5, "d")]
    assert [(case.row, case.label, case.scores, case.notes) for case in low] == [
        (11, True, {"number": 0.0}, {"number": "off by 2"})
    ]
    assert [case.row for case in misjudged(scores, good, list("abcdef"), told, limit=1)[0]] == [2]


@given(PAIRS)
def test_there_are_misjudged_rows_unless_every_pair_is_right(rows: list[tuple[float, bool]]) -> None:
    scores, good = split(rows)
    high, low = misjudged(scores, good, [""] * len(rows), {})
    values = round_scores(scores)
    faulty = any(values[one] <= values[other] for one in np.flatnonzero(good) for other in np.flatnonzero(~good))
    assert bool(high) == bool(low) == faulty
