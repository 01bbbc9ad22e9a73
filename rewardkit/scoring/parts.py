"""Parts, which are consecutive rows that any process can read, and chunks, which are rows in memory.

``part.sub(10, 20).chunks(512)`` yields chunks that contain these ten rows; ``regrouped(parts, 512)`` and
``whole_groups(parts, columns)`` split the same rows at other positions. ``lines_of("data.jsonl", None)`` splits a file
into byte ranges. A line belongs to the range in which it starts. Before anything is scored, `Lines.surveyed` checks
each range once: it counts the rows and finds invalid lines.
"""

from __future__ import annotations

import functools
import io
import operator
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, ClassVar, TypeVar, final

import numpy as np

from rewardkit.batch.equality import equality, number_equal_rows
from rewardkit.errors import DataError
from rewardkit.scoring.conversations import COLUMNS, split_row
from rewardkit.scoring.files import BYTE_ORDER_MARK, Row, checked_row, csv_rows, is_blank, opened, parsed, size_of

if TYPE_CHECKING:
    import pyarrow


class Chunk(ABC):
    """Consecutive rows in memory."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The column names."""

    @abstractmethod
    def column(self, name: str) -> list[Any]:
        """Return a column's n values, with None for rows that lack the column."""

    @abstractmethod
    def rows(self) -> list[Row]:
        """Return the n rows as mappings."""

    @abstractmethod
    def part(self, start: int, stop: int | None = None) -> Chunk:
        """Return the rows from `start` to `stop` (excluded)."""

    @abstractmethod
    def followed_by(self, other: Any) -> Chunk:
        """Return these rows followed by the rows in `other`, a chunk of the same data."""


@final
@dataclass(frozen=True)
class Listed(Chunk):
    """A chunk of rows that were read one by one.

    Attributes:
        listed: the rows.
        lines: each row's JSON line, empty if the row was changed; or an empty sequence.
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
    """A chunk of rows in an Arrow table. Columns keep their types, and unused columns are not converted."""

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
    """Return a table's rows, with conversations split into prompt and completion as for other files.

    Args:
        table: a table without duplicate column names.
        completion: the completion column, if it has a different name.
    """
    return Listed([split_row(row, completion) for row in Tabular(table).rows()])


def splits(table: pyarrow.Table, completion: str | None) -> bool:
    """Return whether splitting conversations changes a table's first row."""
    names = [name for name in (completion, "completion", "prompt", "output", *COLUMNS) if name in table.column_names]
    first = table.select(list(dict.fromkeys(names))).slice(0, 1).to_pylist()
    return any(split_row(row, completion) is not row for row in first)


def values_of(column: pyarrow.ChunkedArray) -> list[Any]:
    """Return the values of an Arrow column as Python objects."""
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):  # five times as fast as to_pylist
        texts: list[Any] = column.to_numpy().tolist()
        return texts
    values: list[Any] = column.to_pylist()
    return values


_FEW = 64
"""The number of rows that `continued` compares at once. The number is arbitrary: it is enough to see how many
completions a prompt has, without a large copy."""

_Self = TypeVar("_Self", bound="Part")


