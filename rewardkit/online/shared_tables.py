"""One table of columns for several calls with the same lists: the first call computes it, the others read it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from rewardkit.core.batch.column import Floats

Table = Mapping[str, Floats]
"""The columns of a batch by name, (n,) each, as the trainer gets them."""

MAX_ENTRIES = 64
"""The number of batches kept at a time; several threads may score several groups."""


class Call(Protocol):
    """One call of a trainer."""

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed; they live as long as the call."""


C = TypeVar("C", bound=Call)


@dataclass
class _Entry(Generic[C]):
    call: C
    table: Future[Table] = field(default_factory=Future)
    readers: set[str] = field(default_factory=set)


class SharedTables(Generic[C]):
    """The tables of the batches being scored, each kept until all readers have read it. Thread-safe.

    Args:
        readers: the number of readers, one for each reward function of the list.
    """

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._entries: dict[tuple[int, ...], _Entry[C]] = {}
        self._lock = threading.Lock()

    def get(self, reader: str, call: C, compute: Callable[[C], Table]) -> Table:
        """Return the table of `call`; it is computed again if the same reader asks a second time."""
        entry, first = self._entry(reader, call)
        if first:
            try:
                entry.table.set_result(compute(call))
            except BaseException as error:
                entry.table.set_exception(error)
                with self._lock:
                    if self._entries.get(call.identity) is entry:
                        del self._entries[call.identity]
        return entry.table.result()

    def _entry(self, reader: str, call: C) -> tuple[_Entry[C], bool]:
        key = call.identity
        with self._lock:
            entry = self._entries.get(key)
            first = entry is None or reader in entry.readers
            if entry is None or first:
                entry = self._entries[key] = _Entry(call)
                while len(self._entries) > MAX_ENTRIES:
                    self._entries.pop(next(iter(self._entries)))
            entry.readers.add(reader)
            if len(entry.readers) >= self._readers and self._entries.get(key) is entry:
                del self._entries[key]
            return entry, first
