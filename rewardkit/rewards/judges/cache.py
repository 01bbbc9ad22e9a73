"""A cache of verdicts in one SQLite file: ``rk.judge(..., cache="judged.sqlite")`` never asks the same thing twice.

All ranks of a machine and all later runs share the file. Verdicts are written immediately, so what you paid for is not
lost if a run is killed. ``rk.Cache("judged.sqlite", replay=True)`` replays a run without any call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from rewardkit.workers.shared_file import SqliteCache, checked_path

FORMAT = 1
"""The version of the entries and their keys; entries of another version are not found."""

_NAME = f"verdicts_{FORMAT}"


@final
@dataclass(frozen=True)
class Cache:
    """Verdicts by key, in the SQLite file `path`: ``rk.Cache("judged.sqlite")``.

    The file is created if it does not exist. Processes of one machine can share it, but it must not be on a network
    file system. If it stays locked for 5 s, or the disk is full, you get a warning and the judge is called instead.

    Attributes:
        path: the path of the file; ``~`` is the home directory.
        replay: True only reads the file and never calls a judge. A sample without a cached verdict fails.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: `path` is not a path.
    """

    path: str
    replay: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", checked_path(self.path, "rk.Cache: path", "judge"))

    def get(self, key: str) -> str | None:
        """Return the text saved under `key`, or None."""
        return self.many([key]).get(key)

    def many(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the saved texts by key; missing keys are left out.

        Raises:
            RunStopped: the file cannot be opened.
            RewardFailure: the file cannot be read, and ``replay`` is True.
        """
        return self._texts.many(keys)

    def put(self, key: str, text: str) -> None:
        """Save `text` under `key`, unless another process already saved one there.

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
        """Return the message for a replay that finds nothing under `key`."""
        return (
            f"replay: {self.path} has no verdict for this request (key {key[:16]}). The completion, the rubric, the "
            "model or a setting differs from the run that filled the cache. Drop replay=True to call the judge"
        )


def key_of(**parts: object) -> str:
    """Return the SHA-256 of `parts` as JSON. Everything that changes a verdict must be among them."""
    parts_json = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{FORMAT} {parts_json}".encode()).hexdigest()