class Part(ABC):
    """Consecutive rows in the data. A part is small and can be pickled; the process that needs the rows reads them."""

    rows: int

    @abstractmethod
    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield the rows in chunks of at most `most` rows.

        Args:
            names: the columns that are needed, or None for all columns. Chunks may have more columns.
        """

    @abstractmethod
    def sub(self: _Self, start: int, stop: int) -> _Self:
        """Return the rows from `start` to `stop` (excluded), which is at most `rows`."""


@final
@dataclass(frozen=True)
class HeldRows(Part):
    """A part that contains its rows, for data that cannot be read from the middle."""

    chunk: Chunk

    @property
    def rows(self) -> int:  # type: ignore[override]
        return len(self.chunk)

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        for start in range(0, self.rows, most):
            yield self.chunk.part(start, start + most)

    def sub(self, start: int, stop: int) -> HeldRows:
        return HeldRows(self.chunk.part(start, stop))


@final
@dataclass(frozen=True)
class Joined(Part):
    """Several parts in sequence."""

    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:  # type: ignore[override]
        return sum(part.rows for part in self.parts)

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        return full((chunk for part in self.parts for chunk in part.chunks(most, names)), most)

    def sub(self, start: int, stop: int) -> Joined:
        pieces, before = [], 0
        for part in self.parts:
            first, last = max(start - before, 0), min(stop - before, part.rows)
            if first < last:
                pieces.append(part.sub(first, last))
            before += part.rows
        return Joined(tuple(pieces))


def full(chunks: Iterable[Chunk], most: int) -> Iterator[Chunk]:
    """Yield the rows in `chunks` as chunks of exactly `most` rows; the last chunk may be shorter."""
    pending: Chunk | None = None
    for chunk in chunks:
        pending = chunk if pending is None else pending.followed_by(chunk)
        while len(pending) > most:
            yield pending.part(0, most)
            pending = pending.part(most)
        if len(pending) == most:
            yield pending
            pending = None
    if pending is not None:
        yield pending


def first_apart(parts: Iterable[Part], rows: int) -> Iterator[Part]:
    """Yield the parts, with the first `rows` rows as a separate part, to estimate how long the others will take."""
    first = True
    for part in parts:
        if first and part.rows > rows:
            yield part.sub(0, rows)
            part = part.sub(rows, part.rows)
        first = False
        yield part


def regrouped(parts: Iterable[Part], size: int) -> Iterator[Part]:
    """Split the rows so that the size of each part except the last is a multiple of `size`."""
    pieces: list[Part] = []
    pending_rows = 0
    for part in parts:
        full_rows = (pending_rows + part.rows) // size * size
        cut = max(full_rows - pending_rows, 0)
        if cut:
            yield _joined([*pieces, part.sub(0, cut)])
            pieces, pending_rows = [], 0
        if cut < part.rows:
            pieces.append(part.sub(cut, part.rows))
            pending_rows += part.rows - cut
    if pieces:
        yield _joined(pieces)


def whole_groups(parts: Iterable[Part], common: Sequence[str]) -> Iterator[Part]:
    """Split the parts only between rows that differ in a column in `common`."""
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
    """Return how many rows at the start of `part` equal the last row of `before` in all `common` columns."""
    (last,) = before.sub(before.rows - 1, before.rows).chunks(1, common)
    equal_rows = 0
    for chunk in part.chunks(_FEW, common):
        combined = last.followed_by(chunk)
        rows = number_equal_rows([equality(combined.column(name)) for name in common], len(combined))
        other = np.flatnonzero(rows != rows[0])
        if len(other):
            return equal_rows + int(other[0]) - 1
        equal_rows += len(chunk)
    return equal_rows


def _joined(pieces: Sequence[Part]) -> Part:
    return pieces[0] if len(pieces) == 1 else Joined(tuple(pieces))


_MOST_BYTES, _LEAST_BYTES, _PARTS = 8 << 20, 32 << 10, 64
"""The maximum and minimum size of a file's parts in bytes, and the preferred number of parts. The values are arbitrary,
chosen so that each process gets several parts and the parts fit in memory."""


@final
@dataclass
class Kinds:
    """The types of the values in each column in all rows so far.

    Attributes:
        found: column -> types; empty if all values are None. ``object`` stands for an integer beyond 64 bits.
    """

    found: dict[str, set[type]] = field(default_factory=dict)
    _shapes: dict[tuple[Any, ...], list[str]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        shape = (*row, *map(type, row.values()))
        numbers = self._shapes.get(shape)
        # Integers beyond 64 bits do not fit a column of integers.
        if numbers is not None and not any(abs(row[column]) >> 63 for column in numbers):
            return
        self._shapes[shape] = [column for column, value in row.items() if type(value) is int]
        for column, value in row.items():
            kinds = self.found.setdefault(column, set())
            if value is not None:
                kinds.add(object if type(value) is int and abs(value) >> 63 else type(value))

    def update(self, other: Kinds) -> None:
        """Add the types in later rows."""
        for column, kinds in other.found.items():
            self.found.setdefault(column, set()).update(kinds)


@final
@dataclass(frozen=True)
class Survey:
    """The contents of a part.

    Attributes:
        part: the part, with its number of rows.
        kinds: the types of the values in its columns.
        lines: the number of its lines, including blank lines.
        digest: a checksum of its bytes.
        fault: the reason why a row cannot be read, with `Lines.PLACE` in place of the location; empty if all rows can
            be read.
        line: the unreadable row's line number, counted from 1 at the start of the part.
    """

    part: Part
    kinds: Kinds
    lines: int
    digest: int
    fault: str = ""
    line: int = 0


def part_bytes(size: int) -> int:
    """Return the part size for a file of `size` bytes: small enough for memory and for distributing the parts."""
    return min(max(size // _PARTS, _LEAST_BYTES), _MOST_BYTES)


@final
@dataclass(frozen=True)
class Cells(Part):
    """The rows in a byte range of a CSV file that starts and ends between rows.

    Attributes:
        address: the address of the file.
        start, stop: the range.
        header: the names of the columns; empty if the first row contains them.
        completion: the completion column, if it has a different name.
        rows: the number of rows.
        skip: the number of rows at the start that do not belong to the part.
    """

    address: str
    start: int
    stop: int
    header: tuple[str, ...]
    completion: str | None
    rows: int
    skip: int = 0

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        with opened(self.address) as file:
            file.seek(self.start)
            text = file.read(self.stop - self.start).decode("utf-8" if self.start else "utf-8-sig")
        rows = csv_rows(self.address, io.StringIO(text, newline=""), len(text), self.header)
        rows = islice(rows, self.skip, self.skip + self.rows)
        while located_rows := list(islice(rows, most)):
            yield Listed([split_row(row, self.completion) for _, row in located_rows])

    def sub(self, start: int, stop: int) -> Cells:
        return replace(self, skip=self.skip + start, rows=stop - start)


def cells_of(address: str, completion: str | None, limit: int | None) -> Iterator[Survey]:
    """Read the first `limit` rows of a CSV file; yield the parts with their column types.

    Raises:
        DataError: a row cannot be read.
        OSError: the file does not exist.
    """
    size = size_of(address)
    most = part_bytes(size)
    header: tuple[str, ...] = ()
    start = number = 0
    kinds = Kinds()

    with opened(address) as file:
        lines = _Lines(file)

        def survey() -> Survey:
            return Survey(Cells(address, start, lines.bytes, header, completion, number), kinds, 0, lines.digest)

        for _, row in islice(csv_rows(address, lines, size), limit):
            kinds.add(split_row(row, completion))
            number += 1
            if lines.bytes - start >= most:
                yield survey()
                header, start, number, kinds = tuple(row), lines.bytes, 0, Kinds()
        if number:
            yield survey()


@final
class _Lines(Iterator[str]):
    """A file's lines as text, for a CSV reader.

    Attributes:
        bytes: the number of bytes read.
        digest: the checksum of these bytes.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        self.bytes = self.digest = 0

    def __next__(self) -> str:
        line = next(self._text)
        data = line.encode()
        text = line if self.bytes else line.removeprefix("\ufeff")
        self.bytes += len(data)
        self.digest = zlib.crc32(data, self.digest)
        return text


