"""One computation behind several calls with the very same lists: the first call computes, the others read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from rewardkit.core.batch.table import ScoreTable

MAX_ENTRIES = 64
"""Batches held at once: several groups may be in flight in several threads."""


@dataclass(frozen=True)
class TrainerCall:
    """The arguments of one call by the trainer."""

    completions: list[Any]
    prompts: Any
    completion_ids: Any
    columns: Mapping[str, Any]
    context: Mapping[str, Any]

    @property
    def identity(self) -> tuple[int, ...]:
        """Which very objects it was made with; they live as long as the call does."""
        return (id(self.completions), id(self.prompts), *map(id, self.columns.values()))


@dataclass
class _Entry:
    call: TrainerCall
    table: Future[ScoreTable] = field(default_factory=Future)
    readers: set[str] = field(default_factory=set)


class SharedTables:
    """The tables of the batches in flight, each kept until all its readers have read it. Safe between threads.

    Args:
        readers: how many different readers there are.
    """

    def __init__(self, readers: int) -> None:
        self._readers = readers
        self._entries: dict[tuple[int, ...], _Entry] = {}
        self._lock = threading.Lock()

    def get(self, reader: str, call: TrainerCall, compute: Callable[[TrainerCall], ScoreTable]) -> ScoreTable:
        """The table of `call`; one that is read a second time by the same reader is computed anew."""
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

    def _entry(self, reader: str, call: TrainerCall) -> tuple[_Entry, bool]:
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
