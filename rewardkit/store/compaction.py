"""Compaction: joins the parts of many batches, so that a long run stays fast to read.

``Compaction(files, every=100)`` turns each hundred parts into one. Other processes may read at the same time: the wide
part of every table exists before the first narrow part is deleted.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit.store.parts import Files, decoded, encoded
from rewardkit.store.schema import COMMITTING, TABLES, Part, widest, within
from rewardkit.store.tables import concatenated

_BYTES = 128 << 20
"""Join earlier if the waiting batches take this many bytes in memory."""


class Compaction:
    """Joins the parts that one recorder writes."""

    def __init__(self, files: Files, every: int) -> None:
        self._files = files
        self._every = every
        self._parts: list[Part] = []
        self._size = 0

    def add(self, part: Part, size: int) -> None:
        """Note a new part, whose tables take `size` bytes in memory."""
        self._parts.append(part)
        self._size += size

    def join_if_full(self) -> None:
        """Join the waiting parts if there are enough of them."""
        if self._every and (len(self._parts) >= self._every or self._size >= _BYTES):
            self.join_all()

    def join_all(self) -> None:
        """Join all waiting parts."""
        parts, self._parts, self._size = self._parts, [], 0
        if self._every:
            join(self._files, parts)


def join(files: Files, parts: Sequence[Part]) -> None:
    """Join `parts` of one process into one part."""
    if len(parts) < 2:
        return
    wide = Part(parts[0].attempt, parts[0].rank, parts[0].first, parts[-1].last)
    for table in (*TABLES[1:], COMMITTING):
        found = [data for part in parts if (data := _data(files, table, part)) is not None]
        if found:
            rows = concatenated(decoded(data) for data in found)
            if table == "completions":
                rows = rows.sort_by([("prompt_id", "ascending"), ("part", "ascending"), ("row", "ascending")])
            files.put(f"{table}/{wide.name}", encoded(table, rows), durable=True)
    for table in (*TABLES[1:], COMMITTING):
        for part in parts:
            files.delete(f"{table}/{part.name}")


def _data(files: Files, table: str, part: Part) -> bytes | None:
    try:
        return files.get(f"{table}/{part.name}")
    except FileNotFoundError:
        return None


def clean_up(files: Files, attempt: int, rank: int, every: int) -> None:
    """Clean up after earlier attempts of this rank: remove partial and replaced files, join the remaining parts."""

    def mine(table: str) -> list[Part]:
        return [part for part in files.parts(table) if part.attempt < attempt and part.rank == rank]

    committed = widest(mine(COMMITTING))
    for table in TABLES:
        parts = mine(table)
        for part in set(parts) - set(within(parts, committed)):
            files.delete(f"{table}/{part.name}")
        for name in files.names(table):
            owner = Part.read(name[1:].rsplit(".", 2)[0])
            if name.endswith(".tmp") and owner is not None and owner.attempt < attempt and owner.rank == rank:
                files.delete(f"{table}/{name}")
    narrow = [part for part in committed if not part.wide]
    for earlier in sorted({part.attempt for part in narrow}) if every else ():
        compaction = Compaction(files, every)
        for part in (part for part in narrow if part.attempt == earlier):
            found = [data for table in TABLES if (data := _data(files, table, part)) is not None]
            compaction.add(part, sum(decoded(data).nbytes for data in found))
            compaction.join_if_full()
        compaction.join_all()
