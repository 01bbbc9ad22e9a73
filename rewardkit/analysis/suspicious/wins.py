"""Whether what some completions of a group have in common wins: a rank test within groups.

Of a group that earned [0, 0, 1, 1] those at [2, 3] have a phrase: they beat every other, `chance` is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rewardkit.analysis.suspicious.evidence import Integers
from rewardkit.core.batch.column import Floats


@dataclass(frozen=True)
class Wins:
    """For each of the p properties, all (p,).

    Attributes:
        chance: that a completion with it earns more than one of its group without it; ties count half. 0.5 says
            nothing. NaN where no group has both.
        z: how surely it is not 0.5: the sum of ranks, less its mean over all permutations within groups, in its
            deviations (van Elteren's stratified rank sum test).
    """

    chance: Floats
    z: Floats


def wins(properties: Integers, members: Integers, count: int, groups: Integers, standing: Floats) -> Wins:
    """What each property wins.

    Args:
        properties: (pairs,) numbers below `count`; a pair says that a row has a property, and stands here once.
        members: (pairs,) the rows.
        count: of properties.
        groups: (r,) numbers of the rows' groups, from 0.
        standing: (r,) centered ranks within the group.
    """
    sizes = np.bincount(groups).astype(np.float64)
    spread = np.bincount(groups, standing**2) / sizes
    keys = properties * len(sizes) + groups[members]
    cells, at = np.unique(keys, return_inverse=True)
    inside = np.bincount(at, minlength=len(cells)).astype(np.float64)
    sums = np.bincount(at, standing[members], minlength=len(cells)).astype(np.float64)
    owner, group = cells // len(sizes), cells % len(sizes)
    pairs = inside * (sizes[group] - inside)
    variance = pairs / np.maximum(sizes[group] - 1.0, 1.0) * spread[group]
    mixed = pairs > 0.0

    def summed(values: Floats) -> Floats:
        result: Floats = np.bincount(owner[mixed], values[mixed], minlength=count).astype(np.float64)
        return result

    won, compared, deviation = summed(sums), summed(pairs), np.sqrt(summed(variance))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Wins(0.5 + won / compared, np.nan_to_num(won / deviation, nan=0.0, posinf=0.0, neginf=0.0))


def one_sided(z: Floats) -> Floats:
    """The chance of a standard normal to exceed each z."""
    return np.array([0.5 * math.erfc(value / math.sqrt(2.0)) for value in z.tolist()])


def discoveries(p: Floats, rate: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of the hypotheses to reject so that at most `rate` of the rejected are true (Benjamini, Hochberg 1995)."""
    if not p.size:
        return np.zeros(0, dtype=np.bool_)
    order = np.argsort(p, kind="stable")
    passing = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / len(p))
    result: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.zeros(len(p), dtype=np.bool_)
    if passing.size:
        result[order[: passing[-1] + 1]] = True
    return result
