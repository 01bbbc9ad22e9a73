"""Rows of data files: ``for place, row in rows_of(Path("solutions.jsonl"))`` reads a file row by row.

Each row has a location for error messages: ``"solutions.jsonl, line 3"``.
"""

from __future__ import annotations

import csv
import functools
import glob
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from rewardkit.errors import DataError, MissingExtraError, shorten

# Addresses of data: local paths, and URLs that fsspec reads (``s3://bucket/data/*.parquet``).


def is_remote(address: str) -> bool:
    """Return whether `address` is a URL (to be read by fsspec) and not a local path."""
    return "://" in address


def ending(address: str) -> str:
    """Return the file suffix of `address` in lowercase: ``".parquet"``."""
    return os.path.splitext(address)[1].lower()


def opened(address: str) -> IO[bytes]:
    """Open a file in binary read mode.

    Raises:
        MissingExtraError: fsspec, which reads URLs, is not installed.
        OSError: the file does not exist.
    """
    if not is_remote(address):
        return open(address, "rb")
    system, path = _system(address)
    file: IO[bytes] = system.open(path, "rb")
    return file


def size_of(address: str) -> int:
    """Return a file's size in bytes; raise the same errors as `opened`."""
    if not is_remote(address):
        return os.stat(address).st_size
    system, path = _system(address)
    return int(system.size(path))


def expanded(address: str) -> list[str]:
    """Return the sorted addresses that match a pattern (``*``, ``?``, ``[...]``), or the address if it is not a
    pattern.

    Raises:
        DataError: no file matches.
    """
    if not glob.has_magic(address) or (not is_remote(address) and os.path.exists(address)):
        return [address]
    if is_remote(address):
        system, path = _system(address)
        addresses = [system.unstrip_protocol(match) for match in system.glob(path)]
    else:
        addresses = glob.glob(address, recursive=True)
    if not addresses:
        raise DataError(f"no file matches {address}")
    return sorted(addresses)


def _system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtraError.of(f"reading {address}", "store") from error
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:  # no package for s3://, or no such protocol
        raise DataError(f"{address} cannot be read: {error}") from None
    return system, path


Row = Mapping[str, Any]

_PARQUET_ROWS = 512
"""The number of rows in a Parquet file that are decoded at once: the default batch size."""
_LONGEST_LINE = 64 << 20
"""The maximum number of bytes of the first line that `holds_lines` reads. The limit is arbitrary. It prevents reading a
whole file without line breaks just to detect the format."""
_PARQUET_BYTES = 1 << 20
"""The number of bytes in a column that are read at once. Without this limit, a whole large row group would be in
memory."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def rows_of(path: str | Path) -> Iterator[tuple[str, Row]]:
    """Yield (location, row) for each row in a .jsonl, .json, .csv, or .parquet file.

    The cells in a .csv file are strings. A .json file, which contains a list of objects or one object per line, is read
    all at once; other files are read row by row.

    Raises:
        DataError: the file has a different suffix, or a row cannot be read.
        MissingExtraError: pyarrow, which reads .parquet, is not installed.
        OSError: the file does not exist.
    """
    readers = {".jsonl": lines_of, ".json": _array, ".csv": _cells, ".parquet": _table}
    address = os.fspath(path)
    if ending(address) not in readers:
        raise DataError(
            f"{path}: unknown file type. Pass a .jsonl, .json, .csv, or .parquet file, or a list of mappings"
        )
    for location, row in readers[ending(address)](address):
        yield location, checked_row(location, row)


def checked_row(location: str, row: Any) -> Row:
    """Return `row` if it is a mapping.

    Raises:
        DataError: `row` is not a mapping.
    """
    if type(row) is not dict and not isinstance(row, Mapping):
        hint = " For a pandas table, pass table.to_dict('records')" if isinstance(row, str) else ""
        raise DataError(f"{location}: expected a mapping, got {shorten(row)}.{hint}")
    return row


def parquet_file(path: str | Path) -> Any:
    """Open a file as a ``pyarrow.parquet.ParquetFile`` that reads a few pages at a time.

    Raises:
        DataError: the file is not a Parquet file.
        MissingExtraError: pyarrow is not installed.
        OSError: the file does not exist.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtraError.of("reading .parquet files", "store") from error
    source: Any = os.fspath(path)
    if is_remote(source):
        source = opened(source)
    else:
        with open(source, "rb"):
            pass
    try:
        return parquet.ParquetFile(source, pre_buffer=False, buffer_size=_PARQUET_BYTES)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: not a Parquet file ({shorten(str(error))})") from None