@final
@dataclass(frozen=True)
class Lines(Part):
    """The rows in a JSON Lines file whose lines start in a byte range.

    Attributes:
        address: the address of the file.
        start, stop: the range.
        completion: the completion column, if it has a different name.
        skip: the number of rows at the start that do not belong to the part.
        rows: the number of rows, or -1 before `surveyed` has counted them.
    """

    PLACE: ClassVar = "\0"
    """The placeholder for the location in a fault. Line numbers are known only after all earlier parts have been
    counted."""

    address: str
    start: int
    stop: int
    completion: str | None = None
    skip: int = 0
    rows: int = -1

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        filled = (line for line in self._lines() if not is_blank(line))
        lines = islice(filled, self.skip, None if self.rows < 0 else self.skip + self.rows)
        while raw := list(islice(lines, most)):
            rows = [parsed(line, self.address) for line in raw]
            listed = [split_row(row, self.completion) for row in rows]
            same = map(operator.is_, rows, listed)
            yield Listed(listed, [line if unchanged else b"" for line, unchanged in zip(raw, same, strict=True)])

    def sub(self, start: int, stop: int) -> Lines:
        return replace(self, skip=self.skip + start, rows=stop - start)

    def surveyed(self, limit: int | None) -> Survey:
        """Check and count the first `limit` rows."""
        kinds, rows, number = Kinds(), 0, 0
        lines = list(self._lines())
        digest = functools.reduce(lambda digest, line: zlib.crc32(line, digest), lines, 0)
        for number, line in enumerate(lines, start=1):
            if rows == limit:
                break
            if is_blank(line):
                continue
            rows += 1
            try:
                row = checked_row(self.PLACE, parsed(line, self.PLACE))
            except DataError as error:
                return Survey(replace(self, rows=rows), kinds, number, digest, str(error), number)
            kinds.add(split_row(row, self.completion))
        return Survey(replace(self, rows=rows), kinds, number, digest)

    def _lines(self) -> Iterator[bytes]:
        """Return the lines without line ends."""
        with opened(self.address) as file:
            if self.start:
                file.seek(self.start - 1)
                before = file.readline()  # the rest of a line that starts before the range
                offset = self.start - 1 + len(before)
            else:
                offset = 0
            if offset >= self.stop:
                return iter(())
            data = file.read(self.stop - offset)
            if not data.endswith(b"\n"):
                data += file.readline()
        if not self.start:
            data = data.removeprefix(BYTE_ORDER_MARK)
        lines = data.split(b"\n")
        return iter(lines if lines[-1] else lines[:-1])


def lines_of(address: str, completion: str | None) -> Iterator[Lines]:
    """Yield the byte ranges of a JSON Lines file."""
    size = size_of(address)
    most = part_bytes(size)
    for start in range(0, size, most):
        yield Lines(address, start, min(start + most, size), completion)
