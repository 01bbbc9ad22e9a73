"""The rank test within groups, compared with enumeration, and the false discovery rate."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.alerts.wins import discoveries, one_sided, wins
from rewardkit.analyze.discrimination import centered_ranks

GROUP = st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans()), min_size=1, max_size=5)


@settings(deadline=None)
@given(st.lists(GROUP, min_size=1, max_size=3))
def test_chance_and_z_agree_with_enumeration(groups: list[list[tuple[float, bool]]]) -> None:
    numbers = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    values = np.array([value for group in groups for value, _ in group])
    has = np.array([own for group in groups for _, own in group])
    standing = centered_ranks(values, numbers)
    members = np.flatnonzero(has)
    found = wins(np.zeros(len(members), dtype=np.int64), members, 1, numbers, standing)
    pairs = [
        0.5 + 0.5 * np.sign(mine - other)
        for group in groups
        for mine, own in group
        for other, theirs in group
        if own and not theirs
    ]
    if not pairs:
        assert np.isnan(found.chance[0])
        return
    assert found.chance[0] == pytest.approx(np.mean(pairs))
    variance = won = 0.0
    for number in range(len(groups)):
        rows = np.flatnonzero(numbers == number)
        if has[rows].all() or not has[rows].any():
            continue
        own = [standing[rows][list(order)][has[rows]].sum() for order in permutations(range(len(rows)))]
        variance += float(np.var(own))
        won += float(standing[rows][has[rows]].sum())
    assert found.z[0] == pytest.approx(won / np.sqrt(variance) if variance > 1e-12 else 0.0, abs=1e-9)


def test_ties_share_their_rank_and_unknown_values_stay_unknown() -> None:
    found = centered_ranks(np.array([5.0, 9.0, 9.0, np.nan, 1.0]), np.array([0, 0, 0, 0, 1]))
    np.testing.assert_array_equal(found, [-1.0, 0.5, 0.5, np.nan, 0.0])


def test_the_false_discovery_rate() -> None:
    assert discoveries(np.array([0.01, 0.9, 0.02, 0.03]), 0.04).tolist() == [True, False, True, True]
    assert discoveries(np.array([0.05, 0.9]), 0.04).tolist() == [False, False]
    assert not discoveries(np.zeros(0), 0.04).size
    assert one_sided(np.array([0.0, 1.6448536])).tolist() == pytest.approx([0.5, 0.05])