def _table(address: str) -> Iterator[tuple[str, Any]]:
    number = 0
    with parquet_file(address) as file:
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
            for row in batch.to_pylist():
                yield f"{address}, row {number}", row
                number += 1


def lines_of(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Yield (location, value) for each line in a file with one JSON value per line.

    Raises:
        DataError: a line is not valid JSON or UTF-8.
        OSError: the file does not exist.
    """
    # Split bytes, not text, because a JSON string may contain U+2028 or a lone carriage return.
    with opened(os.fspath(path)) as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if not is_blank(text):
                yield f"{path}, line {number}", parsed(text, f"{path}, line {number}")


def holds_lines(address: str) -> bool:
    """Return whether a .json file has one JSON object per line."""
    with opened(address) as file:
        first, second = file.readline(_LONGEST_LINE).removeprefix(BYTE_ORDER_MARK), file.read(1)
    return first.endswith(b"\n") and first[:1] == b"{" and bool(second) and _is_json(first)


def is_blank(line: bytes) -> bool:
    """Return whether a line contains only whitespace."""
    return line[:1] != b"{" and not line.decode(errors="replace").strip()


def parsed(line: bytes, location: str) -> Any:
    """Return the JSON value in a line.

    Raises:
        DataError: the line is not valid JSON or UTF-8.
    """
    try:
        return _parser()(line)
    except ValueError:  # jiter refuses some JSON: lone surrogates, deep nesting
        pass
    text = _decoded(line, location, first=False)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{location}: not JSON ({error}): {shorten(text)}") from None


@functools.cache
def _parser() -> Callable[[bytes], Any]:
    """Return jiter's parser, which is equivalent to `json` but four times as fast; if jiter is missing, `json`."""
    try:
        import jiter
    except ImportError:
        return lambda line: json.loads(line.decode())
    return jiter.from_json


def _array(address: str) -> Iterator[tuple[str, Any]]:
    with opened(address) as file:
        text = _decoded(file.read(), address, first=True)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and _is_json(text.partition("\n")[0]):
            yield from lines_of(address)
            return
        raise DataError(f"{address}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise DataError(f"{address}: the JSON is nested too deeply") from None
    if not isinstance(value, list):
        raise DataError(f"{address}: expected a list of objects, got {shorten(value)}")
    yield from ((f"{address}, row {row}", record) for row, record in enumerate(value))


def _is_json(text: str | bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _decoded(data: bytes, location: str, *, first: bool) -> str:
    try:
        return (data.removeprefix(BYTE_ORDER_MARK) if first else data).decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{location}: not UTF-8 ({error.reason} at byte {error.start}). Save the file as UTF-8"
        ) from None


def _cells(address: str) -> Iterator[tuple[str, Any]]:
    with opened(address) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        yield from csv_rows(address, text, size_of(address))


def csv_rows(
    name: str, lines: Iterable[str], longest: int, header: Sequence[str] = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (location, row) for each row in CSV data.

    Args:
        name: the file name, for error messages.
        lines: the lines, including line endings.
        longest: the maximum number of characters in a cell.
        header: the column names. The default is the first row.

    Raises:
        DataError: the lines are not valid CSV or UTF-8.
    """
    for number, cells in _cells_of(name, lines, longest):
        location = f"{name}, line {number}"
        if not header:
            header = cells
            twice = next((name for name in header if header.count(name) > 1), None)
            if twice is not None:
                raise DataError(f"{location}: duplicate column {twice!r}. Rename one of them")
        elif len(cells) != len(header):
            raise DataError(
                f"{location}: {len(cells)} cells for {len(header)} columns. Quote cells that contain commas"
            )
        else:
            yield location, dict(zip(header, cells, strict=True))


def _cells_of(name: str, lines: Iterable[str], longest: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the last line number and the cells of each nonempty row."""
    rows = csv.reader(lines, strict=True)
    longest = max(csv.field_size_limit(), longest)  # a completion may exceed the default of 131,072
    while True:
        limit = csv.field_size_limit(longest)  # set for the whole process, so only while we read
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise DataError(f"{name}, line {rows.line_num}: not CSV ({error})") from None
        except UnicodeDecodeError as error:
            raise DataError(
                f"{name}: not UTF-8 ({error.reason}, after line {rows.line_num}). Save the file as UTF-8"
            ) from None
        finally:
            csv.field_size_limit(limit)
        if cells is None:
            return
        if cells:
            yield rows.line_num, cells
