"""The effect of a change on the gradient: the advantages of all groups, before and after.

``gradients(before, after, groups).flips`` counts the completions that were rewarded and are now penalized, or the
reverse.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from rewardkit.analyze.advantages import GroupStats, moments_of
from rewardkit.analyze.discrimination import centered_ranks
from rewardkit.batch.column import Floats, Numbers, Rows
from rewardkit.report.values import json_ready

_DIGITS = 6
"""Advantages are rounded to this many digits before their signs are compared: sums of floats are not exact. Trainers
compute advantages in float32, which has about seven."""
_EXACT = 9
"""Totals are rounded to this many digits before they are ranked. As in gates, which tolerate 1e-9."""


@dataclass(frozen=True)
class Gradients:
    """The advantages of n completions under two rewards, as GRPO computes them within each group.

    Attributes:
        groups: (n,) the group of each completion, from 0.
        before, after: (n,) advantages: total minus the mean of its group, divided by the deviation + 1e-4.
        sizes: (groups,) the number of completions.
        count: groups with at least two completions; the others have no advantages.
        flips: completions whose advantage changes its sign.
        rewarded: completions with an advantage above 0 that had none before.
        penalized: completions with an advantage below 0 that had none before.
        other_best: groups where every completion that was best is no longer best.
        silent_before, silent_after: groups whose totals are all equal, so that nothing is learned from them.
        silenced, voiced: groups that are newly silent, and that no longer are.
        rank_correlation: the mean over groups of Spearman's correlation between old and new totals, over the groups
            that are silent on neither side; None if there are none.
        largest_change: the largest change of an advantage.
    """

    groups: Numbers = field(repr=False)
    before: Floats = field(repr=False)
    after: Floats = field(repr=False)
    sizes: Numbers = field(repr=False)
    count: int
    flips: int
    rewarded: int
    penalized: int
    other_best: int
    silent_before: int
    silent_after: int
    silenced: int
    voiced: int
    rank_correlation: float | None
    largest_change: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        arrays = ("groups", "before", "after", "sizes")
        counts = {
            attribute.name: json_ready(getattr(self, attribute.name))
            for attribute in fields(self)
            if attribute.name not in arrays
        }
        return {"count": self.count, "completions": self.compared, **counts}

    @property
    def compared(self) -> int:
        """The number of completions in groups of two or more."""
        return int(self.sizes[self.sizes > 1].sum())

    @property
    def flipped(self) -> Rows:
        """(n,) whether the sign of the advantage flips."""
        flips: Rows = _signs(self.before) * _signs(self.after) < 0
        return flips

    @property
    def turned(self) -> Rows:
        """(n,) whether the sign of the advantage changes in any way, also from or to 0."""
        turns: Rows = _signs(self.before) != _signs(self.after)
        return turns


def gradients(before: Floats, after: Floats, groups: Numbers) -> Gradients | None:
    """Compare (n,) totals of complete groups; None if no group has two completions."""
    _, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    several = sizes > 1
    if not several.any():
        return None
    old, new = _advantages(before, numbers), _advantages(after, numbers)
    signs = _signs(old), _signs(new)
    silent = _silent(before, numbers), _silent(after, numbers)
    best = _best(before, numbers), _best(after, numbers)
    stable = np.zeros(len(sizes), dtype=np.bool_)
    stable[numbers[best[0] & best[1]]] = True
    speaks = several & ~silent[0] & ~silent[1]
    correlations = _spearman(before, after, numbers)[speaks]
    defined = correlations[~np.isnan(correlations)]
    return Gradients(
        numbers,
        old,
        new,
        sizes,
        int(several.sum()),
        int((signs[0] * signs[1] < 0).sum()),
        int(((signs[0] <= 0) & (signs[1] > 0)).sum()),
        int(((signs[0] >= 0) & (signs[1] < 0)).sum()),
        int((speaks & ~stable).sum()),
        int((several & silent[0]).sum()),
        int((several & silent[1]).sum()),
        int((several & silent[1] & ~silent[0]).sum()),
        int((several & silent[0] & ~silent[1]).sum()),
        float(defined.mean()) if len(defined) else None,
        float(np.abs(new - old).max()),
    )


def _advantages(totals: Floats, numbers: Numbers) -> Floats:
    return GroupStats.of(totals.copy(), numbers).advantages("group", moments_of(totals))


def _signs(advantages: Floats) -> Floats:
    signs: Floats = np.sign(np.round(advantages, _DIGITS))
    return signs


def _extremes(totals: Floats, numbers: Numbers) -> tuple[Floats, Floats]:
    """Return the lowest and the highest total of each group, inf and -inf if none is scored."""
    count = int(numbers.max()) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    scored = ~np.isnan(totals)
    np.minimum.at(low, numbers[scored], totals[scored])
    np.maximum.at(high, numbers[scored], totals[scored])
    return low, high


def _silent(totals: Floats, numbers: Numbers) -> Rows:
    low, high = _extremes(totals, numbers)
    return ~(np.round(high - low, _EXACT) > 0.0)


def _best(totals: Floats, numbers: Numbers) -> Rows:
    """Return (n,): whether no completion of the group has a higher total."""
    _, high = _extremes(totals, numbers)
    with np.errstate(invalid="ignore"):
        return np.round(high[numbers] - totals, _EXACT) <= 0.0


def _spearman(before: Floats, after: Floats, numbers: Numbers) -> Floats:
    """Return the rank correlation of each group, over the completions that have both totals; NaN if it has none."""
    complete = ~(np.isnan(before) | np.isnan(after))
    count = int(numbers.max()) + 1
    left, right = (centered_ranks(totals[complete], numbers[complete]) for totals in (before, after))

    def summed(values: Floats) -> Floats:
        return np.bincount(numbers[complete], values, minlength=count).astype(np.float64)

    spread = np.sqrt(summed(left * left) * summed(right * right))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 0.0, summed(left * right) / spread, np.nan)
