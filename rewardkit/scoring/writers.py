"""Writers: rows with their scores as .jsonl, .csv, or .parquet, encoded part by part in any process.

``writer.encoded([(chunk, scores)])`` is a fragment. A file consists of `opening`, the fragments in order, and
`closing`. Our columns follow the data's columns: ``total``, ``components/<name>``, and the text columns ``outcomes``,
``notes``, and ``error``.
"""

from __future__ import annotations

import csv
import io
import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.batch.score import SCORED, Outcome
from rewardkit.errors import DataError, MissingExtraError
from rewardkit.scoring.files import Row
from rewardkit.scoring.parts import Chunk, Listed, Tabular
from rewardkit.scoring.scores import Scores

if TYPE_CHECKING:
    import pyarrow

    from rewardkit.scoring.sources import Saved


# Our columns, added to those of the data: names, types, and the scores of a chunk as Arrow arrays.


TEXTS = ("outcomes", "notes", "error")
"""Our text columns, which follow the number columns."""

_OUTCOMES = [str(outcome) for outcome in Outcome]
_PLAIN = {str: "string", bool: "bool", int: "int64", float: "float64"}


def check_names(names: Sequence[str], data: str) -> None:
    """Raise a DataError if two columns of `data` have the same name."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{data}: duplicate column {twice!r}. Rename one of them")


def renamed(names: Sequence[str], components: Sequence[str]) -> dict[str, str]:
    """Return column in the data -> the column's name in the output."""
    result_names = {"total", *TEXTS, *(f"components/{name}" for name in components)}
    output_names: dict[str, str] = {}
    for column in names:
        name = column
        while name in result_names or (name != column and name in names):
            name = f"input/{name}"
        output_names[column] = name
    return output_names


def results_schema(components: Sequence[str]) -> pyarrow.Schema:
    """Return the names and types of our columns."""
    pa = arrow("tables")
    numbers = ["total", *(f"components/{name}" for name in components)]
    return pa.schema([(name, pa.float64()) for name in numbers] + [(name, pa.string()) for name in TEXTS])


def results(scores: Scores) -> list[pyarrow.Array]:
    """Return our columns as arrays in the order of `results_schema`, with null for missing values."""
    import pyarrow as pa

    outcomes, notes = outcomes_of(scores), notes_of(scores)
    size = len(scores.total)
    numbers = [scores.total, *scores.components.values()]
    texts = [
        {row: utf8(json_of(entries)) for row, entries in outcomes.items()},
        {row: utf8(json_of(entries)) for row, entries in notes.items()},
        {row: utf8("; ".join(reasons)) for row, reasons in scores.errors.items()},
    ]
    result_columns = [pa.array(column, mask=np.isnan(column)) for column in numbers]
    for entries in texts:
        result_columns.append(
            pa.array(map(entries.get, range(size)), pa.string(), size=size) if entries else pa.nulls(size, "string")
        )
    return result_columns


def outcomes_of(scores: Scores) -> dict[int, dict[str, str]]:
    """Return row -> component -> outcome, for components that were not scored."""
    outcomes: dict[int, dict[str, str]] = {}
    for name, codes in scores.codes.items():
        for row in np.flatnonzero(codes != SCORED).tolist():
            outcomes.setdefault(row, {})[name] = _OUTCOMES[codes[row]]
    return outcomes


def notes_of(scores: Scores) -> dict[int, dict[str, str]]:
    """Return row -> component -> note."""
    notes: dict[int, dict[str, str]] = {}
    for name, component_notes in scores.notes.items():
        for row, note in component_notes.items():
            notes.setdefault(row, {})[name] = note
    return notes


def json_of(texts: Mapping[str, str]) -> str:
    """Return a mapping of strings as JSON. The result is the same as from `json.dumps`, but three times as fast."""
    return f"{{{', '.join([f'{_quoted(name)}: {_quoted(text)}' for name, text in texts.items()])}}}"


def arrays(chunk: Chunk, schema: pyarrow.Schema) -> Iterator[Any]:
    """Yield the data's columns as Arrow arrays; the columns of an Arrow table keep their types."""
    import pyarrow as pa

    for field in schema:
        if isinstance(chunk, Tabular):
            yield chunk.table[field.name]
        else:
            values = chunk.column(field.name)
            yield pa.array(map(_text, values) if pa.types.is_string(field.type) else values, field.type)


def schema_of(kinds: Mapping[str, set[type]]) -> pyarrow.Schema:
    """Return the Arrow schema for columns of Python values; mixed or complex values become JSON text."""
    pa = arrow("writing .parquet files")
    return pa.schema(
        [(name, pa.type_for_alias(plain_type(column_types) or "string")) for name, column_types in kinds.items()]
    )


