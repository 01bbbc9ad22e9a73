"""Column: one reward's values for all rows in a batch."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.score import ABSTAINED, ERRORED, FAILED, SCORED, SKIPPED, Outcome

T = TypeVar("T")

Floats = NDArray[np.float64]
Codes = NDArray[np.int8]
Rows = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """An addend's weight in a sum, and the rows in which the addend counts (``reached``).

    ``weight`` is one number, or (n,) if it differs between rows. ``reached`` (n,) is None if the addend counts in all
    rows.
    """

    weight: float | Floats
    reached: Rows | None = None

    def filled(self, rows: Rows, other: Share) -> Share:
        """Return this share, with `other` in its place in `rows`."""
        if self.reached is None and other.reached is None and np.isscalar(self.weight) and self.weight == other.weight:
            return self
        size = len(rows)
        reached = [np.ones(size, dtype=np.bool_) if share.reached is None else share.reached for share in (self, other)]
        return Share(np.where(rows, other.weight, self.weight), np.where(rows, reached[1], reached[0]))


@dataclass(slots=True)
class Column:
    """The values of one reward for all rows of a batch.

    ``values`` (n,) contains each row's contribution, or NaN if there is none. ``codes`` (n,) contains each row's
    outcome. An errored row may contribute the lowest bound, but does not count as scored. ``shares`` contains one
    `Share` for each addend of the reward. ``turns`` contains, for rows where this is known, the contribution of each
    turn to the value. ``complete`` is True if every row is known to be scored, so that rows do not need to be masked.
    """

    values: Floats
    codes: Codes
    notes: dict[int, str] = field(default_factory=dict)
    parts: dict[str, Floats] = field(default_factory=dict)
    shares: tuple[Share, ...] = ()
    turns: dict[int, Sequence[float]] = field(default_factory=dict)
    complete: bool = False

    @classmethod
    def empty(cls, size: int, code: int = SKIPPED) -> Column:
        return cls(np.full(size, np.nan), np.full(size, code, dtype=np.int8))

    @classmethod
    def abstained(cls, size: int) -> Column:
        return cls.empty(size, ABSTAINED)

    @classmethod
    def combined(cls, children: Sequence[tuple[Column, bool]], values: Floats, rows: Rows) -> Column:
        """Return the column of a combination of `children`.

        The combination fails in rows in which a live child failed. In other rows, it has `values` if a child
        contributes.

        Args:
            children: (column, whether the child is live) pairs. A child is live if its weight is not zero. If no child
                is live, the combination counts as scored in rows in which a child was scored at weight zero.
            values: (n,) the combination's values in rows in which a child contributes.
            rows: (n,) the rows to fill.
        """
        live = [column for column, is_live in children if is_live]
        counted = live or [column for column, _ in children]
        if all(column.complete for column in counted):  # values outside of `rows` are arbitrary
            return cls(values, np.zeros(len(rows), dtype=np.int8), complete=not np.isnan(values).any())
        result = cls.empty(len(rows))
        scored, failed = np.zeros_like(rows), np.zeros_like(rows)
        for column in counted:
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
        """The rows (n,) that contribute a number."""
        return ~np.isnan(self.values)

    def counts(self) -> list[int]:
        """Return the number of rows with each code."""
        if self.complete:
            return [len(self.values), 0, 0, 0, 0]
        counted: list[int] = np.bincount(self.codes, minlength=len(Outcome)).tolist()
        return counted

    @property
    def unscorable(self) -> Rows:
        """The rows (n,) that failed without a substitute value."""
        unscorable: Rows = (self.codes == FAILED) & np.isnan(self.values)
        return unscorable

    def fill(self, rows: Rows, other: Column) -> None:
        """Copy the `rows` of `other` into this column."""
        self.complete = False
        self.values[rows] = other.values[rows]
        self.codes[rows] = other.codes[rows]
        self.notes.update((row, note) for row, note in other.notes.items() if rows[row])
        self.turns.update((row, turns) for row, turns in other.turns.items() if rows[row])
        for name, part in other.parts.items():
            self.parts.setdefault(name, np.full(len(self.values), np.nan))[rows] = part[rows]

    def extended(self, rows: Rows, other: Column) -> Column:
        """Copy the `rows` of `other`, which has the same reward's values and shares for them; return this column."""
        self.fill(rows, other)
        before = self.shares or other.shares
        self.shares = tuple(share.filled(rows, new) for share, new in zip(before, other.shares, strict=True))
        return self

    def part(self, start: int, stop: int) -> Column:
        """Return the rows from `start` to `stop` (excluded)."""
        notes = {row - start: note for row, note in self.notes.items() if start <= row < stop}
        parts = {name: values[start:stop] for name, values in self.parts.items()}
        turns = {row - start: shares for row, shares in self.turns.items() if start <= row < stop}
        values, codes = self.values[start:stop], self.codes[start:stop]
        return Column(values, codes, notes, parts, turns=turns, complete=self.complete)

    @property
    def scored(self) -> Floats:
        """The values (n,), with NaN in rows that are not scored."""
        return self.values.copy() if self.complete else np.where(self.codes == SCORED, self.values, np.nan)


def weighted_total(columns: Sequence[tuple[float, Column]]) -> Floats:
    """Return the weighted sum of the contributing values in each row (n,)."""
    total = np.zeros(len(columns[0][1].values))
    for weight, column in columns:
        if weight != 0.0:
            values = weight * column.values
            total += values if column.complete else np.where(np.isnan(values), 0.0, values)
    return total


def add_by_name(mappings: Iterable[Mapping[str, T]], add: Callable[[T, T], T] = operator.add) -> dict[str, T]:
    """Add up the values in several mappings by name, for example, from several processes or parts of a batch."""
    totals: dict[str, T] = {}
    for name, value in chain.from_iterable(mapping.items() for mapping in mappings):
        totals[name] = add(totals[name], value) if name in totals else value
    return totals


def sums(columns: Mapping[str, Column], names: Iterable[str]) -> list[list[float]]:
    """Return (names, 3): the number of scored rows, the sum of their values, and the sum of their squares.

    An errored row counts with the lowest bound, so that a policy cannot influence a schedule with completions that
    cause a reward to raise an exception.
    """
    totals = []
    for name in names:
        column = columns[name]
        values = column.values[column.contributing & np.isin(column.codes, (SCORED, ERRORED))]
        with np.errstate(over="ignore"):  # squares of huge numbers
            totals.append([float(len(values)), float(values.sum()), float((values * values).sum())])
    return totals
