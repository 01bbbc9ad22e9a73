"""The share of each term in the variance within groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from rewardkit.analyze.signal import causes, normalized, shares
from rewardkit.batch.column import Floats

GROUPS = np.array([0, 0, 0, 1, 1, 1])
SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.0, 3.0, np.nan])


def share(terms: list[list[float]], **options: object) -> list[float]:
    found = shares(*causes(np.array(terms), GROUPS, **options))  # type: ignore[arg-type]
    assert found is not None
    return [round(value, 3) for value in found.tolist()]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        # The second is the same within each group: it decides nothing, whatever its mean.
        ([[0, 1, 0, 0, 0, 1], [5, 5, 5, 9, 9, 9]], [1.0, 0.0]),
        ([[0, 1, 0, 0, 0, 1], [0, 1, 0, 0, 0, 1]], [0.5, 0.5]),
        ([[0, 1, 0, 0, 0, 1], [0, 2, 0, 0, 0, 2]], [0.333, 0.667]),
        # One decides one group, one the other.
        ([[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 9]], [0.5, 0.5]),
        # It works against the other.
        ([[0, 2, 0, 0, 2, 0], [0, -1, 0, 0, -1, 0]], [2.0, -1.0]),
        # What abstained counts nothing; a row without any score is left out.
        ([[0, 1, np.nan, 0, 1, 0], [0, np.nan, np.nan, 0, 0, 0]], [1.0, 0.0]),
    ],
)
def test_shares(terms: list[list[float]], expected: list[float]) -> None:
    assert share(terms) == expected


def test_without_group_scale_large_differences_count_more() -> None:
    terms: list[list[float]] = [[0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3]]
    assert share(terms, scale="group") == [0.5, 0.5]
    assert share(terms, scale="batch") == share(terms, scale="none") == [0.1, 0.9]


@pytest.mark.parametrize("terms", [np.zeros((2, 6)), np.full((2, 6), np.nan), np.zeros((2, 0))])
def test_without_variance_there_are_no_shares(terms: Floats) -> None:
    assert shares(*causes(terms, GROUPS[: terms.shape[1]])) is None


@given(arrays(np.float64, (3, 6), elements=SCORES), st.sampled_from(["group", "batch"]))
def test_the_shares_add_up_to_1_and_agree_with_a_naive_covariance(terms: Floats, scale: str) -> None:
    caused, variance = causes(terms, GROUPS, scale=scale)  # type: ignore[arg-type]
    assert caused.sum() == pytest.approx(variance, abs=1e-9)
    naive, total = np.zeros(3), 0.0
    for group in (0, 1):
        rows = (group == GROUPS) & ~np.isnan(terms).all(axis=0)
        if rows.sum() < 2:
            continue
        own = np.nan_to_num(terms[:, rows])
        summed = own.sum(axis=0)
        deviation = summed.std(ddof=1)
        covariances = np.array([np.mean((term - term.mean()) * (summed - summed.mean())) for term in own]) * rows.sum()
        if deviation > 1e-4:
            by = (deviation + 1e-4) ** 2 if scale == "group" else 1.0
            naive += covariances / by
            total += summed.var() * rows.sum() / by
    np.testing.assert_allclose(caused, naive, atol=1e-9)
    assert variance == pytest.approx(total, abs=1e-9)


@given(arrays(np.float64, (2, 6), elements=SCORES))
def test_sums_over_processes_give_the_shares_of_all(terms: Floats) -> None:
    whole, variance = causes(terms, GROUPS)
    halves = [causes(terms[:, rows], GROUPS[rows]) for rows in (slice(0, 3), slice(3, 6))]
    np.testing.assert_allclose(sum(caused for caused, _ in halves), whole, atol=1e-9)
    assert sum(part for _, part in halves) == pytest.approx(variance)


def test_normalized_columns_agree_with_gdpo() -> None:
    (first, second) = normalized(
        [np.array([1.0, 2, 3, 5, 5, np.nan]), np.array([0.0, 0, 4, 1, 2, 3])], [2.0, 0.5], GROUPS
    )
    np.testing.assert_allclose(first, [-2 / 1.0001, 0, 2 / 1.0001, 0, 0, np.nan])
    np.testing.assert_allclose(second[3:], [-0.5 / 1.0001, 0, 0.5 / 1.0001])
