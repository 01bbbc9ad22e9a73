"""The advantages that GRPO computes from the totals of a batch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rewardkit.analysis.signal import EPSILON
from rewardkit.core.batch.column import Floats

Way = Literal["group", "batch", "none", "each"]
"""What a total minus the mean of its group is divided by: the deviation in the group, in the batch, or nothing.
``"each"`` (GDPO): the totals are sums of normalized columns, and are normalized over the batch."""


@dataclass(frozen=True)
class Spread:
    """The totals of a batch, and the mean and deviation of their groups; (n,) each. NaN: the row is unscorable."""

    totals: Floats
    means: Floats
    deviations: Floats

    @classmethod
    def of(cls, totals: Floats, groups: NDArray[np.int64]) -> Spread:
        """Return the spread of `totals`, (n,); `groups`, (n,), holds the group of each row. Groups must be complete."""
        _, numbers = np.unique(groups, return_inverse=True)
        scored = ~np.isnan(totals)
        values = np.where(scored, totals, 0.0)
        counts = np.bincount(numbers, scored)
        means = (np.bincount(numbers, values) / np.maximum(counts, 1.0))[numbers]
        squares = np.bincount(numbers, np.where(scored, np.square(values - means), 0.0))
        return cls(totals, means, np.sqrt(squares / np.maximum(counts - 1.0, 1.0))[numbers])

    def part(self, start: int, stop: int) -> Spread:
        """Return the rows from `start` to `stop` (exclusive)."""
        return Spread(self.totals[start:stop], self.means[start:stop], self.deviations[start:stop])

    def advantages(self, way: Way, moments: Floats) -> Floats:
        """Return the advantages, (n,), as TRL's GRPOTrainer computes them: ``(total - mean) / (deviation + 1e-4)``.

        The advantage of an unscorable row is 0.

        Args:
            way: what the totals are divided by.
            moments: (3,) number, sum and sum of squares of the totals of all processes.
        """
        centered = self.totals - (moments[1] / max(moments[0], 1.0) if way == "each" else self.means)
        if way == "group":
            centered /= self.deviations + EPSILON
        elif way != "none":
            centered /= deviation_of(moments) + EPSILON
        return np.nan_to_num(centered, nan=0.0)


def moments_of(totals: Floats) -> Floats:
    """Return (3,) number, sum and sum of squares of those of the totals, (n,), that are not NaN."""
    known = totals[~np.isnan(totals)]
    with np.errstate(over="ignore"):
        return np.array([len(known), known.sum(), np.square(known).sum()])


def deviation_of(moments: Floats) -> float:
    """Return the sample standard deviation of the totals of all processes, from their `moments_of`."""
    count, total, squares = moments.tolist()
    return math.sqrt(max(0.0, squares - total * total / count) / (count - 1.0)) if count > 1.0 else 0.0
