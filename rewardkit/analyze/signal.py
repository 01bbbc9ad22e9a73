"""Signal: the terms of a reward that drive learning.

GRPO learns from differences between the totals of a prompt's completions. ``shares(*causes(terms, groups))`` returns
the share of this variance that each term causes. Two terms with the same mean can be completely different: one may
cause all of the variance, while the other is the same for all completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Floats

Scale = Literal["group", "batch", "none"]

EPSILON = 1e-4
"""The number that is added to the standard deviation before division, as in TRL. A group with a standard deviation this
small does not have a signal."""


def causes(
    terms: Sequence[Floats] | Floats, groups: NDArray[np.int64], *, scale: Scale = "group"
) -> tuple[Floats, float]:
    """Return each term's contribution to the sum of squared advantages, and the sum.

    Let t be the term and T the total, both minus their group means, and let s be the divisor that turns T into the
    advantage. The term's contribution is the sum of t * T / s**2. Over all terms, the contributions add up to the sum
    of squared advantages (the covariance decomposition of a variance). A term that works against the others has a
    negative contribution. Both results can be summed over batches or processes, as long as no group is split.

    Args:
        terms: (terms, n) the additive shares of the total. NaN counts as 0, and a row that is NaN in all terms is
            excluded.
        groups: (n,) each row's group, in ascending order.
        scale: the divisor s. ``"group"``: s is the group's standard deviation + 1e-4 (GRPO's default), so that all
            groups count equally. ``"batch"`` or ``"none"``: s is the same for all groups, so that groups with larger
            differences count more.

    Returns:
        The contributions (terms,) and the sum of squared advantages; `shares` divides the former by the latter.
    """
    values = np.asarray(terms, dtype=np.float64)
    absent = np.isnan(values)
    if absent.any():
        rows = ~absent.all(axis=0)
        values, groups = np.where(absent, 0.0, values)[:, rows], groups[rows]
    if not groups.size:
        return np.zeros(len(values)), 0.0
    starts = np.concatenate(([0], np.flatnonzero(groups[1:] != groups[:-1]) + 1))
    sizes = np.append(starts[1:], len(groups)) - starts
    means = np.add.reduceat(values, starts, axis=1) / sizes
    parts = values - np.repeat(means, sizes, axis=1)
    total = parts.sum(axis=0)
    variance = np.add.reduceat(total * total, starts)
    deviation = np.sqrt(variance / np.maximum(sizes - 1, 1))
    weight = np.where(deviation > EPSILON, (deviation + EPSILON) ** -2.0 if scale == "group" else 1.0, 0.0)
    return (parts * (total * np.repeat(weight, sizes))).sum(axis=1), float((variance * weight).sum())


def shares(caused: Floats, variance: float) -> Floats | None:
    """Return each term's share of the squared advantages, from the results of `causes`, or None if there is no signal.

    The shares add up to 1.
    """
    return caused / variance if variance > 0.0 else None


def normalized(columns: Sequence[Floats], weights: Sequence[float], groups: NDArray[np.int64]) -> list[Floats]:
    """Return the weighted columns that GDPO adds up (arXiv:2601.05242), each normalized within groups.

    A value x becomes ``weight * (x - mean) / (deviation + 1e-4)``, with the sample standard deviation; NaN stays NaN.
    """
    result = []
    for column, weight in zip(columns, weights, strict=True):
        values = np.full(len(column), np.nan)
        for number in np.unique(groups):
            rows = (groups == number) & ~np.isnan(column)
            if rows.any():
                group_values = column[rows]
                deviation = group_values.std(ddof=1) if len(group_values) > 1 else 0.0
                values[rows] = weight * (group_values - group_values.mean()) / (deviation + EPSILON)
        result.append(values)
    return result
