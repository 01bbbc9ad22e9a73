"""Writers: rows with their scores as .jsonl, .csv or .parquet, encoded part by part in any process.

``writer.encoded([(chunk, scores)])`` is a fragment; `opening`, the fragments in order and `closing` are a file. Our
columns come after those of the data: ``total``, ``components/<name>``, and texts: ``outcomes``, ``notes``, ``error``.
"""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from rewardkit.core.batch.column import Floats
from rewardkit.core.errors import DataError
from rewardkit.data.files import Row
from rewardkit.replay import footers
from rewardkit.replay.chunks import Chunk, Listed
from rewardkit.replay.outputs import (
    TEXTS,
    arrays,
    arrow,
    encodes,
    json_of,
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
    import pyarrow

Scored = Iterable[tuple[Chunk, Scores]]

_ENCODER = json.JSONEncoder(ensure_ascii=False)


class Writer(ABC):
    """How rows are written. It can be pickled."""

    @property
    @abstractmethod
    def opening(self) -> bytes:
        """The start of the file."""

    @abstractmethod
    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        """Return consecutive rows as bytes, and what `note` must know of them."""

    def note(self, about: Any, offset: int) -> bytes:
        """Return what the end of the file must say about rows whose bytes are at `offset`."""
        return b""

    def closing(self, notes: Sequence[bytes]) -> bytes:
        """Return the end of the file, with the notes about all rows in order."""
        return b""


def kind_of(path: Path) -> str:
    """Return ``".jsonl"``, ``".csv"`` or ``".parquet"``.

    Raises:
        DataError: the path has another suffix.
    """
    if path.suffix.lower() not in (".jsonl", ".csv", ".parquet"):
        raise DataError(f"{path}: cannot write this file type. Use .jsonl, .csv or .parquet.")
    return path.suffix.lower()


def writer_of(path: Path, found: Saved, components: Sequence[str]) -> Writer:
    """Return the writer for a file.

    Args:
        path: the suffix determines the file type.
        found: the scored data; a column with the name of one of ours becomes ``input/<name>``.
        components: of the reward.

    Raises:
        DataError: the path has an unknown suffix.
        MissingExtraError: pyarrow, which writes .parquet, is not installed.
    """
    kind, names = kind_of(path), renamed(found.columns, components)
    numbers = ("total", *(f"components/{name}" for name in components))
    if kind == ".jsonl":
        return Lines(names, numbers)
    if kind == ".csv":
        return Cells(names, (*names.values(), *numbers, *TEXTS))
    pa = arrow("writing .parquet files")
    theirs = schema_of(found.kinds) if found.schema is None else found.schema
    fields = [field.with_name(names[field.name]) for field in theirs]
    return Tables(theirs, pa.schema([*fields, *results_schema(components)]))


@final
@dataclass(frozen=True)
class Lines(Writer):
    """A JSON object in each line. A line of the data stays as it is, and our columns are added to it.

    Attributes:
        names: column of the data -> its name here.
        numbers: our columns of numbers.
    """

    names: Mapping[str, str]
    numbers: Sequence[str]

    @property
    def opening(self) -> bytes:
        return b""

    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        clashes = {name for name, other in self.names.items() if name != other}
        found: list[bytes] = []
        for chunk, scores in scored:
            lines = chunk.lines if isinstance(chunk, Listed) and chunk.lines else [b""] * len(chunk)
            for line, row, said in zip(lines, chunk.rows(), self._said(scores), strict=True):
                if not line or (clashes and not clashes.isdisjoint(row)):
                    line = _line({self.names[name]: value for name, value in row.items()})
                if line[-1:] != b"}":  # white space
                    line = line.strip()
                found += (line[:-1], b", ", said) if row else (b"{", said)
        return b"".join(found), None

    def _said(self, scores: Scores) -> list[bytes]:
        """Return our columns of each row, as the end of an object."""
        outcomes, notes, errors = outcomes_of(scores), notes_of(scores), scores.errors
        columns = [_numbers(values) for values in (scores.total, *scores.components.values())]
        form = ", ".join(f"{_ENCODER.encode(name).replace('%', '%%')}: %s" for name in self.numbers)
        found = [form % cells for cells in zip(*columns, strict=True)]
        for row in {**outcomes, **notes, **errors}:
            why = "; ".join(errors[row]) if row in errors else None
            texts = [json_of(said) for said in (outcomes.get(row, {}), notes.get(row, {}))]
            texts.append(_ENCODER.encode(why))
            told = zip(TEXTS, texts, strict=True)
            found[row] += "".join([f', "{name}": {text}' for name, text in told if text not in ("{}", "null")])
        return [_utf8(text) + b"}\n" for text in found]


@final
@dataclass(frozen=True)
class Cells(Writer):
    """Comma-separated values. Numbers and texts are as they are, everything else is JSON.

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
        theirs = list(self.names)
        found: list[bytes] = []
        for chunk, scores in scored:
            outcomes, notes = outcomes_of(scores), notes_of(scores)
            columns = (scores.total, *scores.components.values())
            ours = zip(*([None if one != one else one for one in column.tolist()] for column in columns), strict=True)
            rows = []
            for number, (row, numbers) in enumerate(zip(chunk.rows(), ours, strict=True)):
                why = "; ".join(scores.errors[number]) if number in scores.errors else None
                cells = [*map(row.get, theirs), *numbers, outcomes.get(number), notes.get(number), why]
                rows.append(list(map(_cell, cells)))
            found.append(_csv(rows))
        return b"".join(found), None


@final
@dataclass(frozen=True)
class Tables(Writer):
    """Parquet, with a row group for each part.

    Attributes:
        theirs: the columns of the data.
        schema: all columns.
    """

    theirs: pyarrow.Schema
    schema: pyarrow.Schema

    @property
    def opening(self) -> bytes:
        return footers.MAGIC

    def encoded(self, scored: Scored) -> tuple[Any, Any]:
        import pyarrow as pa

        tables = [
            pa.Table.from_arrays([*arrays(chunk, self.theirs), *results(scores)], schema=self.schema)
            for chunk, scores in scored
        ]
        file = self._file(pa.concat_tables(tables).combine_chunks())  # the same bytes, whatever the batches
        return footers.pages_of(file), footers.groups_of(file)

    def note(self, about: Any, offset: int) -> bytes:
        groups, count, rows = footers.moved(about, offset - len(footers.MAGIC))
        return count.to_bytes(8, "big") + rows.to_bytes(8, "big") + groups

    def closing(self, notes: Sequence[bytes]) -> bytes:
        count, rows = (sum(int.from_bytes(note[at : at + 8], "big") for note in notes) for at in (0, 8))
        empty = self._file(self.schema.empty_table())
        return footers.footer(empty, b"".join(note[16:] for note in notes), count, rows)

    def _file(self, table: pyarrow.Table) -> memoryview:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd", row_group_size=max(table.num_rows, 1))
        return memoryview(sink.getvalue())


def _numbers(values: Floats) -> list[str]:
    return ["null" if value != value else repr(value) for value in values.tolist()]


def _line(row: Row) -> bytes:
    try:
        text = _ENCODER.encode(row)
    except (TypeError, ValueError):  # a date, an image
        text = as_json(row)
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
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else as_json(value)
