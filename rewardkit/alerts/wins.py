"""A rank test within groups for whether completions that share a property score higher than the others.

For example, if a group's scores are [0, 0, 1, 1] and the last two completions contain a phrase, they always win, so
`chance` is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rewardkit.alerts.evidence import Integers
from rewardkit.batch.column import Floats


@dataclass(frozen=True)
class Wins:
    """The results of the rank test for p properties; all arrays are (p,).

    Attributes:
        chance: the probability that a completion with the property scores higher than a completion in the same group
            without it. A tie counts half, and 0.5 means no effect. NaN if no group has both kinds of completions.
        z: the certainty that the probability is not 0.5: the sum of ranks minus its mean over all permutations within
            groups, in standard deviations (van Elteren's stratified rank sum test).
    """

    chance: Floats
    z: Floats


def wins(properties: Integers, members: Integers, count: int, groups: Integers, standing: Floats) -> Wins:
    """Return the result of the rank test for each property.

    Args:
        properties: (pairs,) the property of each (property, row) pair, as a number below `count`. Pairs are unique.
        members: (pairs,) each pair's row.
        count: the number of properties.
        groups: (r,) each row's group number, counted from 0.
        standing: (r,) each row's centered rank in its group.
    """
    sizes = np.bincount(groups).astype(np.float64)
    spread = np.bincount(groups, standing**2) / sizes
    keys = properties * len(sizes) + groups[members]
    cells, at = np.unique(keys, return_inverse=True)
    member_counts = np.bincount(at, minlength=len(cells)).astype(np.float64)
    sums = np.bincount(at, standing[members], minlength=len(cells)).astype(np.float64)
    owner, group = cells // len(sizes), cells % len(sizes)
    pairs = member_counts * (sizes[group] - member_counts)
    variance = pairs / np.maximum(sizes[group] - 1.0, 1.0) * spread[group]
    has_both = pairs > 0.0

    def summed(values: Floats) -> Floats:
        result: Floats = np.bincount(owner[has_both], values[has_both], minlength=count).astype(np.float64)
        return result

    win_sums, compared, deviation = summed(sums), summed(pairs), np.sqrt(summed(variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Wins(0.5 + win_sums / compared, np.nan_to_num(win_sums / deviation, nan=0.0, posinf=0.0, neginf=0.0))


def one_sided(z: Floats) -> Floats:
    """Return the probability that a standard normal variable exceeds each z."""
    return np.array([0.5 * math.erfc(value / math.sqrt(2.0)) for value in z.tolist()])


def discoveries(p: Floats, rate: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which hypotheses to reject at a false discovery rate of `rate` (Benjamini and Hochberg 1995)."""
    if not p.size:
        return np.zeros(0, dtype=np.bool_)
    order = np.argsort(p, kind="stable")
    passing = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    result: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.zeros(len(p), dtype=np.bool_)
    if passing.size:
        result[order[: passing[-1] + 1]] = True
    return result