def split_schema(schema: pyarrow.Schema, names: Sequence[str]) -> pyarrow.Schema:
    """Return the Arrow schema for rows whose conversations were split."""
    types = {field.name: python_type(field.type) for field in schema}
    return schema_of({name: {types.get(name, object)} for name in names})


def python_type(arrow_type: pyarrow.DataType) -> type:
    """Return the Python type for values of an Arrow type; ``object`` if it is not a plain type."""
    import pyarrow as pa

    if pa.types.is_uint64(arrow_type):
        return object
    checks = {pa.types.is_boolean: bool, pa.types.is_integer: int, pa.types.is_floating: float}
    checks |= {pa.types.is_string: str, pa.types.is_large_string: str}
    return next((kind for check, kind in checks.items() if check(arrow_type)), object)


def _as_json(value: Any) -> str:
    """Return any value, even a date or an image, as JSON text."""
    from rewardkit.record.cells import as_json  # most data has none

    return as_json(value)


def utf8(text: str) -> str:
    """Return the text with lone surrogates, which UTF-8 cannot encode, as escape sequences."""
    return text if encodes(text) else text.encode("utf-8", "backslashreplace").decode()


def encodes(text: str) -> bool:
    """Return whether UTF-8 can encode `text`; it cannot encode lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def arrow(work: str) -> Any:
    """Return the pyarrow module.

    Raises:
        MissingExtraError: pyarrow is not installed; `work` names the purpose.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError.of(work, "store") from error
    return pyarrow


def plain_type(kinds: set[type]) -> str | None:
    """Return the name of the Arrow type for values of these types, or None if they are mixed or structured."""
    kind = float if kinds == {int, float} else next(iter(kinds)) if len(kinds) == 1 else object
    return _PLAIN.get(kind)


def _text(value: Any) -> str | None:
    return None if value is None else utf8(value if isinstance(value, str) else _as_json(value))


# Footers of Parquet files, to join files with the same columns without decoding a value.


MAGIC = b"PAR1"

Struct = dict[int, tuple[int, Any]]
"""A Thrift struct: field number -> (type, value)."""

# Types of Thrift's compact protocol, the format of a Parquet file's footer.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_VARINTS = (4, 5, 6)
_ROWS, _GROUPS = 3, 4
"""Fields in the footer."""
_COLUMNS, _GROUP_ROWS, _GROUP_OFFSET, _ORDINAL = 1, 3, 5, 7
"""Fields in a row group."""
_CHUNK_OFFSET, _METADATA, _INDEXES = 2, 3, (4, 6)
"""Fields in a row group's column."""
_PAGES = (9, 10, 11, 14)
"""Fields in a column's metadata: the offsets of the data pages, the indexes, the dictionary, and the Bloom filter."""


def pages_of(file: memoryview) -> memoryview:
    """Return the data pages of a Parquet file: everything between the leading magic number and the footer."""
    # A file ends with the footer's size (4 bytes) and the magic number (4 bytes).
    return file[len(MAGIC) : len(file) - 8 - _footer_size(file)]


def groups_of(file: memoryview) -> list[Struct]:
    """Return the row groups from the footer of a Parquet file."""
    groups: list[Struct] = _footer(file)[_GROUPS][1][1]
    return groups


def moved(groups: list[Struct], by: int) -> tuple[bytes, int, int]:
    """Return row groups whose pages moved `by` bytes, encoded for a footer, with their number and rows."""
    for group in groups:
        group.pop(_ORDINAL, None)
        _move(group, _GROUP_OFFSET, by)
        for column in group[_COLUMNS][1][1]:
            _move(column, _CHUNK_OFFSET, by)
            for index in _INDEXES:
                _move(column, index, by)
            for page in _PAGES:
                _move(column[_METADATA][1], page, by)
    return b"".join(map(_struct, groups)), len(groups), sum(group[_GROUP_ROWS][1] for group in groups)


def footer(empty: memoryview, groups: bytes, count: int, rows: int) -> bytes:
    """Return the end of a Parquet file: the footer of an `empty` file with the same columns plus these row groups."""
    footer_fields = _footer(empty)
    fields = {number: _value(kind, value) for number, (kind, value) in footer_fields.items()}
    fields[_ROWS] = _varint(_zigzag(rows))
    fields[_GROUPS] = _list_header(_STRUCT, count) + groups
    data, before = b"", 0
    for number in sorted(fields):
        data += _field_header(number - before, footer_fields[number][0], number) + fields[number]
        before = number
    data += b"\0"
    return data + struct.pack("<I", len(data)) + MAGIC


def _move(fields: Struct, number: int, by: int) -> None:
    kind, value = fields.get(number, (0, 0))
    if value:  # 0 means that the offset is absent
        fields[number] = (kind, value + by)


def _footer_size(file: memoryview) -> int:
    return int(struct.unpack("<I", file[-8:-4])[0])


