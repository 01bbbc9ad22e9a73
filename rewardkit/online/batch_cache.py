"""One table of columns for all reward functions of a batch: the first call computes it, the others read it.

A trainer may pass each function the same lists, or new lists with equal contents. Each function is called once for each
batch, so a second call of the same function is another batch, even if its contents are equal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from rewardkit.batch.column import Floats

Table = Mapping[str, Floats]
"""The columns of a batch by name, (n,) each, as they are passed to the trainer."""

MAX_ENTRIES = 64
"""The maximum number of batches in the cache; several threads may score several groups. Arbitrary: an entry holds the
scores of a batch, and nearly all are read right away."""


class Call(Protocol):
    """One call of a reward function by a trainer."""

    @property
    def identity(self) -> tuple[int, ...]:
        """The ids of the objects that the trainer passed; they live as long as the call."""

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
    """A cache of the tables of the current batches; a table is kept until all readers have read it. Thread-safe.

    Args:
        readers: the number of readers, one for each reward function in the trainer's list.
    """

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._entries: dict[tuple[int, ...], _Entry[C]] = {}
        self._lock = threading.Lock()

    def get(self, reader: str, call: C, compute: Callable[[C], Table]) -> Table:
        """Return the table of the batch of `call`. A second call by the same reader is a new batch."""
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
        """Return the entry of the batch of `call`, and whether this call has to compute its table."""
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
