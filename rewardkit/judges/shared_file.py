"""An SQLite file that the ranks of a machine share: ``shared(path, table)`` opens it once per process."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, final

from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, RunStopped

PATIENCE = 5_000
"""Milliseconds to wait while another process writes."""

IN_MEMORY = ":memory:"


@final
class SharedFile:
    """The connection of this process to one file; threads take turns."""

    def __init__(self, path: str, table: str) -> None:
        import apsw
        from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

        self.warned = False
        self._lock = threading.Lock()
        self._patience = PATIENCE
        try:
            if path != IN_MEMORY:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            self._connection: Any = apsw.Connection(path)
            self._connection.set_busy_timeout(PATIENCE)
            # SQLite itself does not wait where several processes turn a new file to WAL at one time.
            persistently = Retrying(
                retry=retry_if_exception_type(apsw.BusyError),
                stop=stop_after_delay(PATIENCE / 1000),
                wait=wait_random(0.0, 0.05),
                reraise=True,
            )
            persistently(self._prepare, table)
        except (apsw.Error, OSError) as error:
            raise RunStopped(
                f"{path} cannot be opened: {error}. Name another file, or remove this one if it was not made by "
                "rewardkit"
            ) from error

    def _prepare(self, table: str) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer
        self._connection.execute("PRAGMA synchronous = NORMAL")  # survives a kill, if not a power cut
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What one statement gives; it is written before this returns.

        Raises:
            apsw.Error: it cannot be done. A file that was locked for too long is not waited for again until it is free.
        """
        import apsw

        with self._lock:
            try:
                found = list(self._connection.execute(statement, values))
            except apsw.BusyError:
                self._wait(0)
                raise
            if not statement.startswith("SELECT"):  # readers never wait, so they do not know
                self._wait(PATIENCE)
            return found

    def _wait(self, milliseconds: int) -> None:
        if milliseconds != self._patience:
            self._patience = milliseconds
            self._connection.set_busy_timeout(milliseconds)


def checked_path(path: object, whose: str) -> str:
    """`path` as an absolute one.

    Raises:
        MissingExtraError: the extra ``judge`` is not installed.
        RewardDefinitionError: no path, or an empty one.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise RewardDefinitionError(f"{whose} is the name of a file, got {path!r}")
    require_apsw(whose)
    return os.path.abspath(os.path.expanduser(os.fspath(path)))


def require_apsw(whose: str) -> None:
    try:
        import apsw  # noqa: F401
    except ImportError:
        raise MissingExtraError.of(whose, "judge") from None


_opening = threading.Lock()


def shared(path: str, table: str) -> SharedFile:
    """The connection of this process to `path`, with the `table` in it: its name and columns.

    Raises:
        RunStopped: the file cannot be opened.
    """
    with _opening:
        return _opened(path, table, os.getpid())


@cache
def _opened(path: str, table: str, process: int) -> SharedFile:
    """One connection per process: SQLite's must not go through a fork."""
    return SharedFile(path, table)