def _footer(file: memoryview) -> Struct:
    return _Reader(bytes(file[len(file) - 8 - _footer_size(file) : len(file) - 8])).struct()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> Struct:
        fields: Struct = {}
        number = 0
        while head := self._byte():
            # The low four bits are the type. The high four bits are the difference from the previous field's number; 0
            # means that the number follows.
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else _unzigzag(self._varint())
            fields[number] = (kind, None if kind in (_TRUE, _FALSE) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _VARINTS:
            return _unzigzag(self._varint())
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct()
        if kind in (_LIST, _SET):
            head = self._byte()
            # 15 in the high bits means that the size follows.
            size = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 15, [self._value(head & 15) for _ in range(size)]
        if kind in (_BYTE, _TRUE, _FALSE):  # booleans in lists are bytes
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise ValueError(f"a Parquet footer with a field of type {kind}")  # maps do not occur in footers

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            # Each byte has seven bits of the value, the lowest first; the eighth bit says that more bytes follow.
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def _struct(fields: Struct) -> bytes:
    data, before = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        data += _field_header(number - before, kind, number) + _value(kind, value)
        before = number
    return bytes(data + b"\0")


def _field_header(delta: int, kind: int, number: int) -> bytes:
    return bytes([delta << 4 | kind]) if 0 < delta < 16 else bytes([kind]) + _varint(_zigzag(number))


def _value(kind: int, value: Any) -> bytes:
    if value is None:
        return b""
    if kind in _VARINTS:
        return _varint(_zigzag(value))
    if kind == _BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == _STRUCT:
        return _struct(value)
    if kind in (_LIST, _SET):
        return _list_header(value[0], len(value[1])) + b"".join(_value(value[0], element) for element in value[1])
    return bytes([value]) if isinstance(value, int) else bytes(value)


def _list_header(kind: int, size: int) -> bytes:
    return bytes([size << 4 | kind]) if size < 15 else bytes([15 << 4 | kind]) + _varint(size)


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _unzigzag(value: int) -> int:
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)


Scored = Iterable[tuple[Chunk, Scores]]

_ENCODER = json.JSONEncoder(ensure_ascii=False)


class Writer(ABC):
    """A file format for rows with scores. Writers can be pickled."""

    @property
    @abstractmethod
    def opening(self) -> bytes:
        """The start of the file."""

    @abstractmethod
    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        """Return consecutive rows as bytes, and the information that `note` needs about them."""

    def note(self, about: Any, offset: int) -> bytes:
        """Return the entries at the end of the file that describe the rows whose bytes are at `offset`."""
        return b""

    def closing(self, notes: Sequence[bytes]) -> bytes:
        """Return the end of the file, including the notes about all rows in order."""
        return b""


def kind_of(path: Path) -> str:
    """Return ``".jsonl"``, ``".csv"``, or ``".parquet"``.

    Raises:
        DataError: the path has a different suffix.
    """
    if path.suffix.lower() not in (".jsonl", ".csv", ".parquet"):
        raise DataError(f"{path}: cannot write this file type. Use .jsonl, .csv, or .parquet")
    return path.suffix.lower()


def writer_of(path: Path, saved: Saved, components: Sequence[str]) -> Writer:
    """Return the writer for a file.

    Args:
        path: the file's path; its suffix determines the file type.
        saved: the data to score. A column with a conflicting name becomes ``input/<name>``.
        components: the reward's components.

    Raises:
        DataError: the path has an unknown suffix.
        MissingExtraError: pyarrow, which writes .parquet, is not installed.
    """
    kind, names = kind_of(path), renamed(saved.columns, components)
    numbers = ("total", *(f"components/{name}" for name in components))
    if kind == ".jsonl":
        return Lines(names, numbers)
    if kind == ".csv":
        return Cells(names, (*names.values(), *numbers, *TEXTS))
    arrow("writing .parquet files")
    return Tables.of(schema_of(saved.kinds) if saved.schema is None else saved.schema, components)


