"""Rows of Parquet files: ``table_parts([File.of("a.parquet")], schema)`` splits files between row groups if possible.

A large row group is also split. A row group can only be read from its start, so a process that reads several parts of
one row group remembers its position.
"""

from __future__ import annotations

import functools
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, final
from urllib.parse import unquote

from rewardkit.scoring.files import parquet_file
from rewardkit.scoring.parts import Chunk, Part, Tabular, part_bytes, split_table

if TYPE_CHECKING:
    import pyarrow

_LEAST_ROWS = 16
"""The minimum number of rows in a part. The limit is arbitrary: distributing fewer rows would take longer than scoring
them."""
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

Partition = tuple[tuple[str, str | None], ...]
"""The (name, value) pairs for columns that have the same value in all rows of a file."""


@final
@dataclass(frozen=True)
class File:
    """The contents of a Parquet file's footer.

    Attributes:
        address: the address of the file.
        schema: the file's columns.
        groups: the number of rows in each row group.
        bytes: the total size of the row groups in memory.
        digest: a checksum of the footer, which contains the sizes and extremes of all columns.
        partition: the columns defined by folder names: ``data/task=math/a.parquet``.
    """

    address: str
    schema: pyarrow.Schema
    groups: tuple[int, ...]
    bytes: int
    digest: int
    partition: Partition = ()

    @classmethod
    def of(cls, address: str, *, partitioned: bool = False) -> File:
        """Read a file's footer; raise the same errors as `parquet_file`."""
        with parquet_file(address) as file:  # reports a missing pyarrow
            metadata = file.metadata
            groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
            digest = zlib.crc32(repr(metadata.to_dict()).encode(errors="backslashreplace"))
            schema = file.schema_arrow.remove_metadata()
            size = sum(group.total_byte_size for group in groups)
        partition = tuple(pair for pair in partition_of(address) if pair[0] not in schema.names) if partitioned else ()
        import pyarrow as pa

        for name, _ in partition:
            schema = schema.append(pa.field(name, pa.string()))
        return cls(address, schema, tuple(group.num_rows for group in groups), size, digest, partition)


def partition_of(address: str) -> Partition:
    """Return the columns defined by folder names in Hive's format: ``data/task=math/a.parquet``."""
    pairs = (folder.split("=", 1) for folder in address.split("/")[:-1] if "=" in folder)
    columns = {unquote(name): None if value == _NO_VALUE else unquote(value) for name, value in pairs if name}
    return tuple(columns.items())


@final
@dataclass(frozen=True)
class TableRows(Part):
    """Consecutive rows in a Parquet file.

    Attributes:
        address: the address of the file.
        digest: a checksum of the file's footer.
        schema: the columns in all files of the dataset; a column that this file lacks is null.
        start: the position of the first row in the file.
        rows: the number of rows.
        conversations: whether the rows are conversations that must be split into prompt and completion.
        completion: the completion column, if it has a different name.
        partition: columns that have the same value in all rows.
    """

    address: str
    digest: int
    schema: pyarrow.Schema
    start: int
    rows: int
    conversations: bool = False
    completion: str | None = None
    partition: Partition = ()

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        import pyarrow as pa

        schema = self.schema
        if names is not None and not self.conversations:
            schema = pa.schema([field for field in schema if field.name in names])
        table = _reader(self.address, self.digest, tuple(schema.names)).read(self.start, self.rows)
        for start in range(0, table.num_rows, most):
            filled = _filled(table.slice(start, most), schema, dict(self.partition))
            yield split_table(filled, self.completion) if self.conversations else Tabular(filled)

    def sub(self, start: int, stop: int) -> TableRows:
        return replace(self, start=self.start + start, rows=stop - start)


def table_parts(
    files: Sequence[File], schema: pyarrow.Schema, *, conversations: bool = False, completion: str | None = None
) -> Iterator[TableRows]:
    """Yield the parts of all files, with the columns in `schema`."""
    rows = sum(sum(file.groups) for file in files)
    size = sum(file.bytes for file in files)
    most = max(part_bytes(size) * rows // max(size, 1), _LEAST_ROWS)
    for file in files:
        for start, count in _cuts(file.groups, most):
            yield TableRows(file.address, file.digest, schema, start, count, conversations, completion, file.partition)


def _cuts(groups: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield each part's first row and number of rows. Small row groups are combined, and large ones are split."""
    start = pending_rows = 0
    for rows in groups:
        if pending_rows and pending_rows + rows > most:
            yield start, pending_rows
            start, pending_rows = start + pending_rows, 0
        pending_rows += rows
        pieces = pending_rows // most
        if pieces > 1:
            for number in range(pieces):
                first, last = pending_rows * number // pieces, pending_rows * (number + 1) // pieces
                yield start + first, last - first
            start, pending_rows = start + pending_rows, 0
    if pending_rows:
        yield start, pending_rows


def _filled(table: pyarrow.Table, schema: pyarrow.Schema, values: Mapping[str, str | None]) -> pyarrow.Table:
    """Return the table with all columns in `schema`, in the same order."""
    import pyarrow as pa

    if table.schema.equals(schema):
        return table
    table_columns = set(table.schema.names)
    columns = [
        table[field.name]
        if field.name in table_columns
        else pa.repeat(pa.scalar(values.get(field.name), field.type), table.num_rows)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, names=schema.names).cast(schema)


@final
class _Reader:
    """A Parquet file reader that continues from its last position if the next rows come after it."""

    def __init__(self, address: str, names: Sequence[str]) -> None:
        self._file = parquet_file(address)
        self._names = [name for name in names if name in self._file.schema_arrow.names]
        metadata = self._file.metadata
        sizes = (metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
        self._starts = list(accumulate(sizes, initial=0))
        self._batches: Iterator[Any] = iter(())
        self._rest: Any = None
        self._at = self._starts[-1]

    def read(self, start: int, rows: int) -> pyarrow.Table:
        import pyarrow as pa

        group = bisect_right(self._starts, start) - 1
        if not self._starts[group] <= self._at <= start:
            self._batches = self._file.iter_batches(rows, range(group, len(self._starts) - 1), self._names)
            self._rest, self._at = None, self._starts[group]
        slices = []
        while self._at < start + rows:
            batch = self._rest or next(self._batches)
            stop = self._at + batch.num_rows
            first, last = max(start - self._at, 0), min(start + rows - self._at, batch.num_rows)
            if first < last:
                slices.append(batch.slice(first, last - first))
            self._rest = batch.slice(last) if last < batch.num_rows else None
            self._at = stop if self._rest is None else self._at + last
        return pa.Table.from_batches(slices).replace_schema_metadata(None)


@functools.lru_cache(maxsize=1)
def _reader(address: str, digest: int, names: tuple[str, ...]) -> _Reader:
    return _Reader(address, names)
