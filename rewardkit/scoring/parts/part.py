"""Part: consecutive rows that any process can read by itself.

``part.sub(10, 20).chunks(512)`` yields ten rows; ``regrouped(parts, 512)`` and ``whole_groups(parts, columns)`` cut the
same rows in other places.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, final

import numpy as np

from rewardkit.batch.equality import alike, equality
from rewardkit.scoring.chunks import Chunk
from rewardkit.scoring.files import Row

_FEW = 64

_Self = TypeVar("_Self", bound="Part")


class Part(ABC):
    """Consecutive rows. A part is small, can be pickled, and is read where it is needed."""

    rows: int

    @abstractmethod
    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield the rows, at most `most` at a time.

        Args:
            names: the columns that are needed; None for all. Others may be there, too.
        """

    @abstractmethod
    def sub(self: _Self, start: int, stop: int) -> _Self:
        """Return the rows from `start` up to `stop`, which is at most `rows`."""


@final
@dataclass(frozen=True)
class Held(Part):
    """Rows of data that cannot be read from the middle, which travel with the part."""

    chunk: Chunk

    @property
    def rows(self) -> int:  # type: ignore[override]
        return len(self.chunk)

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        for start in range(0, self.rows, most):
            yield self.chunk.part(start, start + most)

    def sub(self, start: int, stop: int) -> Held:
        return Held(self.chunk.part(start, stop))


@final
@dataclass(frozen=True)
class Joined(Part):
    """Parts one after the other."""

    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:  # type: ignore[override]
        return sum(part.rows for part in self.parts)

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        return full((chunk for part in self.parts for chunk in part.chunks(most, names)), most)

    def sub(self, start: int, stop: int) -> Joined:
        found, before = [], 0
        for part in self.parts:
            first, last = max(start - before, 0), min(stop - before, part.rows)
            if first < last:
                found.append(part.sub(first, last))
            before += part.rows
        return Joined(tuple(found))


def full(chunks: Iterable[Chunk], most: int) -> Iterator[Chunk]:
    """Yield the rows of `chunks` in chunks of exactly `most` rows; the last one may be shorter."""
    held: Chunk | None = None
    for chunk in chunks:
        held = chunk if held is None else held.followed_by(chunk)
        while len(held) > most:
            yield held.part(0, most)
            held = held.part(most)
        if len(held) == most:
            yield held
            held = None
    if held is not None:
        yield held


def first_apart(parts: Iterable[Part], rows: int) -> Iterator[Part]:
    """Yield the parts with the first `rows` rows as a part of their own, which shows how long the others will take."""
    first = True
    for part in parts:
        if first and part.rows > rows:
            yield part.sub(0, rows)
            part = part.sub(rows, part.rows)
        first = False
        yield part


def regrouped(parts: Iterable[Part], size: int) -> Iterator[Part]:
    """Cut the rows so that each part but the last one has a multiple of `size` rows."""
    pieces: list[Part] = []
    held = 0
    for part in parts:
        whole = (held + part.rows) // size * size
        cut = max(whole - held, 0)
        if cut:
            yield _joined([*pieces, part.sub(0, cut)])
            pieces, held = [], 0
        if cut < part.rows:
            pieces.append(part.sub(cut, part.rows))
            held += part.rows - cut
    if pieces:
        yield _joined(pieces)


def whole_groups(parts: Iterable[Part], common: Sequence[str]) -> Iterator[Part]:
    """Cut the rows only between rows that differ in a column of `common`."""
    pieces: list[Part] = []
    for part in parts:
        start = continued(pieces[-1], part, common) if pieces else 0
        if start:
            pieces.append(part.sub(0, start))
        if start < part.rows:
            if pieces:
                yield _joined(pieces)
            pieces = [part.sub(start, part.rows)]
    if pieces:
        yield _joined(pieces)


def continued(before: Part, part: Part, common: Sequence[str]) -> int:
    """Return how many of the first rows of `part` are equal to the last row of `before`, in all columns of `common`."""
    (last,) = before.sub(before.rows - 1, before.rows).chunks(1, common)
    found = 0
    for chunk in part.chunks(_FEW, common):
        both = last.followed_by(chunk)
        rows = alike([equality(both.column(name)) for name in common], len(both))
        other = np.flatnonzero(rows != rows[0])
        if len(other):
            return found + int(other[0]) - 1
        found += len(chunk)
    return found


def _joined(pieces: Sequence[Part]) -> Part:
    return pieces[0] if len(pieces) == 1 else Joined(tuple(pieces))


# Survey: what is in a part of a text file, which is looked through once before anything is scored.


_MOST_BYTES, _LEAST_BYTES, _PARTS = 8 << 20, 32 << 10, 64


@final
@dataclass
class Kinds:
    """The types of the values in each column, from all rows so far.

    Attributes:
        found: column -> types; empty if all values are None, ``object`` for a number that no column of integers holds.
    """

    found: dict[str, set[type]] = field(default_factory=dict)
    _shapes: dict[tuple[Any, ...], list[str]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        shape = (*row, *map(type, row.values()))
        numbers = self._shapes.get(shape)
        if numbers is not None and not any(abs(row[column]) >> 63 for column in numbers):
            return
        self._shapes[shape] = [column for column, value in row.items() if type(value) is int]
        for column, value in row.items():
            known = self.found.setdefault(column, set())
            if value is not None:
                known.add(object if type(value) is int and abs(value) >> 63 else type(value))

    def update(self, other: Kinds) -> None:
        """Add the types of later rows."""
        for column, kinds in other.found.items():
            self.found.setdefault(column, set()).update(kinds)


@final
@dataclass(frozen=True)
class Survey:
    """What is in a part.

    Attributes:
        part: the part with its number of rows.
        kinds: of its columns.
        lines: the number of its lines, with those that are blank.
        digest: a checksum of its bytes.
        fault: why one of its rows cannot be read, with `Lines.PLACE` for its place; empty if all can.
        line: the line of that row, from 1 at the start of the part.
    """

    part: Part
    kinds: Kinds
    lines: int
    digest: int
    fault: str = ""
    line: int = 0


def part_bytes(size: int) -> int:
    """Return how large the parts of a file of `size` bytes are; many enough to share, small enough for memory."""
    return min(max(size // _PARTS, _LEAST_BYTES), _MOST_BYTES)
