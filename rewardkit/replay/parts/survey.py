"""Survey: what is in a part of a text file, which is looked through once before anything is scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.data.files import Row
from rewardkit.replay.parts.part import Part

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
