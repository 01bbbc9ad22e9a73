"""Rows of data files: ``for place, row in rows_of(Path("solutions.jsonl"))`` reads one row at a time.

Each row comes with its place, ``"solutions.jsonl, line 3"``, for error messages.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from rewardkit.core.errors import DataError, MissingExtraError, shorten

Row = Mapping[str, Any]

_PARQUET_ROWS = 512
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def rows_of(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a .jsonl, .json, .csv or .parquet file, each with its place.

    The cells of a .csv file are text. A .json file is read as a whole, other files row by row; it is a list of objects,
    or has an object per line.

    Raises:
        DataError: the file has another suffix, or a row cannot be read.
        MissingExtraError: pyarrow, which reads .parquet, is not installed.
        OSError: there is no such file.
    """
    readers = {".jsonl": lines_of, ".json": _array, ".csv": _cells, ".parquet": _table}
    if path.suffix.lower() not in readers:
        raise DataError(
            f"{path}: unknown file type. Pass a .jsonl, .json, .csv or .parquet file, or a list of mappings."
        )
    for place, row in readers[path.suffix.lower()](path):
        yield place, checked_row(place, row)


def checked_row(place: str, row: Any) -> Row:
    """Return `row`.

    Raises:
        DataError: it is not a mapping.
    """
    if not isinstance(row, Mapping):
        hint = " For a pandas table, pass table.to_dict('records')." if isinstance(row, str) else ""
        raise DataError(f"{place}: expected a mapping, got {shorten(row)}.{hint}")
    return row


def parquet_file(path: Path) -> Any:
    """Open a ``pyarrow.parquet.ParquetFile``.

    Raises:
        DataError: the file is not a Parquet file.
        MissingExtraError: pyarrow is not installed.
        OSError: there is no such file.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError.of("reading .parquet files", "store") from error
    with path.open("rb"):
        pass
    try:
        return parquet.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: not a Parquet file ({shorten(str(error))})") from None


def _table(path: Path) -> Iterator[tuple[str, Any]]:
    number = 0
    with parquet_file(path) as file:
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
            for row in batch.to_pylist():
                yield f"{path}, row {number}", row
                number += 1


def lines_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file with one JSON value per line, each with its place.

    Raises:
        DataError: a line is not JSON, or not UTF-8.
        OSError: there is no such file.
    """
    # In bytes, because a JSON string may contain U+2028 or a lone carriage return.
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = _decoded(line, f"{path}, line {number}", first=number == 1)
            if text.strip():
                try:
                    yield f"{path}, line {number}", json.loads(text)
                except (ValueError, RecursionError) as error:
                    raise DataError(f"{path}, line {number}: not JSON ({error}): {shorten(text)}") from None


def _array(path: Path) -> Iterator[tuple[str, Any]]:
    text = _decoded(path.read_bytes(), str(path), first=True)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and _is_json(text.partition("\n")[0]):
            yield from lines_of(path)
            return
        raise DataError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise DataError(f"{path}: the JSON is nested too deeply") from None
    if not isinstance(value, list):
        raise DataError(f"{path}: expected a list of objects, got {shorten(value)}")
    yield from ((f"{path}, row {row}", record) for row, record in enumerate(value))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _decoded(data: bytes, place: str, *, first: bool) -> str:
    try:
        return (data.removeprefix(_BYTE_ORDER_MARK) if first else data).decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 ({error.reason} at byte {error.start}). Save the file as UTF-8.") from None


def _cells(path: Path) -> Iterator[tuple[str, Any]]:
    header: list[str] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, cells in _csv_rows(path, file):
            place = f"{path}, line {number}"
            if not header:
                header = cells
                twice = next((name for name in header if header.count(name) > 1), None)
                if twice is not None:
                    raise DataError(f"{place}: duplicate column {twice!r}. Rename one of them.")
            elif len(cells) != len(header):
                raise DataError(
                    f"{place}: {len(cells)} cells for {len(header)} columns. Quote cells that contain commas."
                )
            else:
                yield place, dict(zip(header, cells, strict=True))


def _csv_rows(path: Path, file: IO[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the number of its last line."""
    rows = csv.reader(file, strict=True)
    longest = max(csv.field_size_limit(), path.stat().st_size)  # a completion may exceed the default of 131,072
    while True:
        limit = csv.field_size_limit(longest)  # for the whole process, so only while we read
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise DataError(f"{path}, line {rows.line_num}: not CSV ({error})") from None
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}: not UTF-8 ({error.reason}, after line {rows.line_num}). Save the file as UTF-8."
            ) from None
        finally:
            csv.field_size_limit(limit)
        if cells is None:
            return
        if cells:
            yield rows.line_num, cells
