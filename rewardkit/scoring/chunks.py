"""Chunks: some consecutive rows of the data, as mappings or as an Arrow table.

``Tabular(table).column("completion")`` is a list of texts; ``split_table(table)`` has lists of messages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from rewardkit.scoring.conversations import COLUMNS, split_row
from rewardkit.scoring.files import Row

if TYPE_CHECKING:
    import pyarrow


class Chunk(ABC):
    """Some consecutive rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def column(self, name: str) -> list[Any]:
        """Return the (n,) values of a column; None if a row has none."""

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return the (n,) rows as mappings."""

    @abstractmethod
    def part(self, start: int, stop: int | None = None) -> Chunk:
        """Return the rows from `start` up to `stop`."""

    @abstractmethod
    def followed_by(self, other: Any) -> Chunk:
        """Return these rows followed by those of `other`, a chunk of the same data."""


@final
@dataclass(frozen=True)
class Listed(Chunk):
    """Rows read one by one.

    Attributes:
        listed: the rows.
        lines: the line of JSON of each row, empty for a row that was changed; or nothing.
    """

    listed: Sequence[Row]
    lines: Sequence[bytes] = ()

    def __len__(self) -> int:
        return len(self.listed)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.listed for name in row))

    def column(self, name: str) -> list[Any]:
        return [row.get(name) for row in self.listed]

    def rows(self) -> list[Row]:
        return list(self.listed)

    def part(self, start: int, stop: int | None = None) -> Listed:
        return Listed(self.listed[start:stop], self.lines[start:stop])

    def followed_by(self, other: Listed) -> Listed:
        lines = [*self.lines, *other.lines] if self.lines and other.lines else ()
        return Listed([*self.listed, *other.listed], lines)


@final
@dataclass(frozen=True)
class Tabular(Chunk):
    """Rows of an Arrow table: they keep their types, and unused columns are never unpacked."""

    table: pyarrow.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def names(self) -> list[str]:
        return list(self.table.column_names)

    def column(self, name: str) -> list[Any]:
        return values_of(self.table[name])

    def rows(self) -> list[Row]:
        names = self.table.column_names
        columns = [self.column(name) for name in names]
        return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]

    def part(self, start: int, stop: int | None = None) -> Tabular:
        return Tabular(self.table.slice(start, None if stop is None else stop - start))

    def followed_by(self, other: Tabular) -> Tabular:
        import pyarrow as pa

        return Tabular(pa.concat_tables([self.table, other.table]))


def split_table(table: pyarrow.Table, completion: str | None = None) -> Listed:
    """Return the rows of a table whose conversations are split into prompt and completion, as in any file.

    Args:
        table: with one column of each name.
        completion: the column of the completions, if it has another name.
    """
    return Listed([split_row(row, completion) for row in Tabular(table).rows()])


def splits(table: pyarrow.Table, completion: str | None) -> bool:
    """Whether the first row of a table changes when conversations are split."""
    names = [name for name in (completion, "completion", "prompt", "output", *COLUMNS) if name in table.column_names]
    first = table.select(list(dict.fromkeys(names))).slice(0, 1).to_pylist()
    return any(split_row(row, completion) is not row for row in first)


def values_of(column: pyarrow.ChunkedArray) -> list[Any]:
    """Return the values of an Arrow column as Python objects."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):  # five times as fast
        texts: list[Any] = column.to_numpy().tolist()
        return texts
    values: list[Any] = column.to_pylist()
    return values
