"""The two completions to compare: left and right.

By default, the left completion is the best in the first epoch, and the right completion is the best in the newest
epoch. If steps are selected, the right completion is the best in the newest epoch within these steps, and the left
completion is the best in the newest epoch before these steps.

A *visit* is an epoch in which the prompt was seen, or a step if the run has fewer than two epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rewardkit.page.scores import Integers, Scores, read_key
from rewardkit.page.selection import Steps, rows_in


@dataclass(frozen=True, eq=False)
class PromptCompletions:
    """The completions for one prompt: `rows` in the scores (k,), in step order. `steps` is the selected range."""

    scores: Scores
    rows: Integers
    steps: Steps | None = None

    @cached_property
    def selected(self) -> Integers:
        """The rows in the selected steps; empty if no steps are selected or none of the steps has this prompt."""
        if self.steps is None:
            return self.rows[:0]
        return self.rows[np.isin(self.rows, rows_in(self.scores, self.steps))]

    @cached_property
    def visits(self) -> list[int]:
        """The epochs (or steps) that have completions for the prompt, in order."""
        return sorted(set(self.scores.visit[self.rows].tolist()))

    def best(self, visit: int) -> int:
        """Return the row with the highest total in a visit; if there are ties, the last of these rows."""
        return self._best(self.rows[self.scores.visit[self.rows] == visit])

    def _best(self, rows: Integers) -> int:
        totals = self.scores.total[rows]
        return int(rows[::-1][np.argmax(np.where(np.isnan(totals), -np.inf, totals)[::-1])])

    def _newest(self, rows: Integers) -> Integers:
        """Return the rows in `rows` that belong to the newest visit in `rows`."""
        visits = self.scores.visit[rows]
        return np.asarray(rows[visits == visits.max()])

    def worst(self, visit: int) -> int:
        return self._worst(self.rows[self.scores.visit[self.rows] == visit])

    def _worst(self, rows: Integers) -> int:
        totals = self.scores.total[rows]
        return int(rows[np.argmin(np.where(np.isnan(totals), np.inf, totals))])

    def chosen(self, name: str) -> int | None:
        """Return the row of the completion called `name`, or None if this prompt does not have the completion."""
        row = self.scores.find(read_key(name))
        return row if row is not None and row in set(self.rows.tolist()) else None

    def right(self, name: str = "") -> int:
        row = self.chosen(name)
        if row is not None:
            return row
        return self._best(self._newest(self.selected)) if len(self.selected) else self.best(self.visits[-1])

    def left(self, name: str = "") -> int:
        """Return the named row.

        The default is the best row in the first visit, or the worst if there is only one visit.
        """
        row = self.chosen(name)
        if row is not None:
            return row
        if self.steps is not None and len(self.selected):
            before = self.rows[self.scores.training[self.rows] & (self.scores.step[self.rows] < self.steps[0])]
            return self._best(self._newest(before)) if len(before) else self._worst(self.selected)
        return self.best(self.visits[0]) if len(self.visits) > 1 else self.worst(self.visits[0])

    def visit_of(self, row: int) -> int:
        """Return the index of a row's visit within `visits`."""
        return self.visits.index(int(self.scores.visit[row]))

    def place(self, row: int) -> tuple[int, int]:
        """Return a row's position in its visit, counted from 1, and the number of rows in the visit."""
        rows = self.rows[self.scores.visit[self.rows] == self.scores.visit[row]]
        return int(np.flatnonzero(rows == row)[0]) + 1, len(rows)

    def neighbor(self, row: int, by: int) -> int:
        """Return the row `by` positions after `row` in the same visit, wrapping around at the end."""
        rows = self.rows[self.scores.visit[self.rows] == self.scores.visit[row]]
        at = int(np.flatnonzero(rows == row)[0]) + by
        return int(rows[at % len(rows)])
