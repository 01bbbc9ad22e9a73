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
from rewardkit.core.batch.score import SCORED, Outcome
from rewardkit.core.errors import DataError, MissingExtraError
from rewardkit.data.files import Row
from rewardkit.replay.scores import Scores
from rewardkit.replay.sources import Chunk, Saved, Tabular
from rewardkit.store.cells import as_json

if TYPE_CHECKING:
    import pyarrow

Add = Callable[[Chunk, Scores], None]

_OUTCOMES = [str(outcome) for outcome in Outcome]
_TEXTS = ("outcomes", "notes", "error")
_PLAIN = {str: "string", bool: "bool", int: "int64", float: "float64"}


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


def renamed(found: Saved, components: Sequence[str]) -> dict[str, str]:
    """Map each column of the data to its name in the output."""
    ours = {"total", *_TEXTS, *(f"components/{name}" for name in components)}
    names: dict[str, str] = {}
    for column in found.columns:
        name = column
        while name in ours or (name != column and name in found.kinds):
            name = f"input/{name}"
        names[column] = name
    return names


def _scores(scores: Scores) -> list[dict[str, Any]]:
    """Return our (n,) columns of each row; None for missing values."""
    outcomes: dict[int, dict[str, str]] = {}
    for name, codes in scores.codes.items():
        for row in np.flatnonzero(codes != SCORED).tolist():
            outcomes.setdefault(row, {})[name] = _OUTCOMES[codes[row]]
    notes: dict[int, dict[str, str]] = {}
    for name, said in scores.notes.items():
        for row, note in said.items():
            notes.setdefault(row, {})[name] = note
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
    names = renamed(found, components)
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def add(chunk: Chunk, scores: Scores) -> None:
            for row, said in zip(chunk.rows(), _scores(scores), strict=True):
                told = {name: value for name, value in said.items() if value is not None or name not in _TEXTS}
                file.write(_line({**{names[name]: value for name, value in row.items()}, **told}) + "\n")

        yield add


def _line(row: Row) -> str:
    try:
        text = json.dumps(row, ensure_ascii=False)
    except (TypeError, ValueError):  # a date, an image
        text = as_json(row)
    return text if _encodes(text) else json.dumps(json.loads(text))


def _encodes(text: str) -> bool:
    """Whether UTF-8 can encode it, which fails for lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _cells(path: Path, found: Saved, components: Sequence[str]) -> Iterator[Add]:
    names = renamed(found, components)
    header = [*names.values(), "total", *(f"components/{name}" for name in components), *_TEXTS]
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
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError.of("writing .parquet files", "store") from error
    names = renamed(found, components)
    theirs = found.schema or pa.schema([(name, _type(kinds)) for name, kinds in found.kinds.items()])
    numbers = ["total", *(f"components/{name}" for name in components)]
    fields = [field.with_name(names[field.name]) for field in theirs]
    fields += [pa.field(name, pa.float64()) for name in numbers] + [pa.field(name, pa.string()) for name in _TEXTS]
    schema = pa.schema(fields)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def add(chunk: Chunk, scores: Scores) -> None:
            columns = list(_columns(chunk, theirs))
            said = _scores(scores)
            columns += [pa.array([row[name] for row in said], pa.float64()) for name in numbers]
            columns += [pa.array([_text(row[name]) for row in said], pa.string()) for name in _TEXTS]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))

        yield add


def _columns(chunk: Chunk, schema: pyarrow.Schema) -> Iterator[Any]:
    """Yield the columns of the data; those of an Arrow table keep their types."""
    import pyarrow as pa

    for field in schema:
        if isinstance(chunk, Tabular):
            yield chunk.table[field.name]
        else:
            values = chunk.column(field.name)
            yield pa.array(map(_text, values) if pa.types.is_string(field.type) else values, field.type)


def _type(kinds: set[type]) -> pyarrow.DataType:
    """Return the Arrow type of a column; mixed or complex values become text, as JSON."""
    import pyarrow as pa

    kind = float if kinds == {int, float} else next(iter(kinds)) if len(kinds) == 1 else object
    return pa.type_for_alias(_PLAIN.get(kind, "string"))


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else as_json(value)
    return text if _encodes(text) else text.encode("utf-8", "backslashreplace").decode()
