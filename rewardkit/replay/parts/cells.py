"""Cells: the rows of a range of bytes of a .csv file.

A quoted cell may hold line breaks, so only a reader that began at the start knows where rows end: `cells_of` reads a
file once, and cuts it between rows. Each part is then read by itself.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, final

from rewardkit.data.addresses import opened, size_of
from rewardkit.data.conversations import split_row
from rewardkit.data.files import csv_rows
from rewardkit.replay.chunks import Chunk, Listed
from rewardkit.replay.parts.part import Part
from rewardkit.replay.parts.survey import Kinds, Survey, part_bytes


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
