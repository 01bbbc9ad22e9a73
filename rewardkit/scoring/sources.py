"""Sources of saved completions: ``saved("runs/x").chunks(512)`` yields the completions in chunks of 512.

A source is a file (.jsonl, .json, .csv, .parquet), the tables that TRL writes with ``log_completions=True``, or a
recorded run. A source consists of parts that any process can read. Conversations are split into prompt and completion.
"""

from __future__ import annotations

import functools
import glob
import itertools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import DataError
from rewardkit.scoring.conversations import split_row
from rewardkit.scoring.files import Row, ending, expanded, holds_lines, is_remote, opened, parquet_file, rows_of
from rewardkit.scoring.parts import (
    Chunk,
    HeldRows,
    Kinds,
    Lines,
    Listed,
    Part,
    Survey,
    cells_of,
    full,
    lines_of,
    splits,
)

if TYPE_CHECKING:
    from rewardkit.scoring.runs import Until

Source = str | os.PathLike[str]
Mapped = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""The type of ``map`` or of a similar function that distributes the work to processes."""

_HELD_ROWS = 512
"""The number of rows in a part that contains its rows: the default batch size."""
_FILES = (".jsonl", ".json", ".csv", ".parquet")


@dataclass(frozen=True)
class Saved:
    """Saved completions.

    Attributes:
        name: the name of the file or folder.
        size: the number of completions.
        kinds: column -> the types of its values: empty if all are None, ``object`` if unknown.
        parts: a function that returns all rows in parts.
        apart: columns, such as the step, that separate groups with the same prompt.
        schema: the Arrow schema, or None if the data does not have Arrow types.
        digest: a checksum of the data read so far, to detect changed data.
        until: the last batches to read from a recorded run, which may be growing, or None for other data.
    """

    name: str
    size: int
    kinds: dict[str, set[type]]
    parts: Callable[[], Iterable[Part]]
    apart: tuple[str, ...] = ()
    schema: Any = field(default=None, compare=False)
    digest: int = 0
    until: Until | None = None

    @property
    def columns(self) -> list[str]:
        return list(self.kinds)

    def chunks(self, most: int) -> Iterator[Chunk]:
        """Yield all rows in chunks of `most` rows."""
        return full((chunk for part in self.parts() for chunk in part.chunks(most)), most)


def saved(
    source: Source | Sequence[Source],
    *,
    limit: int | None = None,
    completion: str | None = None,
    rows: Callable[[], Iterator[Row]] | None = None,
    mapped: Mapped = map,
    until: Until | None = None,
) -> Saved:
    """Open the completions in files, in TRL's output folder, or in a recorded run.

    A text file is checked first, so that an invalid line 70,000 is reported before any row is scored.

    Args:
        source: .jsonl, .json, .csv, or .parquet files, as paths, URLs, or patterns (``"data/*.parquet"``); a trainer's
            ``output_dir`` with a folder ``completions``; or the folder or URL of a recorded run.
        limit: read only this many rows from the start.
        completion: the completion column, if it has a different name.
        rows: a function that yields the rows of `source`, for a file format that only this function can read.
        mapped: the ``map`` function used to check the parts of text files.
        until: the last batches to read from a recorded run, to get the same rows as an earlier call.

    Raises:
        DataError: there are no completions, or a line cannot be read. The message shows the line number.
        MissingExtraError: a package for reading Parquet or recorded runs is not installed.
    """
    sources = [os.fspath(path) for path in ([source] if isinstance(source, (str, os.PathLike)) else source)]
    name = sources[0] if len(sources) == 1 else f"{sources[0]} and {len(sources) - 1} more"
    try:
        if rows is not None:
            digest = _digest(sources[0]) if os.path.isfile(sources[0]) else 0
            data = _of_rows(name, lambda: (split_row(row, completion) for row in rows()), limit, digest)
        else:
            data = _opened(
                name, [path for each in sources for path in expanded(each)], limit, completion, mapped, until
            )
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror or error}") from None
    if not data.size:
        raise DataError(f"there are no completions in {name}")
    return data


def recorded_since(address: str, step: int | None) -> Saved:
    """Open a recorded run's training completions, starting at `step` (None for all steps).

    Raises:
        DataError: the run does not exist, or there are no completions in these steps.
    """
    data = _open_recorded(address, since=step)
    if not data.size:
        raise DataError(f"there are no completions in {address}")
    return data


def _opened(
    name: str,
    addresses: list[str],
    limit: int | None,
    completion: str | None,
    mapped: Mapped,
    until: Until | None,
) -> Saved:
    first_address = addresses[0]
    endings = {ending(address) for address in addresses}
    if len(addresses) == 1 and (
        (Path(first_address) / "run.json").is_file() or (is_remote(first_address) and not endings <= {*_FILES})
    ):
        return _open_recorded(first_address, limit, until=until)
    if len(addresses) == 1 and Path(first_address).is_dir():
        return _logged(Path(first_address), limit)
    if endings == {".parquet"}:
        return _tabular(name, addresses, limit, completion=completion, partitioned=name not in addresses)
    if ".parquet" in endings:
        raise DataError(f"{name}: .parquet files and text files have different types. Score them with two commands")
    return _texts(name, addresses, limit, completion, mapped)


def _texts(name: str, addresses: Sequence[str], limit: int | None, completion: str | None, mapped: Mapped) -> Saved:
    """Open text files in sequence. Each file is checked by reading it once."""
    kinds, parts, size, digest = Kinds(), [], 0, 0
    for address in addresses:
        for survey in _surveys(address, None if limit is None else limit - size, completion, mapped):
            rows = survey.part.rows if limit is None else min(survey.part.rows, limit - size)
            if rows:  # a long line may cover a whole range
                parts.append(survey.part.sub(0, rows))
            size += rows
            kinds.update(survey.kinds)
            digest = zlib.crc32(f"{address} {survey.part.rows} {survey.digest}".encode(errors="replace"), digest)
    return Saved(name, size, kinds.found, lambda: parts, digest=digest)


def _surveys(address: str, limit: int | None, completion: str | None, mapped: Mapped) -> Iterator[Survey]:
    """Yield the parts of a text file, up to the part with row `limit`.

    Raises:
        DataError: a row up to row `limit` cannot be read.
    """
    kind = ending(address)
    if kind == ".csv":
        yield from cells_of(address, completion, limit)
    elif kind == ".jsonl" or (kind == ".json" and holds_lines(address)):
        yield from _surveyed(address, limit, completion, mapped)
    else:  # one JSON value, which cannot be read in parts, so the parts contain their rows
        rows = (split_row(row, completion) for _, row in rows_of(address))
        digest = _digest(address) if kind == ".json" else 0
        for held_rows in _hold_rows(itertools.islice(rows, limit)):
            kinds = Kinds()
            for row in held_rows.chunk.rows():
                kinds.add(row)
            yield Survey(held_rows, kinds, 0, digest)


def _surveyed(address: str, limit: int | None, completion: str | None, mapped: Mapped) -> Iterator[Survey]:
    ranges = lines_of(address, completion)
    lines = size = 0
    look = functools.partial(Lines.surveyed, limit=limit)
    for survey in mapped(look, ranges) if limit is None else map(look, ranges):
        if survey.fault and (limit is None or size + survey.part.rows <= limit):
            raise DataError(survey.fault.replace(Lines.PLACE, f"{address}, line {lines + survey.line}", 1))
        yield survey
        lines += survey.lines
        size += survey.part.rows
        if limit is not None and size >= limit:
            return


def _of_rows(name: str, read: Callable[[], Iterator[Row]], limit: int | None, digest: int) -> Saved:
    """Open rows that only this process can read. They are read twice."""
    kinds, size = Kinds(), 0
    for row in itertools.islice(read(), limit):
        kinds.add(row)
        size += 1
    return Saved(name, size, kinds.found, lambda: _hold_rows(itertools.islice(read(), size)), digest=digest)


def _hold_rows(rows: Iterator[Row]) -> Iterator[HeldRows]:
    while batch := list(itertools.islice(rows, _HELD_ROWS)):
        yield HeldRows(Listed(batch))


def _digest(address: str) -> int:
    digest = 0
    with opened(address) as file:
        while data := file.read(1 << 20):
            digest = zlib.crc32(data, digest)
    return digest


def _tabular(
    name: str,
    addresses: Sequence[str],
    limit: int | None,
    group_columns: tuple[str, ...] = (),
    completion: str | None = None,
    partitioned: bool = False,
) -> Saved:
    """Open Parquet files that have the same columns, in sequence.

    If `partitioned`, folder names such as ``task=math`` are also columns.
    """
    from rewardkit.scoring.tables import File, table_parts
    from rewardkit.scoring.writers import check_names, python_type

    files = [File.of(address, partitioned=partitioned) for address in addresses]
    import pyarrow as pa

    try:
        schema = pa.unify_schemas([file.schema for file in files], promote_options="permissive")
    except pa.ArrowException as error:
        raise DataError(f"the files in {name} have a column with different types: {error}") from None
    check_names(schema.names, name)
    first: Sequence[str] = () if group_columns else _conversation(addresses[0], completion)
    if first:
        first = [*first, *(column for column, _ in files[0].partition)]
    rows = sum(sum(file.groups) for file in files)
    size = rows if limit is None else min(rows, limit)

    def parts() -> Iterator[Part]:
        return _limit_rows(size, table_parts(files, schema, conversations=bool(first), completion=completion))

    digest = zlib.crc32(repr([(file.address, file.digest) for file in files]).encode(errors="replace"))
    if first:
        types = {schema_field.name: python_type(schema_field.type) for schema_field in schema}
        return Saved(
            name,
            size,
            {schema_field: {types.get(schema_field, object)} for schema_field in first},
            parts,
            digest=digest,
        )
    return Saved(
        name, size, {schema_field: {object} for schema_field in schema.names}, parts, group_columns, schema, digest
    )


def _limit_rows(rows: int, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts that contain the first `rows` rows."""
    for part in parts:
        if rows <= 0:
            return
        yield part.sub(0, min(part.rows, rows))
        rows -= part.rows


