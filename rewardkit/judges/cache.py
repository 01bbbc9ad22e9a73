"""What judges said before, in one SQLite file: ``rk.judge(..., cache="judged.sqlite")`` asks for nothing twice.

All ranks of a machine and all later runs share the file, written at once, so that what was paid for survives a kill.
``rk.Cache("judged.sqlite", replay=True)`` replays a run without a single call.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from rewardkit.core.errors import RewardFailure
from rewardkit.judges.shared_file import checked_path, shared

FORMAT = 1
"""Of what is kept and of what its keys are made; another number finds nothing of the old."""

_AT_ONCE = 500  # keys in one query
_NAME = f"verdicts_{FORMAT}"
_TABLE = f"{_NAME} (key TEXT PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID"

_log = logging.getLogger("rewardkit.judges")


@final
@dataclass(frozen=True)
class Cache:
    """Verdicts by key, in the SQLite file `path`: ``rk.Cache("judged.sqlite")``.

    The file is made where there is none. Processes of one machine may share it; a network file system will not do. One
    that stays locked for 5 s, or is full, costs calls but no sample: it warns and goes on, without waiting again.

    Attributes:
        path: of the file; ``~`` is the home directory.
        replay: never call a judge, and only read the file: what is not kept fails, and says so.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: a path that is none.
    """

    path: str
    replay: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", checked_path(self.path, "rk.Cache: path"))

    def get(self, key: str) -> str | None:
        """What was kept under `key`; None: nothing."""
        return self.many([key]).get(key)

    def many(self, keys: Sequence[str]) -> dict[str, str]:
        """What was kept of `keys`.

        Raises:
            RunStopped: the file cannot be opened.
            RewardFailure: ``replay``, and it cannot be read.
        """
        found: dict[str, str] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            query = f"SELECT key, text FROM {_NAME} WHERE key IN ({','.join('?' * len(some))})"
            for key, kept in self._tried(query, some):
                try:
                    found[key] = kept.decode(errors="surrogatepass")
                except (AttributeError, UnicodeDecodeError):  # another program wrote it
                    self.forget(key)
        return found

    def put(self, key: str, text: str) -> None:
        """Keeps `text` under `key`; what another process kept there first stays.

        Raises:
            RunStopped: the file cannot be opened.
        """
        if not self.replay:
            self._tried(f"INSERT OR IGNORE INTO {_NAME} VALUES (?, ?)", (key, text.encode(errors="surrogatepass")))

    def forget(self, key: str) -> None:
        """Makes room under `key`, where what was kept is no verdict any more."""
        if not self.replay:
            self._tried(f"DELETE FROM {_NAME} WHERE key = ?", (key,))

    def missed(self, key: str) -> str:
        """What to say where a replay finds nothing under `key`."""
        return (
            f"replay: {self.path} holds no verdict for this request (key {key[:16]}); the completion, the rubric, the "
            "model or a setting differs from the run that filled it. Without replay=True the judge is called"
        )

    def _tried(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        import apsw

        file = shared(self.path, _TABLE, replay=self.replay)
        try:
            return file.rows(statement, values)
        except apsw.Error as error:
            if self.replay:
                raise RewardFailure(f"the judge's cache {self.path} cannot be read: {error}") from error
            if not file.warned:
                file.warned = True
                _log.warning("the judge's cache %s cannot be used now, calls are made instead: %s", self.path, error)
            return []


def key_of(**parts: object) -> str:
    """SHA-256 over the names and values of `parts`, in JSON: whatever changes a verdict belongs among them."""
    said = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{FORMAT} {said}".encode()).hexdigest()