@final
@dataclass(frozen=True)
class Lines(Writer):
    """The JSON Lines format: each unchanged input row plus our columns.

    Attributes:
        names: column of the data -> its name here.
        numbers: our number columns.
    """

    names: Mapping[str, str]
    numbers: Sequence[str]

    @property
    def opening(self) -> bytes:
        return b""

    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        clashes = {name for name, other in self.names.items() if name != other}
        pieces: list[bytes] = []
        for chunk, scores in scored:
            lines = chunk.lines if isinstance(chunk, Listed) and chunk.lines else [b""] * len(chunk)
            for line, row, ending in zip(lines, chunk.rows(), self._row_endings(scores), strict=True):
                if not line or (clashes and not clashes.isdisjoint(row)):
                    line = json_line({self.names[name]: value for name, value in row.items()})
                if line[-1:] != b"}":  # trailing white space
                    line = line.strip()
                pieces += (line[:-1], b", ", ending) if row else (b"{", ending)
        return b"".join(pieces), None

    def _row_endings(self, scores: Scores) -> list[bytes]:
        """Return our columns for each row as the end of a JSON object."""
        outcomes, notes, errors = outcomes_of(scores), notes_of(scores), scores.errors
        columns = [_numbers(values) for values in (scores.total, *scores.components.values())]
        template = ", ".join(f"{_ENCODER.encode(name).replace('%', '%%')}: %s" for name in self.numbers)
        endings = [template % cells for cells in zip(*columns, strict=True)]
        for row in {**outcomes, **notes, **errors}:
            reason = "; ".join(errors[row]) if row in errors else None
            texts = [json_of(entries) for entries in (outcomes.get(row, {}), notes.get(row, {}))]
            texts.append(_ENCODER.encode(reason))
            named_texts = zip(TEXTS, texts, strict=True)
            endings[row] += "".join([f', "{name}": {text}' for name, text in named_texts if text not in ("{}", "null")])
        return [_utf8(text) + b"}\n" for text in endings]


@final
@dataclass(frozen=True)
class Cells(Writer):
    """The CSV format. Numbers and text are written unchanged; everything else is written as JSON.

    Attributes:
        names: column of the data -> its name here.
        header: all columns.
    """

    names: Mapping[str, str]
    header: Sequence[str]

    @property
    def opening(self) -> bytes:
        return _csv([self.header])

    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        data_columns = list(self.names)
        pieces: list[bytes] = []
        for chunk, scores in scored:
            outcomes, notes = outcomes_of(scores), notes_of(scores)
            columns = (scores.total, *scores.components.values())
            score_rows = zip(
                *([None if value != value else value for value in column.tolist()] for column in columns), strict=True
            )
            rows = []
            for number, (row, numbers) in enumerate(zip(chunk.rows(), score_rows, strict=True)):
                reason = "; ".join(scores.errors[number]) if number in scores.errors else None
                cells = [*map(row.get, data_columns), *numbers, outcomes.get(number), notes.get(number), reason]
                rows.append(list(map(_cell, cells)))
            pieces.append(_csv(rows))
        return b"".join(pieces), None


@final
@dataclass(frozen=True)
class Tables(Writer):
    """The Parquet format, with one row group for each part.

    Attributes:
        theirs: the data's columns.
        schema: all columns.
    """

    theirs: pyarrow.Schema
    schema: pyarrow.Schema

    @classmethod
    def of(cls, data_schema: pyarrow.Schema, components: Sequence[str]) -> Tables:
        """Return the writer for data with these columns."""
        import pyarrow as pa

        names = renamed(data_schema.names, components)
        fields = [field.with_name(names[field.name]) for field in data_schema]
        return cls(data_schema, pa.schema([*fields, *results_schema(components)]))

    def table(self, chunk: Chunk, scores: Scores) -> pyarrow.Table:
        """Return a chunk's rows with their scores."""
        import pyarrow as pa

        return pa.Table.from_arrays([*arrays(chunk, self.theirs), *results(scores)], schema=self.schema)

    @property
    def opening(self) -> bytes:
        return MAGIC

    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        import pyarrow as pa

        tables = [self.table(chunk, scores) for chunk, scores in scored]
        file = self._file(pa.concat_tables(tables).combine_chunks())  # the same bytes, however the rows were batched
        return pages_of(file), groups_of(file)

    def note(self, about: Any, offset: int) -> bytes:
        groups, count, rows = moved(about, offset - len(MAGIC))
        return count.to_bytes(8, "big") + rows.to_bytes(8, "big") + groups

    def closing(self, notes: Sequence[bytes]) -> bytes:
        count, rows = (sum(int.from_bytes(note[at : at + 8], "big") for note in notes) for at in (0, 8))
        empty = self._file(self.schema.empty_table())
        return footer(empty, b"".join(note[16:] for note in notes), count, rows)

    def _file(self, table: pyarrow.Table) -> memoryview:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd", row_group_size=max(table.num_rows, 1))
        return memoryview(sink.getvalue())


def _numbers(values: Floats) -> list[str]:
    return ["null" if value != value else repr(value) for value in values.tolist()]


def json_line(row: Row) -> bytes:
    """Return a row as JSON without a line break."""
    try:
        text = _ENCODER.encode(row)
    except (TypeError, ValueError):  # a date, an image
        text = _as_json(row)
    return _utf8(text)


def _utf8(text: str) -> bytes:
    """Return JSON as bytes; lone surrogates, which UTF-8 cannot encode, are escaped."""
    return text.encode() if encodes(text) else text.encode("utf-8", "backslashreplace")


def _csv(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)  # with "\n" as line terminator, it would not quote a lone "\r"
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else _as_json(value)
