"""Sources of saved completions: ``saved("runs/x").chunks(512)`` yields them a few hundred at a time.

A source is a file (.jsonl, .json, .csv, .parquet), the tables that TRL writes with ``log_completions=True``, or a
recorded run. Whole conversations are split into prompt and completion.
"""

from __future__ import annotations

import glob
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import DataError
from rewardkit.data.conversations import COLUMNS, split_row
from rewardkit.data.files import Row, parquet_file, rows_of
from rewardkit.replay.chunks import Chunk, Listed, Tabular, splits
from rewardkit.replay.outputs import check_names

if TYPE_CHECKING:
    import pyarrow

    from rewardkit.store.run import Run

_RUN_ROWS = 4096
"""Completions of a recorded run fetched at once."""


@dataclass(frozen=True)
class Saved:
    """Saved completions.

    Attributes:
        name: of the file or folder.
        size: number of completions.
        kinds: column -> the types of its values: empty if all are None, ``object`` if unknown.
        chunks: yields all rows, at most the given number at a time.
        apart: columns that separate groups with the same prompt, such as the step.
        schema: the Arrow types, if there are any.
    """

    name: str
    size: int
    kinds: dict[str, set[type]]
    chunks: Callable[[int], Iterator[Chunk]]
    apart: tuple[str, ...] = ()
    schema: Any = field(default=None, compare=False)

    @property
    def columns(self) -> list[str]:
        return list(self.kinds)


def saved(
    source: str | os.PathLike[str],
    *,
    limit: int | None = None,
    completion: str | None = None,
    rows: Callable[[], Iterator[Row]] | None = None,
) -> Saved:
    """Open the completions in a file, in TRL's folder, or in a recorded run.

    A text file is checked first, so that a broken line 70,000 is reported before any row is scored.

    Args:
        source: a .jsonl, .json, .csv or .parquet file; the ``output_dir`` of a trainer with its folder
            ``completions``; the folder of a recorded run, or its address.
        limit: read only this many rows from the start.
        completion: the column of the completions, if it has another name.
        rows: yields the rows of `source`, for a file that only this function can read.

    Raises:
        DataError: there are no completions, or a line cannot be read; the message names it.
        MissingExtraError: a package to read Parquet or recorded runs is not installed.
    """
    address = os.fspath(source)
    path = Path(address)

    def read() -> Iterator[Row]:
        found = (row for _, row in rows_of(path)) if rows is None else rows()
        return (split_row(row, completion) for row in found)

    try:
        if rows is not None:
            found = _listed(address, read, limit)
        elif "://" in address or (path / "run.json").is_file():
            found = _recorded(address, limit)
        elif path.is_dir():
            found = _logged(path, limit)
        elif path.suffix.lower() == ".parquet" and not _holds_conversations(path, completion):
            found = _tabular(address, [path], limit)
        else:
            found = _listed(address, read, limit)
    except OSError as error:
        raise DataError(f"{address} cannot be read: {error.strerror or error}") from None
    if not found.size:
        raise DataError(f"there are no completions in {address}")
    return found


def _holds_conversations(path: Path, completion: str | None) -> bool:
    """Whether the first row of a Parquet file changes when it is split."""
    import pyarrow as pa

    with parquet_file(path) as file:
        names = file.schema_arrow.names
        columns = [name for name in (completion, "completion", "prompt", "output", *COLUMNS) if name in names]
        for batch in file.iter_batches(batch_size=1, columns=columns):
            return splits(pa.Table.from_batches([batch]), completion)
    return False


def _listed(name: str, read: Callable[[], Iterator[Row]], limit: int | None) -> Saved:
    kinds: dict[str, set[type]] = {}
    size = 0
    for row in itertools.islice(read(), limit):
        size += 1
        for column, value in row.items():
            known = kinds.setdefault(column, set())
            if value is not None:
                known.add(object if type(value) is int and value.bit_length() > 63 else type(value))

    def chunks(most: int) -> Iterator[Chunk]:
        rows = itertools.islice(read(), size)
        while taken := list(itertools.islice(rows, most)):
            yield Listed(taken)

    return Saved(name, size, kinds, chunks)