def _conversation(address: str, completion: str | None) -> Sequence[str]:
    """Return the columns of a Parquet file's first row after splitting; empty if splitting does not change the row."""
    import pyarrow as pa

    with parquet_file(address) as file:
        for batch in file.iter_batches(batch_size=1):
            if splits(pa.Table.from_batches([batch]), completion):
                return list(split_row(batch.to_pylist()[0], completion))
            break
    return ()


def _logged(folder: Path, limit: int | None) -> Saved:
    """Open the tables that TRL logged. A group never spans several steps."""
    from rewardkit.record.run import first_batch_missing, is_starting

    for directory in (folder / "completions", folder):
        paths = sorted(glob.glob(os.path.join(glob.escape(str(directory)), "completions_*.parquet")))
        if paths:
            return _tabular(str(folder), paths, limit, ("step",))
    if is_starting(os.listdir(folder)):
        raise DataError(first_batch_missing(str(folder)))
    raise DataError(
        f"{folder} is not a recorded run and has no completions/completions_*.parquet, which TRL writes with "
        "GRPOConfig(log_completions=True). For other data, pass the file"
    )


def _open_recorded(
    address: str, limit: int | None = None, *, since: int | None = None, until: Until | None = None
) -> Saved:
    """Open a recorded run: its completions with their prompts' columns and their recorded totals."""
    from rewardkit.scoring.runs import KINDS, open_recorded, run_parts

    last, counts, columns = open_recorded(address, since, until)
    rows = sum(count for _, count in counts)
    size = rows if limit is None else min(rows, limit)

    def parts() -> Iterator[Part]:
        return _limit_rows(size, run_parts(address, last, counts, columns))

    kinds: dict[str, set[type]] = {name: {KINDS.get(name, object)} for name in columns}
    group_columns = ("attempt", "rank", "part", "group")
    digest = zlib.crc32(repr((address, counts, columns)).encode())
    return Saved(address, size, kinds, parts, group_columns, digest=digest, until=last)
