"""Column: one reward over a whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, SKIPPED

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]
Rows = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """What a reward passes on of its value to one addend: ``weight`` times it, in the rows that ``reached`` it.

    The weight (n,) is one number where it is the same in all rows; ``reached`` (n,) is None where that is all of them.
    """

    weight: float | Floats
    reached: Rows | None = None

    def filled(self, rows: Rows, other: Share) -> Share:
        """This share, with that of `other` in `rows`."""
        if self.reached is None and other.reached is None and np.isscalar(self.weight) and self.weight == other.weight:
            return self
        size = len(rows)
        reached = [np.ones(size, dtype=np.bool_) if one.reached is None else one.reached for one in (self, other)]
        return Share(np.where(rows, other.weight, self.weight), np.where(rows, reached[1], reached[0]))


@dataclass(slots=True)
class Column:
    """One reward over a whole batch.

    ``values`` (n,) holds what a row contributes and NaN where nothing does; ``codes`` (n,) says how it came
    about: an errored row may contribute its lowest bound, but never reads as a scored one. ``shares`` has one `Share`
    for each addend of the reward.
    """

    values: Floats
    codes: Codes
    notes: dict[int, str] = field(default_factory=dict)
    parts: dict[str, Floats] = field(default_factory=dict)
    shares: tuple[Share, ...] = ()

    @classmethod
    def empty(cls, size: int, code: int = SKIPPED) -> Column:
        return cls(np.full(size, np.nan), np.full(size, code, dtype=np.int8))

    @classmethod
    def abstained(cls, size: int) -> Column:
        return cls.empty(size, ABSTAINED)

    @classmethod
    def combined(cls, children: Sequence[tuple[Column, bool]], values: Floats, rows: Rows) -> Column:
        """A composite's column: failed where a live child failed, else `values` where one contributes.

        Args:
            children: each with whether it is live (its weight is not zero). Without any live one, those that were
                scored at weight zero still make the composite scored.
            values: (n,) what the composite gives where something contributes.
            rows: (n,) the rows to fill.
        """
        result = cls.empty(len(rows))
        scored, failed = np.zeros_like(rows), np.zeros_like(rows)
        live = [column for column, is_live in children if is_live]
        for column in live or [column for column, _ in children]:
            absent = np.isnan(column.values)
            scored |= ~absent
            if live:
                failed |= absent & (column.codes == FAILED)
        filled = rows & scored & ~failed
        result.codes[rows] = ABSTAINED
        result.codes[filled] = SCORED
        result.codes[rows & failed] = FAILED
        result.values[filled] = values[filled]
        return result

    @property
    def contributing(self) -> Rows:
        """(n,) rows that have a number to add."""
        return ~np.isnan(self.values)

    @property
    def unscorable(self) -> Rows:
        """(n,) rows that failed without a stand-in value."""
        unscorable: Rows = (self.codes == FAILED) & np.isnan(self.values)
        return unscorable

    def fill(self, rows: Rows, other: Column) -> None:
        """Take over `other` in `rows`."""
        self.values[rows] = other.values[rows]
        self.codes[rows] = other.codes[rows]
        self.notes.update((row, note) for row, note in other.notes.items() if rows[row])
        for name, part in other.parts.items():
            self.parts.setdefault(name, np.full(len(self.values), np.nan))[rows] = part[rows]

    def extended(self, rows: Rows, other: Column) -> Column:
        """This column, with `other` taken over in `rows`: the same reward evaluated there, its shares included."""
        self.fill(rows, other)
        before = self.shares or other.shares
        self.shares = tuple(own.filled(rows, new) for own, new in zip(before, other.shares, strict=True))
        return self

    def part(self, start: int, stop: int) -> Column:
        """The rows from `start` up to `stop`."""
        notes = {row - start: note for row, note in self.notes.items() if start <= row < stop}
        parts = {name: values[start:stop] for name, values in self.parts.items()}
        return Column(self.values[start:stop], self.codes[start:stop], notes, parts)

    @property
    def scored(self) -> Floats:
        """(n,) the values of scored rows, NaN elsewhere."""
        return np.where(self.codes == SCORED, self.values, np.nan)


def weighted_total(columns: Sequence[tuple[float, Column]]) -> Floats:
    """(n,) the sum of what contributes, by weight."""
    total = np.zeros(len(columns[0][1].values))
    for weight, column in columns:
        if weight != 0.0:
            total += np.where(np.isnan(column.values), 0.0, weight * column.values)
    return total


def sums(columns: Mapping[str, Column], names: Iterable[str]) -> list[list[float]]:
    """(names, 3) of a batch: how many rows were scored, the sum of their values, the sum of their squares.

    A row that errored counts with what it was given, its lowest bound: a policy must not advance by what raises.
    """
    found = []
    for name in names:
        column = columns[name]
        values = column.values[column.contributing & np.isin(column.codes, (SCORED, ERRORED))]
        with np.errstate(over="ignore"):  # squares of huge numbers
            found.append([float(len(values)), float(values.sum()), float((values * values).sum())])
    return found
