"""Lines: the rows of a range of bytes of a .jsonl file.

``lines_of("data.jsonl", None)`` cuts a file into ranges. A line belongs to the range in which it starts. Each range is
looked through once before anything is scored: `Lines.surveyed` counts its rows and finds a line that is broken.
"""

from __future__ import annotations

import functools
import io
import operator
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, ClassVar, final

from rewardkit.errors import DataError
from rewardkit.scoring.chunks import Chunk, Listed
from rewardkit.scoring.conversations import split_row
from rewardkit.scoring.files import BYTE_ORDER_MARK, checked_row, csv_rows, is_blank, opened, parsed, size_of
from rewardkit.scoring.parts.part import Kinds, Part, Survey, part_bytes

# Cells: the rows of a range of bytes of a .csv file.


@final
@dataclass(frozen=True)
class Cells(Part):
    """The rows in a range of bytes that starts and ends between two rows.

    Attributes:
        address: of the file.
        start, stop: the range.
        header: the names of the columns; empty where the first row has them.
        completion: the column of the completions, if it has another name.
        rows: the number of rows.
        skip: the number of rows at the start that do not belong to the part.
    """

    address: str
    start: int
    stop: int
    header: tuple[str, ...]
    completion: str | None
    rows: int
    skip: int = 0

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        with opened(self.address) as file:
            file.seek(self.start)
            text = file.read(self.stop - self.start).decode("utf-8" if self.start else "utf-8-sig")
        rows = csv_rows(self.address, io.StringIO(text, newline=""), len(text), self.header)
        rows = islice(rows, self.skip, self.skip + self.rows)
        while taken := list(islice(rows, most)):
            yield Listed([split_row(row, self.completion) for _, row in taken])

    def sub(self, start: int, stop: int) -> Cells:
        return replace(self, skip=self.skip + start, rows=stop - start)


def cells_of(address: str, completion: str | None, limit: int | None) -> Iterator[Survey]:
    """Read the first `limit` rows of a file; yield its parts with the types of their columns.

    Raises:
        DataError: a row cannot be read.
        OSError: there is no such file.
    """
    size = size_of(address)
    most = part_bytes(size)
    header: tuple[str, ...] = ()
    start = number = 0
    kinds = Kinds()

    with opened(address) as file:
        lines = _Lines(file)

        def survey() -> Survey:
            return Survey(Cells(address, start, lines.bytes, header, completion, number), kinds, 0, lines.digest)

        for _, row in islice(csv_rows(address, lines, size), limit):
            kinds.add(split_row(row, completion))
            number += 1
            if lines.bytes - start >= most:
                yield survey()
                header, start, number, kinds = tuple(row), lines.bytes, 0, Kinds()
        if number:
            yield survey()


@final
class _Lines(Iterator[str]):
    """The lines of a file as text, for a reader of CSV.

    Attributes:
        bytes: how many bytes were read.
        digest: their checksum.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        self.bytes = self.digest = 0

    def __next__(self) -> str:
        line = next(self._text)
        data = line.encode()
        text = line if self.bytes else line.removeprefix("\ufeff")
        self.bytes += len(data)
        self.digest = zlib.crc32(data, self.digest)
        return text


@final
@dataclass(frozen=True)
class Lines(Part):
    """The rows of the lines that start in a range of bytes.

    Attributes:
        address: of the file.
        start, stop: the range.
        completion: the column of the completions, if it has another name.
        skip: the number of rows at the start that do not belong to the part.
        rows: the number of rows; -1 until the range was surveyed.
    """

    PLACE: ClassVar = "\0"
    """Takes the place of a line's number in a fault: only who knows all parts before can count lines."""

    address: str
    start: int
    stop: int
    completion: str | None = None
    skip: int = 0
    rows: int = -1

    def chunks(self, most: int, names: Sequence[str] | None = None) -> Iterator[Chunk]:
        filled = (line for line in self._lines() if not is_blank(line))
        lines = islice(filled, self.skip, None if self.rows < 0 else self.skip + self.rows)
        while raw := list(islice(lines, most)):
            rows = [parsed(line, self.address) for line in raw]
            listed = [split_row(row, self.completion) for row in rows]
            same = map(operator.is_, rows, listed)
            yield Listed(listed, [line if kept else b"" for line, kept in zip(raw, same, strict=True)])

    def sub(self, start: int, stop: int) -> Lines:
        return replace(self, skip=self.skip + start, rows=stop - start)

    def surveyed(self, limit: int | None) -> Survey:
        """Look through the first `limit` rows."""
        kinds, rows, number = Kinds(), 0, 0
        lines = list(self._lines())
        digest = functools.reduce(lambda digest, line: zlib.crc32(line, digest), lines, 0)
        for number, line in enumerate(lines, start=1):
            if rows == limit:
                break
            if is_blank(line):
                continue
            rows += 1
            try:
                row = checked_row(self.PLACE, parsed(line, self.PLACE))
            except DataError as error:
                return Survey(replace(self, rows=rows), kinds, number, digest, str(error), number)
            kinds.add(split_row(row, self.completion))
        return Survey(replace(self, rows=rows), kinds, number, digest)

    def _lines(self) -> Iterator[bytes]:
        """Return the lines without their ends."""
        with opened(self.address) as file:
            if self.start:
                file.seek(self.start - 1)
                before = file.readline()  # the rest of a line that starts before the range
                at = self.start - 1 + len(before)
            else:
                at = 0
            if at >= self.stop:
                return iter(())
            data = file.read(self.stop - at)
            if not data.endswith(b"\n"):
                data += file.readline()
        if not self.start:
            data = data.removeprefix(BYTE_ORDER_MARK)
        lines = data.split(b"\n")
        return iter(lines if lines[-1] else lines[:-1])


def lines_of(address: str, completion: str | None) -> Iterator[Lines]:
    """Yield the ranges of a file."""
    size = size_of(address)
    most = part_bytes(size)
    for start in range(0, size, most):
        yield Lines(address, start, min(start + most, size), completion)
