"""An SQLite file that the ranks of a machine share: ``shared(path, table)`` opens it once per process."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, final

from rewardkit.core.errors import MissingExtraError, RewardDefinitionError, RunStopped, shorten

PATIENCE = 5_000
"""Milliseconds to wait while another process writes."""

IN_MEMORY = ":memory:"


_APPLICATION = 0x5265774B
"""Tells a file of ours from those of other programs."""


@final
class SharedFile:
    """The connection of this process to one file; threads take turns."""

    def __init__(self, path: str, table: str, *, replay: bool = False) -> None:
        import apsw

        self.warned = False
        self._lock = threading.Lock()
        self._patience = PATIENCE
        try:
            self._connection: Any = _to_read(path) if replay else _to_write(path, table)
        except (apsw.Error, OSError) as error:
            missing = replay and not os.path.exists(path)
            advice = "There is nothing to replay: name the file of a run" if missing else "Name another file"
            raise RunStopped(f"{path} cannot be opened: {error}. {advice}") from error

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


def _to_write(path: str, table: str) -> Any:
    """A connection to a file, made where there is none, with the table in it."""
    import apsw
    from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random

    if path != IN_MEMORY:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    connection = apsw.Connection(path)
    connection.set_busy_timeout(PATIENCE)

    def prepare() -> None:
        if not _application(connection):
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer
        connection.execute("PRAGMA synchronous = NORMAL")  # survives a kill, if not a power cut
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    # SQLite itself does not wait where several processes turn a new file to WAL at one time.
    persistently = Retrying(
        retry=retry_if_exception_type(apsw.BusyError),
        stop=stop_after_delay(PATIENCE / 1000),
        wait=wait_random(0.0, 0.05),
        reraise=True,
    )
    persistently(prepare)
    return connection


def _to_read(path: str) -> Any:
    """A connection that writes nothing, neither to the file nor beside it where that is not allowed."""
    import apsw

    # SQLite cannot make its file of locks in a folder that only lets itself be read, and has no need of it.
    still = not os.access(os.path.dirname(path), os.W_OK) and not os.path.exists(f"{path}-wal")
    fixed = "&immutable=1" if still else ""
    connection = apsw.Connection(
        f"{Path(path).as_uri()}?mode=ro{fixed}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    connection.set_busy_timeout(PATIENCE)
    _application(connection)
    return connection


def _application(connection: Any) -> int:
    """Who made the file, 0 for a new one; raises an OSError for the file of another program."""
    # In this order: whoever makes a file at this moment says who it is before there are tables.
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    [(application,)] = connection.execute("PRAGMA application_id")
    if application != _APPLICATION and (application or tables):
        raise OSError(f"it belongs to another program, and holds {shorten(', '.join(tables), 80)}")
    return int(application)


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


def shared(path: str, table: str, *, replay: bool = False) -> SharedFile:
    """The connection of this process to `path`, with the `table` in it: its name and columns.

    Args:
        replay: it is only read, and has to be there.

    Raises:
        RunStopped: the file cannot be opened.
    """
    with _opening:
        return _opened(path, table, replay, os.getpid())


@cache
def _opened(path: str, table: str, replay: bool, process: int) -> SharedFile:
    """One connection per process: SQLite's must not go through a fork."""
    return SharedFile(path, table, replay=replay)
