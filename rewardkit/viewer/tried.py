"""What a reward that is tried would have given: its totals beside the recorded ones, and whose advantage flips.

``Results(scores).with_parts(parts).columns["flip"]`` is (n,): 1.0 where the sign of the advantage changes, NaN where it
is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rewardkit.replay.differences.advantages import gradients
from rewardkit.replay.differences.trial import TriedPart
from rewardkit.viewer.scores import Floats, Integers, Rows, Scores

NEW, CHANGE, FLIP, ADVANTAGE = "new", "change", "flip", "new_advantage"
"""The new total; new minus recorded; whether the sign of the advantage flips; the new advantage."""


@dataclass(frozen=True)
class Tried:
    """The results for the n completions of a run.

    Attributes:
        columns: (n,) each, NaN where a completion is not scored (yet).
        done: (n,) whether the reward was asked.
        errors: row -> why it could not be scored.
        scheduled: whether the reward has schedules, which have their end value here.
        omitted: components that were left out.
        inside: those of them that are no terms: nothing can be subtracted from the recorded totals, so changes and
            flips would be wrong, and are not shown.
    """

    columns: dict[str, Floats]
    done: Rows
    errors: dict[int, str] = field(default_factory=dict)
    scheduled: bool = False
    omitted: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()

    @property
    def flips(self) -> int:
        """The number of completions whose advantage flips its sign."""
        return int(np.nansum(self.columns[FLIP]))


class Results:
    """The results of a trial, in the order of `scores`, compared with the recorded totals of each group."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        size = len(scores)
        unknown = {name: np.full(size, np.nan) for name in (NEW, CHANGE, FLIP, ADVANTAGE)}
        self.found = Tried(unknown, np.zeros(size, dtype=np.bool_))
        self._own = _Index([scores.attempt, scores.rank, scores.part, scores.row])
        # A group: the same batch, the same group, the same prompt.
        groups = _Index([scores.attempt, scores.rank, scores.part, scores.group, scores.prompt])
        _, self._groups = np.unique(groups.numbers, return_inverse=True)
        self._sizes = np.bincount(self._groups)
        self._before: Floats | None = None

    def with_parts(self, parts: Sequence[TriedPart]) -> Tried:
        """Add some results, and return all.

        Components that were left out of the reward are subtracted from the recorded totals, too.
        """
        if not parts:
            return self.found
        rows = self._own.places(np.concatenate([part.keys for part in parts]))
        known = rows >= 0
        columns = {name: values.copy() for name, values in self.found.columns.items()}
        done, errors = self.found.done.copy(), dict(self.found.errors)
        columns[NEW][rows[known]] = np.concatenate([part.totals for part in parts])[known]
        done[rows[known]] = True
        start = 0
        for part in parts:
            late = {int(rows[start + row]): why for row, why in part.errors.items()}
            errors |= {row: why for row, why in late.items() if row >= 0}
            start += len(part.totals)
        scores, omitted = self.scores, parts[0].omitted
        inside = tuple(name for name in omitted if name in scores.components and name not in scores.terms)
        if not inside:
            self._compare(columns, done, rows[known], omitted)
        self.found = Tried(columns, done, errors, parts[0].scheduled, omitted, inside)
        return self.found

    def _compare(self, columns: dict[str, Floats], done: Rows, rows: Integers, omitted: tuple[str, ...]) -> None:
        """Compare the new totals of `rows` with the recorded ones, and the groups that are complete with them."""
        if self._before is None:
            terms = [self.scores.terms[name] for name in omitted if name in self.scores.terms]
            self._before = self.scores.total - sum(map(np.nan_to_num, terms), start=np.zeros(len(self.scores)))
        before, new = self._before, columns[NEW]
        columns[CHANGE][rows] = new[rows] - before[rows]
        touched = np.zeros(len(self._sizes), dtype=np.bool_)
        touched[self._groups[rows]] = True
        whole = touched & (np.bincount(self._groups, done) == self._sizes) & (self._sizes > 1)
        members = np.flatnonzero(whole[self._groups])
        found = gradients(before[members], new[members], self._groups[members]) if len(members) else None
        if found is not None:
            columns[FLIP][members] = found.flipped
            columns[ADVANTAGE][members] = found.after


def tried(scores: Scores, parts: Sequence[TriedPart]) -> Tried:
    """Return all results at once."""
    return Results(scores).with_parts(parts)


class _Index:
    """Finds rows by several whole numbers: ``_Index([x, y]).places(np.array([[1, 2]]))`` is where x is 1 and y is 2."""

    def __init__(self, columns: Sequence[Integers]) -> None:
        self._values = [np.unique(column) for column in columns]
        # Distinct values are counted from 0, so that the numbers stay small.
        self.numbers = self._packed([np.searchsorted(*pair) for pair in zip(self._values, columns, strict=True)])
        self._order = np.argsort(self.numbers, kind="stable")
        self._sorted = self.numbers[self._order]

    def places(self, keys: Integers) -> Integers:
        """Return (m,) the row of each of the (m, columns) keys; -1 if there is none."""
        if not len(self._sorted):
            return np.full(len(keys), -1)
        places, there = [], np.ones(len(keys), dtype=np.bool_)
        for values, column in zip(self._values, keys.T, strict=True):
            place = np.minimum(np.searchsorted(values, column), len(values) - 1)
            there &= values[place] == column
            places.append(place)
        numbers = self._packed(places)
        found = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return np.where(there & (self._sorted[found] == numbers), self._order[found], -1)

    def _packed(self, columns: Sequence[Integers]) -> Integers:
        numbers = np.zeros(len(columns[0]), dtype=np.int64)
        for values, column in zip(self._values, columns, strict=True):
            numbers = numbers * len(values) + column
        return numbers
