"""Files for trainers: .jsonl, .parquet or .csv, so that ``datasets.load_dataset`` reads back what was written.

``with written(Path("sft.jsonl"), layout) as add: add({"prompt": ..., "completion": ..., "score": 1.0})``. The file
appears when all rows are written. One lone surrogate in a text would make the whole file unreadable, so it becomes
U+FFFD; NaN, which JSON does not have, becomes null.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.core.errors import DataError, MissingExtraError
from rewardkit.replay.selection.layouts import Field, Layout
from rewardkit.replay.writers import kind_of
from rewardkit.store.cells import as_json

if TYPE_CHECKING:
    import pyarrow

Add = Callable[[Mapping[str, Any]], None]

_GROUP_ROWS = 4096
_SURROGATES = re.compile("[\ud800-\udfff]")
_PLAIN = {str: "string", bool: "bool", int: "int64", float: "float64"}


@contextmanager
def written(path: Path, layout: Layout) -> Iterator[Add]:
    """Return a function that adds rows to `path`; the file appears when all rows are written.

    Raises:
        DataError: the file cannot be written, or its type cannot hold the rows.
        MissingExtraError: pyarrow, which writes .parquet, is not installed.
    """
    make = {".jsonl": _lines, ".csv": _cells, ".parquet": _tables}[kind_of(path)]
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with make(partial, layout) as add:
            yield add
        os.replace(partial, path)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            partial.unlink()


@contextmanager
def _lines(path: Path, layout: Layout) -> Iterator[Add]:
    _refuse(layout, "binary", "JSON cannot hold the images of the data", ".parquet")
    with path.open("w", encoding="utf-8", newline="\n") as file:

        def add(row: Mapping[str, Any]) -> None:
            file.write(_json(row) + "\n")

        yield add


@contextmanager
def _cells(path: Path, layout: Layout) -> Iterator[Add]:
    if layout.chat:
        raise DataError("a .csv file cannot hold chat messages: a trainer would read them as text. Use .jsonl.")
    _refuse(layout, "", "a .csv file cannot hold the column", ".jsonl or .parquet")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in layout.fields])

        def add(row: Mapping[str, Any]) -> None:
            writer.writerow([_cell(value) for value in row.values()])

        yield add


@contextmanager
def _tables(path: Path, layout: Layout) -> Iterator[Add]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError.of("writing .parquet files", "store") from error
    theirs = layout.scored.saved.schema
    schema = pa.schema([(field.name, _type(field, layout)) for field in layout.fields])
    held: list[Mapping[str, Any]] = []
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def flush() -> None:
            columns = [_array([row[one.name] for row in held], one.type, encode=theirs is None) for one in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
            held.clear()

        def add(row: Mapping[str, Any]) -> None:
            held.append(row)
            if len(held) >= _GROUP_ROWS:
                flush()

        yield add
        flush()


def _refuse(layout: Layout, kind: str, why: str, instead: str) -> None:
    """Refuse columns for trainers that a file type cannot hold; `kind` is a part of the names of their Arrow types."""
    for name, column in layout.scored.for_trainers.items():
        schema = layout.scored.saved.schema
        found = "" if schema is None else str(schema.field(column).type)
        if kind in found:
            raise DataError(f"{why} ({name!r}). Use {instead}.")


def _type(field: Field, layout: Layout) -> pyarrow.DataType:
    """Return the Arrow type of a column; columns of JSON files with structure keep it as JSON."""
    import pyarrow as pa

    if layout.scored.is_score(field.column):
        return pa.float64()
    schema = layout.scored.saved.schema
    if schema is not None:
        found = schema.field(field.column).type
        if field.role and layout.chat and not pa.types.is_nested(found):
            return pa.list_(pa.struct([("role", pa.string()), ("content", found)]))
        return found
    kinds = layout.scored.saved.kinds[field.column]
    kind = float if kinds == {int, float} else next(iter(kinds)) if len(kinds) == 1 else object
    if kind in _PLAIN and not (field.role and layout.chat):
        return pa.type_for_alias(_PLAIN[kind])
    if not kinds:
        return pa.null()
    if not hasattr(pa, "json_"):
        raise DataError(f"column {field.name!r} needs pyarrow 19 or later. Use .jsonl, or update pyarrow.")
    return pa.json_()


def _array(values: list[Any], kind: pyarrow.DataType, *, encode: bool) -> pyarrow.Array:
    """Return the values as an array; with `encode`, those of JSON columns are values and no texts."""
    import pyarrow as pa

    stored = _stored(kind)
    if encode and isinstance(kind, pa.BaseExtensionType):
        values = [None if value is None else _json(value) for value in values]
    elif encode and pa.types.is_string(kind):
        values = [None if value is None else _SURROGATES.sub("\ufffd", value) for value in values]
    array = pa.array(values, stored)
    return array if stored == kind else array.cast(kind)


def _stored(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Return the type with the storage of extension types, such as Arrow's JSON, which takes Python values."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    if pa.types.is_list(kind):
        return pa.list_(_stored(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_stored(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([one.with_type(_stored(one.type)) for one in kind])
    return kind


def _json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # a date
        text = as_json(value)
    if "NaN" in text or "Infinity" in text:
        text = json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)
    return _SURROGATES.sub("\ufffd", text)


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else _json(value)
