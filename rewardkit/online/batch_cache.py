"""A table of columns that all reward functions share in a batch: the first call computes it, and the others read it.

A trainer may pass the same lists to each function, or new lists with equal contents. Each function is called once per
batch, so a second call of the same function belongs to another batch, even if the contents are equal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from rewardkit.batch.column import Floats

Table = Mapping[str, Floats]
"""A batch's columns by name, (n,) each, as they are passed to the trainer."""

MAX_ENTRIES = 64
"""The maximum number of batches in the cache, because several threads may score several groups. The limit is arbitrary:
an entry contains a batch's scores, and nearly all entries are read immediately."""


class Call(Protocol):
    """One call of a reward function by a trainer."""

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed, which exist as long as the call."""

    def equals(self, other: Any, /) -> bool:
        """Return whether `other` has equal contents and may belong to the same batch."""


C = TypeVar("C", bound=Call)


@dataclass
class _Entry(Generic[C]):
    call: C
    key: tuple[int, ...]
    table: Future[Table] = field(default_factory=Future)
    readers: set[str] = field(default_factory=set)


class BatchCache(Generic[C]):
    """A thread-safe cache of the current batches' tables. A table is kept until all readers have read it.

    Args:
        readers: the number of readers: one for each reward function in the trainer's list.
    """

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._entries: dict[tuple[int, ...], _Entry[C]] = {}
        self._lock = threading.Lock()

    def get(self, reader: str, call: C, compute: Callable[[C], Table]) -> Table:
        """Return the table for the batch of `call`. A second call by the same reader is a new batch."""
        entry, first = self._entry(reader, call)
        if first:
            try:
                entry.table.set_result(compute(call))
            except BaseException as error:
                entry.table.set_exception(error)
                with self._lock:
                    self._forget(entry)
        return entry.table.result()

    def _entry(self, reader: str, call: C) -> tuple[_Entry[C], bool]:
        """Return the entry for the batch of `call`, and whether this call must compute the table."""
        key = call.identity
        with self._lock:
            # The entry with the same lists, or else the newest one with equal contents.
            waiting = self._entries.get(key)
            if waiting is None:
                unread = (entry for entry in reversed(self._entries.values()) if reader not in entry.readers)
                waiting = next((entry for entry in unread if entry.call.equals(call)), None)
            elif reader in waiting.readers:
                waiting = None
            entry = waiting or _Entry(call, key)
            if waiting is None:
                self._entries[key] = entry
                while len(self._entries) > MAX_ENTRIES:
                    self._entries.pop(next(iter(self._entries)))
            entry.readers.add(reader)
            if len(entry.readers) >= self._readers:
                self._forget(entry)
            return entry, waiting is None

    def _forget(self, entry: _Entry[C]) -> None:
        if self._entries.get(entry.key) is entry:
            del self._entries[entry.key]


def equal(value: Any, other: Any) -> bool:
    """Return whether two arguments are equal; False if they cannot be compared, such as lists of arrays."""
    try:
        return value is other or bool(value == other)
    except Exception:
        return False