def _tabular(name: str, paths: Sequence[Path], limit: int | None, apart: tuple[str, ...] = ()) -> Saved:
    """Open Parquet files with the same columns, one after the other."""
    import pyarrow as pa

    schemas, size = [], 0
    for path in paths:
        with parquet_file(path) as file:
            schemas.append(file.schema_arrow.remove_metadata())
            size += file.metadata.num_rows
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise DataError(f"the files in {name} have a column with different types: {error}") from None
    check_names(schema.names, name)
    size = size if limit is None else min(size, limit)

    def chunks(most: int) -> Iterator[Chunk]:
        left = size
        for path in paths:
            with parquet_file(path) as file:
                for batch in file.iter_batches(batch_size=most):
                    if not left:
                        return
                    table = pa.Table.from_batches([batch.slice(0, left)]).replace_schema_metadata(None)
                    left -= table.num_rows
                    yield Tabular(_filled(table, schema))

    return Saved(name, size, {one: {object} for one in schema.names}, chunks, apart, schema)


def _filled(table: pyarrow.Table, schema: pyarrow.Schema) -> pyarrow.Table:
    """Return the table with all columns of `schema`, in its order."""
    import pyarrow as pa

    there = set(table.schema.names)
    columns = [table[one.name] if one.name in there else pa.nulls(table.num_rows) for one in schema]
    return pa.Table.from_arrays(columns, names=schema.names).cast(schema)


def _logged(folder: Path, limit: int | None) -> Saved:
    """Open the tables of TRL; their groups are within one step."""
    for place in (folder / "completions", folder):
        paths = sorted(map(Path, glob.glob(os.path.join(glob.escape(str(place)), "completions_*.parquet"))))
        if paths:
            return _tabular(str(folder), paths, limit, ("step",))
    raise DataError(
        f"{folder} is not a recorded run and has no completions/completions_*.parquet, which TRL writes with "
        "GRPOConfig(log_completions=True). For other data, pass the file."
    )


def _recorded(address: str, limit: int | None) -> Saved:
    """Open a recorded run: its completions with the columns of their prompts, and their recorded totals."""
    from rewardkit.core.errors import RunError
    from rewardkit.store.run import open_run

    try:
        run = open_run(address)
    except RunError as error:
        raise DataError(str(error)) from None
    counts: list[tuple[int, int]] = run.sql(
        "select step, count(*) from scores where training group by step order by step"
    ).fetchall()
    size = sum(count for _, count in counts)
    size = size if limit is None else min(size, limit)
    names: set[str] = set()
    for (cells,) in run.sql("select distinct cast(json_keys(columns) as varchar[]) from prompts").fetchall():
        names.update(cells or ())
    apart = ("attempt", "rank", "part", "group")
    columns = [
        *_KEYS,
        "prompt",
        *sorted(names - {*_KEYS, "prompt", "completion", "recorded"}),
        "completion",
        "recorded",
    ]

    def chunks(most: int) -> Iterator[Chunk]:
        left = size
        for first, last in _spans(counts):
            rows = _run_rows(run, first, last, columns)[:left]
            left -= len(rows)
            for start in range(0, len(rows), most):
                yield Listed(rows[start : start + most])

    kinds: dict[str, set[type]] = {name: {_KINDS.get(name, object)} for name in columns}
    return Saved(address, size, kinds, chunks, apart)


_KEYS = ("step", "attempt", "rank", "part", "row", "group", "prompt_id")
_KINDS: Mapping[str, type] = {**dict.fromkeys(_KEYS, int), "prompt_id": str, "recorded": float}


def _spans(counts: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the first and last step of spans with few enough completions to fit in memory."""
    first, held = None, 0
    for position, (step, count) in enumerate(counts):
        first = step if first is None else first
        held += count
        following = counts[position + 1][1] if position + 1 < len(counts) else math.inf
        if held + following > _RUN_ROWS:
            yield first, step
            first, held = None, 0


def _run_rows(run: Run, first: int, last: int, columns: Sequence[str]) -> list[Row]:
    found = run.sql(
        "select s.step, s.attempt, s.rank, s.part, s.row, s.group, s.prompt_id, p.prompt, p.messages, p.columns, "
        "c.completion, c.messages, s.total from scores s join completions c using (attempt, rank, part, row) "
        "left join prompts p on p.prompt_id = s.prompt_id where s.training and s.step between ? and ? "
        "order by s.step, s.attempt, s.rank, s.part, s.row",
        [first, last],
    ).fetchall()
    rows: list[Row] = []
    for *keys, prompt, asked, cells, completion, said, total in found:
        row: Row = {
            **json.loads(cells or "{}"),
            **dict(zip(_KEYS, keys, strict=True)),
            "prompt": prompt if asked is None else json.loads(asked),
            "completion": completion if said is None else json.loads(said),
            "recorded": total,
        }
        rows.append({name: row.get(name) for name in columns})
    return rows
