"""A cache of verdicts in an SQLite file: ``rk.judge(..., cache="judged.sqlite")`` never sends the same request twice.

All ranks on a machine and all later runs share the file. Verdicts are written immediately, so you keep every verdict
that you paid for, even if the run is killed. ``rk.Cache("judged.sqlite", replay=True)`` replays a run without calling a
judge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from rewardkit.workers.shared_file import SqliteCache, checked_path

FORMAT = 1
"""The version of the cache format. It is a part of every key, so entries written with another version are not found."""

_NAME = f"verdicts_{FORMAT}"


@final
@dataclass(frozen=True)
class Cache:
    """A cache of verdicts in an SQLite file: ``rk.Cache("judged.sqlite")``.

    The file is created if it does not exist. Processes on one machine can share it, but it must not be on a network
    file system. If the file stays locked for 5 seconds, or if the disk is full, you get a warning and the judge is
    called.

    Attributes:
        path: the path to the file. ``~`` is the home directory.
        replay: if True, the file is only read and the judge is never called. A sample without a cached verdict fails.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: `path` is not a path.
    """

    path: str
    replay: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", checked_path(self.path, "rk.Cache", "path", "judge"))

    def get(self, key: str) -> str | None:
        """Return the text saved under `key`; None if there is none."""
        return self.many([key]).get(key)

    def many(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the saved texts by key, without missing keys.

        Raises:
            RunStopped: the file cannot be opened.
            RewardFailure: the file cannot be read, and ``replay`` is True.
        """
        return self._texts.many(keys)

    def put(self, key: str, text: str) -> None:
        """Save `text` under `key`, unless another process has already saved a text there.

        Raises:
            RunStopped: the file cannot be opened.
        """
        self._texts.put({key: text})

    def forget(self, key: str) -> None:
        """Delete the text under `key`, which is no longer a valid verdict."""
        self._texts.forget(key)

    @property
    def _texts(self) -> SqliteCache:
        return SqliteCache(self.path, _NAME, "the judge", self.replay)

    def missed(self, key: str) -> str:
        """Return the error message for a replay that finds no verdict under `key`."""
        return (
            f"replay: {self.path} has no verdict for this request (key {key[:16]}). The completion, the rubric, "
            "the model, or a setting differs from the run that filled the cache. Drop replay=True to call the judge"
        )


def key_of(**parts: object) -> str:
    """Return the SHA-256 digest of `parts` as JSON. Pass everything that can change a verdict."""
    parts_json = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{FORMAT} {parts_json}".encode()).hexdigest()
