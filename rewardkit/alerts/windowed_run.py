"""The training rows in an Evidence, divided into windows and groups, for all kinds of alerts.

``WindowedRun(evidence).groups`` numbers the groups. A group consists of the completions for one prompt in one step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rewardkit.alerts.evidence import Evidence, Integers
from rewardkit.alerts.series import Changes, Series, changes, mean_by_step, window_starts
from rewardkit.analyze.discrimination import centered_ranks
from rewardkit.batch.column import Floats

SHOWN_ROWS = 8
"""The maximum number of rows that an alert shows. The limit is arbitrary: a few completions are enough to understand an
alert."""


@dataclass(frozen=True)
class WindowedRun:
    """The m training rows in an Evidence, by window and group; `rows` (m,) contains their indices in the Evidence."""

    evidence: Evidence

    @cached_property
    def rows(self) -> Integers:
        training = self.evidence.training
        indices = np.arange(len(self.evidence.steps)) if training is None else np.flatnonzero(training)
        return indices.astype(np.int64)

    @cached_property
    def steps(self) -> Integers:
        return np.asarray(self.evidence.steps, dtype=np.int64)[self.rows]

    @cached_property
    def distinct_steps(self) -> Integers:
        return np.unique(self.steps)

    @cached_property
    def starts(self) -> Integers:
        return window_starts(self.distinct_steps)

    @cached_property
    def windows(self) -> Integers:
        """Each row's window number (m,)."""
        return np.searchsorted(self.starts, self.steps, side="right") - 1

    @cached_property
    def span(self) -> tuple[int, int]:
        """The first and last step of training."""
        return int(self.distinct_steps[0]), int(self.distinct_steps[-1])

    @cached_property
    def prompts(self) -> Integers:
        """Each row's prompt number (m,). The numbering does not depend on the row order."""
        numbers: Integers = np.unique(self.evidence.prompts, return_inverse=True)[1].astype(np.int64)
        return numbers[self.rows]

    @cached_property
    def groups(self) -> Integers:
        """Each row's group number (m,)."""
        at = np.searchsorted(self.distinct_steps, self.steps)
        keys = at * (int(self.prompts.max(initial=0)) + 1) + self.prompts
        numbers: Integers = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        return numbers

    @cached_property
    def totals(self) -> Floats:
        return np.asarray(self.evidence.totals, dtype=np.float64)[self.rows]

    @cached_property
    def earned(self) -> Floats:
        """The values (m,) that rank completions in a group: advantages if all are known; otherwise, totals."""
        if self.evidence.advantages is not None:
            advantages = np.asarray(self.evidence.advantages, dtype=np.float64)[self.rows]
            if not (np.isnan(advantages) & ~np.isnan(self.totals)).any():
                return advantages
        return self.totals

    @cached_property
    def standing(self) -> Floats:
        """Each row's centered rank (m,) in its group by `earned`."""
        return centered_ranks(self.earned, self.groups)

    def component(self, name: str) -> Floats:
        """Return a component's raw scores (m,)."""
        return np.asarray(self.evidence.components[name], dtype=np.float64)[self.rows]

    @cached_property
    def rewarded(self) -> tuple[str, ...]:
        """The components that are rewarded and not just monitored, sorted by name."""
        return tuple(sorted(set(self.evidence.components) - self.evidence.monitored))

    def series(self, values: Floats) -> Series:
        """Return the mean of `values` (m,) at each step."""
        return mean_by_step(self.steps, values)

    def changes(self, values: Floats) -> Changes:
        """Return the changes in the mean of `values` (m,) between windows."""
        return changes(self.series(values), self.starts)

    def within(self, steps: tuple[int, int]) -> NDArray[np.bool_]:
        """Return whether each row (m,) is between two steps, both inclusive."""
        return (self.steps >= steps[0]) & (self.steps <= steps[1])

    def correlation(self, values: Floats, other_values: Floats) -> float:
        """Return the pooled rank correlation of two (m,) arrays within groups, or 0 if one of them never varies."""
        first, second = centered_ranks(values, self.groups), centered_ranks(other_values, self.groups)
        complete = ~np.isnan(first) & ~np.isnan(second)
        first, second = first[complete], second[complete]
        scale = float(np.sqrt((first**2).sum() * (second**2).sum()))
        # Without variance there is no correlation.
        return float((first * second).sum()) / scale if scale > 1e-9 else 0.0

    @staticmethod
    def spread(values: Floats) -> float:
        """Return the difference between the 1st and 99th percentiles of `values`, or 0 if all values are NaN."""
        known_values = values[~np.isnan(values)]
        # Not the extremes: one outlier would make every change look small.
        return float(np.subtract(*np.quantile(known_values, (0.99, 0.01)))) if known_values.size else 0.0

    def varies(self, values: Floats) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the groups with at least two values, and whether each group's values differ by more than 1e-9."""
        known_rows = np.flatnonzero(~np.isnan(values))
        if not known_rows.size:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
        order = known_rows[np.argsort(self.groups[known_rows], kind="stable")]
        numbers, firsts, sizes = np.unique(self.groups[order], return_index=True, return_counts=True)
        spread = np.maximum.reduceat(values[order], firsts) - np.minimum.reduceat(values[order], firsts)
        several = sizes > 1
        # A range this small is only rounding.
        return numbers[several], spread[several] > 1e-9

    @cached_property
    def group_steps(self) -> Integers:
        """Each group's training step."""
        result = np.zeros(int(self.groups.max(initial=-1)) + 1, dtype=np.int64)
        result[self.groups] = self.steps
        return result

    def shown(self, chosen: Integers, keys: Floats | None = None) -> tuple[int, ...]:
        """Return the `chosen` rows with the highest `keys` (`earned` by default), as indices into the Evidence."""
        values = (self.earned if keys is None else keys)[chosen]
        order = np.lexsort((self.prompts[chosen], -self.steps[chosen], -np.nan_to_num(values, nan=-np.inf)))
        return tuple(self.rows[chosen[order[:SHOWN_ROWS]]].tolist())
