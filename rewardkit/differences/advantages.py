"""The effect of a reward change on the gradient: the advantages in all groups before and after the change.

``gradients(before, after, groups).flips`` counts the completions that were reinforced and are now penalized, or vice
versa.
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
"""Advantages are rounded to this many digits before their signs are compared, because sums of floats are not exact.
Trainers compute advantages in float32, which has about seven."""
_EXACT = 9
"""Totals are rounded to this many digits before they are ranked. Gates also tolerate differences of 1e-9."""


@dataclass(frozen=True)
class Gradients:
    """The advantages of n completions under two rewards, as GRPO computes them within each group.

    Attributes:
        groups: (n,) the group of each completion, numbered from 0.
        before, after: (n,) advantages: the total minus the group mean, divided by the group's standard deviation +
            1e-4.
        sizes: (groups,) the number of completions in each group.
        count: the number of groups with at least two completions. The other groups have no advantages.
        flips: the number of completions whose advantage changes sign.
        rewarded: the number of completions with an advantage above 0 that was not above 0 before.
        penalized: the number of completions with an advantage below 0 that was not below 0 before.
        other_best: the number of groups in which none of the previously best completions is still the best.
        silent_before, silent_after: the number of groups that give no signal because all their totals are equal.
        silenced, voiced: the number of groups that become silent, and the number that are no longer silent.
        rank_correlation: Spearman's correlation between old and new totals within groups, averaged over the groups that
            give a signal before and after, or None if there are no such groups.
        largest_change: the largest change in an advantage.
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
        """Return all values except the arrays as JSON values."""
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
        """(n,) whether the advantage changes from positive to negative, or vice versa."""
        flips: Rows = _signs(self.before) * _signs(self.after) < 0
        return flips

    @property
    def turned(self) -> Rows:
        """(n,) whether the sign of the advantage changes in any way, including from or to 0."""
        turns: Rows = _signs(self.before) != _signs(self.after)
        return turns


def gradients(before: Floats, after: Floats, groups: Numbers) -> Gradients | None:
    """Compare the (n,) totals of complete groups. Return None if no group has at least two completions."""
    _, numbers, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    is_group = sizes > 1
    if not is_group.any():
        return None
    old, new = _advantages(before, numbers), _advantages(after, numbers)
    signs = _signs(old), _signs(new)
    silent = _silent(before, numbers), _silent(after, numbers)
    best = _best(before, numbers), _best(after, numbers)
    stable = np.zeros(len(sizes), dtype=np.bool_)
    stable[numbers[best[0] & best[1]]] = True
    has_signal = is_group & ~silent[0] & ~silent[1]
    correlations = _spearman(before, after, numbers)[has_signal]
    defined = correlations[~np.isnan(correlations)]
    return Gradients(
        numbers,
        old,
        new,
        sizes,
        int(is_group.sum()),
        int((signs[0] * signs[1] < 0).sum()),
        int(((signs[0] <= 0) & (signs[1] > 0)).sum()),
        int(((signs[0] >= 0) & (signs[1] < 0)).sum()),
        int((has_signal & ~stable).sum()),
        int((is_group & silent[0]).sum()),
        int((is_group & silent[1]).sum()),
        int((is_group & silent[1] & ~silent[0]).sum()),
        int((is_group & silent[0] & ~silent[1]).sum()),
        float(defined.mean()) if len(defined) else None,
        float(np.abs(new - old).max()),
    )


def _advantages(totals: Floats, numbers: Numbers) -> Floats:
    return GroupStats.of(totals.copy(), numbers).advantages("group", moments_of(totals))


def _signs(advantages: Floats) -> Floats:
    signs: Floats = np.sign(np.round(advantages, _DIGITS))
    return signs


def _extremes(totals: Floats, numbers: Numbers) -> tuple[Floats, Floats]:
    """Return the lowest and the highest total in each group, or inf and -inf if no completion has a score."""
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
    """Return (n,) whether each completion has the highest total in its group."""
    _, high = _extremes(totals, numbers)
    with np.errstate(invalid="ignore"):
        return np.round(high[numbers] - totals, _EXACT) <= 0.0


def _spearman(before: Floats, after: Floats, numbers: Numbers) -> Floats:
    """Return the rank correlation in each group over completions with both totals, or NaN if it is undefined."""
    complete = ~(np.isnan(before) | np.isnan(after))
    count = int(numbers.max()) + 1
    left, right = (centered_ranks(totals[complete], numbers[complete]) for totals in (before, after))

    def summed(values: Floats) -> Floats:
        return np.bincount(numbers[complete], values, minlength=count).astype(np.float64)

    spread = np.sqrt(summed(left * left) * summed(right * right))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread > 0.0, summed(left * right) / spread, np.nan)
