"""What a change does to advantages: counts from a plain loop, and laws of ranks and signs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.differences.advantages import Gradients, gradients

grades = st.sampled_from([0.0, 0.25, 0.5, 1.0, float("nan")])
batches = st.lists(st.tuples(st.integers(0, 4), grades, grades), min_size=1, max_size=24)


def by_hand(rows: list[tuple[int, float, float]], side: int) -> list[float]:
    """The advantages of each row, as GRPO defines them."""
    found = []
    for row in rows:
        totals = np.array([other[side] for other in rows if other[0] == row[0]])
        known = totals[~np.isnan(totals)]
        deviation = known.std(ddof=1) if len(known) > 1 else 0.0
        found.append(0.0 if np.isnan(row[side]) else float((row[side] - known.mean()) / (deviation + 1e-4)))
    return found


def of(rows: list[tuple[int, float, float]]) -> Gradients | None:
    return gradients(
        np.array([row[1] for row in rows]), np.array([row[2] for row in rows]), np.array([row[0] for row in rows])
    )


@given(batches)
def test_counts_are_those_of_a_plain_loop(rows: list[tuple[int, float, float]]) -> None:
    found = of(rows)
    members = [[row for row in rows if row[0] == number] for number in sorted({row[0] for row in rows})]
    several = [group for group in members if len(group) > 1]
    if found is None:
        assert not several
        return
    before, after = by_hand(rows, 1), by_hand(rows, 2)
    np.testing.assert_allclose(found.before, before, atol=1e-9)
    np.testing.assert_allclose(found.after, after, atol=1e-9)
    pairs = [(round(one, 6), round(other, 6)) for one, other in zip(before, after, strict=True)]
    assert found.flips == sum(one * other < 0 for one, other in pairs)
    assert found.rewarded == sum(one <= 0 < other for one, other in pairs)
    assert found.penalized == sum(other < 0 <= one for one, other in pairs)

    def silent(group: list[tuple[int, float, float]], side: int) -> bool:
        return len({row[side] for row in group if not np.isnan(row[side])}) < 2

    def best(group: list[tuple[int, float, float]], side: int) -> set[int]:
        most = np.nanmax([row[side] for row in group])
        return {place for place, row in enumerate(group) if row[side] == most}

    assert found.count == len(several)
    assert found.silent_before == sum(silent(group, 1) for group in several)
    assert found.silenced == sum(silent(group, 2) and not silent(group, 1) for group in several)
    assert found.voiced == sum(silent(group, 1) and not silent(group, 2) for group in several)
    speak = [group for group in several if not silent(group, 1) and not silent(group, 2)]
    assert found.other_best == sum(not best(group, 1) & best(group, 2) for group in speak)


@given(batches)
def test_ranks_correlate_as_pandas_says(rows: list[tuple[int, float, float]]) -> None:
    pandas = pytest.importorskip("pandas")
    found = of(rows)
    if found is None:
        return
    expected = []
    for number in sorted({row[0] for row in rows}):
        both = np.array([row[1:] for row in rows if row[0] == number and not np.isnan(row[1:]).any()])
        whole = np.array([row[1:] for row in rows if row[0] == number])
        speaks = all(len({x for x in whole[:, side] if not np.isnan(x)}) > 1 for side in (0, 1))
        if speaks and len(both) > 1 and (np.ptp(both, axis=0) > 0).all():
            expected.append(pandas.DataFrame(both).corr(method="spearman").iloc[0, 1])
    if expected:
        assert found.rank_correlation == pytest.approx(np.mean(expected))
    else:
        assert found.rank_correlation is None


@given(batches, st.floats(0.1, 10.0), st.floats(-5.0, 5.0))
def test_nothing_turns_if_totals_are_scaled_and_shifted(
    rows: list[tuple[int, float, float]], factor: float, shift: float
) -> None:
    found = of([(group, total, factor * total + shift) for group, total, _ in rows])
    if found is not None:
        assert (found.flips, found.silenced, found.voiced, found.other_best) == (0, 0, 0, 0)
        assert found.rank_correlation in (None, pytest.approx(1.0))


def test_groups_of_one_have_no_advantages() -> None:
    assert of([(0, 1.0, 0.0), (1, 0.0, 1.0)]) is None
