"""Signal: which term of a reward drives learning.

GRPO learns from how the completions of one prompt differ in their total. ``shares(*causes(terms, groups))`` says how
much of that variance each term causes: two terms of equal mean may well be one that decides everything and one that is
the same for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.column import Floats

Scale = Literal["group", "batch", "none"]

EPSILON = 1e-4
"""Added to a deviation before something is divided by it, as in TRL; a group that deviates less has no signal."""


def causes(
    terms: Sequence[Floats] | Floats, groups: NDArray[np.int64], *, scale: Scale = "group"
) -> tuple[Floats, float]:
    """What each term adds to the squares of the advantages, and their sum.

    With t the term and T the total, less their means in the group, and s what T is divided by to be the advantage, it
    is the sum of t * T / s**2: over all terms these add up to the sum of squared advantages (the covariance
    decomposition of a variance). A term that works against the others is negative. Both numbers may be added up over
    batches or processes, as long as no group is cut in two.

    Args:
        terms: (terms, n) additive shares of the total; NaN counts nothing, a row that is NaN in all is left out.
        groups: (n,) the group of each row, ascending.
        scale: ``"group"``: s is the group's deviation + 1e-4 (GRPO's default), so that all groups count alike;
            ``"batch"`` or ``"none"``: s is the same for all, and groups of larger differences count for more.

    Returns:
        (terms,) and their sum, as numbers to add up; `shares` divides them.
    """
    stacked = np.asarray(terms, dtype=np.float64)
    rows = ~np.isnan(stacked).all(axis=0)
    values, members = np.nan_to_num(stacked[:, rows]), groups[rows]
    if not members.size:
        return np.zeros(len(stacked)), 0.0
    _, numbers = np.unique(members, return_inverse=True)
    sizes = np.bincount(numbers)

    def centered(of: Floats) -> Floats:
        means: Floats = np.bincount(numbers, of) / sizes
        return of - means[numbers]

    parts = np.array([centered(term) for term in values])
    total = parts.sum(axis=0)
    variance = np.bincount(numbers, total * total)
    deviation = np.sqrt(variance / np.maximum(sizes - 1, 1))
    weight = np.where(deviation > EPSILON, (deviation + EPSILON) ** -2.0 if scale == "group" else 1.0, 0.0)
    return (parts * total * weight[numbers]).sum(axis=1), float((variance * weight).sum())


def shares(caused: Floats, variance: float) -> Floats | None:
    """The share of each term, from sums of `causes`: they add up to 1. None without any signal."""
    return caused / variance if variance > 0.0 else None


def normalized(columns: Sequence[Floats], weights: Sequence[float], groups: NDArray[np.int64]) -> list[Floats]:
    """Weighted columns, each normalized within its groups by itself: the terms that GDPO adds up (arXiv:2601.05242).

    ``weight * (x - mean) / (deviation + 1e-4)`` with the sample deviation; NaN stays NaN.
    """
    result = []
    for column, weight in zip(columns, weights, strict=True):
        values = np.full(len(column), np.nan)
        for number in np.unique(groups):
            rows = (groups == number) & ~np.isnan(column)
            if rows.any():
                own = column[rows]
                deviation = own.std(ddof=1) if len(own) > 1 else 0.0
                values[rows] = weight * (own - own.mean()) / (deviation + EPSILON)
        result.append(values)
    return result
