"""What a reward that is tried would have given: its totals beside the recorded ones, and whose advantage flips.

``tried(scores, parts).columns["flip"]`` is (n,): 1.0 where the sign of the advantage changes, NaN where it is unknown.
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
        inside: those of them that are no terms: nothing can be subtracted from the recorded totals, so
            changes and flips would be wrong, and are not told.
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


def tried(scores: Scores, parts: Sequence[TriedPart]) -> Tried:
    """Put the results in the order of `scores`, and compare them with the recorded totals in each group.

    Components that were left out are subtracted from the recorded totals, too.
    """
    size = len(scores)
    new, done, errors = np.full(size, np.nan), np.zeros(size, dtype=np.bool_), dict[int, str]()
    omitted, scheduled = (parts[0].omitted, parts[0].scheduled) if parts else ((), False)
    inside = tuple(name for name in omitted if name in scores.components and name not in scores.terms)
    if parts:
        keys = np.concatenate([part.keys for part in parts])
        rows = _rows_of(keys, scores)
        known = rows >= 0
        new[rows[known]] = np.concatenate([part.totals for part in parts])[known]
        done[rows[known]] = True
        start = 0
        for part in parts:
            errors |= {int(rows[start + row]): why for row, why in part.errors.items()}
            start += len(part.totals)
    before = scores.total.copy()
    for name in omitted:
        if name in scores.terms:
            before -= np.nan_to_num(scores.terms[name])
    columns = {NEW: new, CHANGE: new - before, FLIP: np.full(size, np.nan), ADVANTAGE: np.full(size, np.nan)}
    if inside:
        columns[CHANGE] = np.full(size, np.nan)
        return Tried(columns, done, errors, scheduled, omitted, inside)
    whole = np.flatnonzero(done & _whole(scores, done))
    found = gradients(before[whole], new[whole], _groups(scores)[whole]) if len(whole) else None
    if found is not None:
        several = found.sizes[found.groups] > 1
        columns[FLIP][whole[several]] = found.flipped[several]
        columns[ADVANTAGE][whole[several]] = found.after[several]
    return Tried(columns, done, errors, scheduled, omitted)


def _groups(scores: Scores) -> Integers:
    """Return (n,) the number of the group of each completion: same batch, same group, same prompt."""
    return _packed([np.stack([scores.attempt, scores.rank, scores.part, scores.group, scores.prompt], axis=1)])[0]


def _whole(scores: Scores, done: Rows) -> Rows:
    """Return (n,) whether all completions of a group are done."""
    _, numbers = np.unique(_groups(scores), return_inverse=True)
    missing: Rows = np.bincount(numbers, ~done)[numbers] == 0
    return missing


def _rows_of(keys: Integers, scores: Scores) -> Integers:
    """Return the rows of some completions, (m, 4) keys; -1 if `scores` does not have one."""
    own = np.stack([scores.attempt, scores.rank, scores.part, scores.row], axis=1)
    theirs, ours = _packed([keys, own])
    order = np.argsort(ours, kind="stable")
    places = np.minimum(np.searchsorted(ours[order], theirs), max(len(ours) - 1, 0))
    return np.where(ours[order[places]] == theirs, order[places], -1) if len(ours) else np.full(len(keys), -1)


def _packed(tables: Sequence[Integers]) -> list[Integers]:
    """Return one number for each row of tables with the same columns: equal rows have equal numbers."""
    numbers = [np.zeros(len(table), dtype=np.int64) for table in tables]
    for column in range(tables[0].shape[1]):
        # Distinct values are counted from 0, so that the numbers stay small.
        values = np.unique(np.concatenate([table[:, column] for table in tables]))
        numbers = [
            one * len(values) + np.searchsorted(values, table[:, column])
            for one, table in zip(numbers, tables, strict=True)
        ]
    return numbers
