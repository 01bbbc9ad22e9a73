"""Writers: rows with their scores as a .jsonl, .csv or .parquet file, which appears only when complete.

``with written(Path("scored.parquet"), found, ["exact"]) as add: add(chunk, scores)`` adds columns to those of the data:
``total``, ``components/<name>``, and texts: ``outcomes`` (of components that were not scored), ``notes``, ``error``.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rewardkit.core.batch.column import Floats
from rewardkit.core.errors import DataError
from rewardkit.data.files import Row
from rewardkit.replay.chunks import Chunk
from rewardkit.replay.outputs import (
    TEXTS,
    arrays,
    arrow,
    encodes,
    notes_of,
    outcomes_of,
    renamed,
    results,
    results_schema,
    schema_of,
)
from rewardkit.replay.scores import Scores
from rewardkit.replay.sources import Saved
from rewardkit.store.cells import as_json

if TYPE_CHECKING:
    pass

Add = Callable[[Chunk, Scores], None]


def kind_of(path: Path) -> str:
    """Return ``".jsonl"``, ``".csv"`` or ``".parquet"``.

    Raises:
        DataError: the path has another suffix.
    """
    if path.suffix.lower() not in (".jsonl", ".csv", ".parquet"):
        raise DataError(f"{path}: cannot write this file type. Use .jsonl, .csv or .parquet.")
    return path.suffix.lower()


@contextmanager
def written(path: Path, found: Saved, components: Sequence[str]) -> Iterator[Add]:
    """Return a function that adds rows to `path`; the file appears when all rows are written.

    Args:
        path: the suffix determines the file type.
        found: the scored data; a column with the name of one of ours becomes ``input/<name>``.
        components: of the reward.

    Raises:
        DataError: the file cannot be written.
        MissingExtraError: pyarrow, which writes .parquet, is not installed.
    """
    make = {".jsonl": _lines, ".csv": _cells, ".parquet": _tables}[kind_of(path)]
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with make(partial, found, components) as add:
            yield add
        os.replace(partial, path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def _scores(scores: Scores) -> list[dict[str, Any]]:
    """Return our (n,) columns of each row; None for missing values."""
    outcomes, notes = outcomes_of(scores), notes_of(scores)
    values = {"total": scores.total, **{f"components/{name}": one for name, one in scores.components.items()}}
    columns = {name: _numbers(column) for name, column in values.items()}
    return [
        {
            **{name: column[row] for name, column in columns.items()},
            "outcomes": outcomes.get(row),
            "notes": notes.get(row),
            "error": "; ".join(scores.errors[row]) if row in scores.errors else None,
        }
        for row in range(len(scores.total))
    ]


def _numbers(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]


@contextmanager
def _lines(path: Path, found: Saved, components: Sequence[str]) -> Iterator[Add]:
    names = renamed(found.columns, components)
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def add(chunk: Chunk, scores: Scores) -> None:
            for row, said in zip(chunk.rows(), _scores(scores), strict=True):
                told = {name: value for name, value in said.items() if value is not None or name not in TEXTS}
                file.write(_line({**{names[name]: value for name, value in row.items()}, **told}) + "\n")

        yield add


def _line(row: Row) -> str:
    try:
        text = json.dumps(row, ensure_ascii=False)
    except (TypeError, ValueError):  # a date, an image
        text = as_json(row)
    return text if encodes(text) else json.dumps(json.loads(text))


@contextmanager
def _cells(path: Path, found: Saved, components: Sequence[str]) -> Iterator[Add]:
    names = renamed(found.columns, components)
    header = [*names.values(), "total", *(f"components/{name}" for name in components), *TEXTS]
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)  # with "\n" as line terminator, it would not quote a lone "\r"
        writer.writerow(header)

        def add(chunk: Chunk, scores: Scores) -> None:
            for row, said in zip(chunk.rows(), _scores(scores), strict=True):
                cells = {**{names[name]: value for name, value in row.items()}, **said}
                writer.writerow([_cell(cells.get(name)) for name in header])

        yield add


def _cell(value: Any) -> Any:
    """Return numbers and texts as they are, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else as_json(value)


@contextmanager
def _tables(path: Path, found: Saved, components: Sequence[str]) -> Iterator[Add]:
    pa = arrow("writing .parquet files")
    import pyarrow.parquet as parquet

    names = renamed(found.columns, components)
    theirs = schema_of(found.kinds) if found.schema is None else found.schema
    fields = [field.with_name(names[field.name]) for field in theirs]
    schema = pa.schema([*fields, *results_schema(components)])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def add(chunk: Chunk, scores: Scores) -> None:
            writer.write_table(pa.Table.from_arrays([*arrays(chunk, theirs), *results(scores)], schema=schema))

        yield add
