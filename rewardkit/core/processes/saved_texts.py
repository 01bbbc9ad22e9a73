"""Texts by key in an SQLite file that processes share: ``SavedTexts("judged.sqlite", "verdicts_1", "the judge")``.

What it saves saves calls, so it is never the reason for a failed sample: while the file is locked or the disk is full,
you get a warning, nothing is found, and nothing is saved.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

from rewardkit.core.errors import RewardFailure
from rewardkit.core.processes.shared_file import shared

_AT_ONCE = 500
"""Keys or texts in one statement."""

_log = logging.getLogger("rewardkit.caches")


@final
@dataclass(frozen=True)
class SavedTexts:
    """Texts by key in one table of the SQLite file `path`.

    Attributes:
        path: an absolute path.
        name: the name of the table. It contains the version of keys and texts; those of another one are not found.
        caller: what is called if a text is not found: "the judge". For messages.
        replay: only read the file, which must exist.
    """

    path: str
    name: str
    caller: str
    replay: bool = False

    def many(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the saved texts by key; missing keys are left out.

        Raises:
            RunStopped: the file cannot be opened.
            RewardFailure: the file cannot be read, and ``replay`` is True.
        """
        found: dict[str, str] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            query = f"SELECT key, text FROM {self.name} WHERE key IN ({','.join('?' * len(some))})"
            for key, kept in self._tried(query, some):
                try:
                    found[key] = kept.decode(errors="surrogatepass")
                except (AttributeError, UnicodeDecodeError):  # another program wrote it
                    self.forget(key)
        return found

    def put(self, texts: Mapping[str, str]) -> None:
        """Save texts under their keys, except where another process already saved one.

        Raises:
            RunStopped: the file cannot be opened.
        """
        left = iter(texts.items())
        while not self.replay and (some := list(islice(left, _AT_ONCE))):
            values = [part for key, text in some for part in (key, text.encode(errors="surrogatepass"))]
            self._tried(f"INSERT OR IGNORE INTO {self.name} VALUES {','.join(['(?, ?)'] * len(some))}", values)

    def forget(self, key: str) -> None:
        """Delete the text under `key`, which is no longer valid."""
        if not self.replay:
            self._tried(f"DELETE FROM {self.name} WHERE key = ?", (key,))

    def _tried(self, statement: str, values: Iterable[object]) -> list[tuple[Any, ...]]:
        import apsw

        table = f"{self.name} (key TEXT PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID"
        file = shared(self.path, table, replay=self.replay)
        try:
            return file.rows(statement, list(values))
        except apsw.Error as error:
            if self.replay:
                raise RewardFailure(f"the cache {self.path} of {self.caller} cannot be read: {error}") from error
            if not file.warned:
                file.warned = True
                _log.warning(
                    "the cache %s of %s cannot be used now, so %s is called instead: %s",
                    *(self.path, self.caller, self.caller, error),
                )
            return []
