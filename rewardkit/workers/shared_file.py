"""An SQLite file that all ranks on a machine share: ``shared(path, table)`` opens it once per process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, final

from rewardkit.errors import MissingExtraError, RewardDefinitionError, RewardFailure, RunStopped, shorten

PATIENCE = 5_000
"""The milliseconds to wait while another process writes. The value is arbitrary: a write takes milliseconds."""

IN_MEMORY = ":memory:"

_APPLICATION = 0x5265774B
"""The SQLite application id that identifies rewardkit's files."""


@final
class SharedFile:
    """This process's thread-safe connection to one file. Threads take turns."""

    def __init__(self, path: str, table: str, *, replay: bool = False) -> None:
        import apsw

        self.warned = False
        self._lock = threading.Lock()
        self._patience = PATIENCE
        try:
            self._connection: Any = _to_read(path) if replay else _to_write(path, table)
        except (apsw.Error, OSError) as error:
            missing = replay and not os.path.exists(path)
            advice = "There is nothing to replay: pass the file from an earlier run" if missing else "Pass another file"
            raise RunStopped(f"{path} cannot be opened: {error}. {advice}") from error

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows. Changes are written before this method returns.

        Raises:
            apsw.Error: the statement failed. If the file was locked for too long, later calls fail immediately while it
                remains locked.
        """
        import apsw

        with self._lock:
            try:
                result_rows = list(self._connection.execute(statement, values))
            except apsw.BusyError:
                self._wait(0)
                raise
            if not statement.startswith("SELECT"):  # reads never wait, so they do not show that the file is free
                self._wait(PATIENCE)
            return result_rows

    def _wait(self, milliseconds: int) -> None:
        if milliseconds != self._patience:
            self._patience = milliseconds
            self._connection.set_busy_timeout(milliseconds)


def _to_write(path: str, table: str) -> Any:
    """Open a file for writing; create the file and its table if they are missing."""
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
        connection.execute("PRAGMA synchronous = NORMAL")  # survives a kill, but not always a power cut
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    # SQLite itself does not wait if several processes switch a new file to WAL at the same time.
    persistently = Retrying(
        retry=retry_if_exception_type(apsw.BusyError),
        stop=stop_after_delay(PATIENCE / 1000),
        wait=wait_random(0.0, 0.05),
        reraise=True,
    )
    persistently(prepare)
    return connection


def _to_read(path: str) -> Any:
    """Open a file for reading; if its folder is read-only, do not create files next to it."""
    import apsw

    # SQLite cannot create its lock file in a read-only folder, and does not need it there.
    is_immutable = not os.access(os.path.dirname(path), os.W_OK) and not os.path.exists(f"{path}-wal")
    suffix = "&immutable=1" if is_immutable else ""
    connection = apsw.Connection(
        f"{Path(path).as_uri()}?mode=ro{suffix}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    connection.set_busy_timeout(PATIENCE)
    _application(connection)
    return connection


def _application(connection: Any) -> int:
    """Return the file's application id, or 0 for a new file; raise OSError if another program created the file."""
    # Read the tables before the id: a process that is creating the file right now sets the id before the tables.
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    [(application,)] = connection.execute("PRAGMA application_id")
    if application != _APPLICATION and (application or tables):
        raise OSError(f"it belongs to another program, whose tables are {shorten(', '.join(tables), 80)}")
    return int(application)


def checked_path(path: object, caller: str, option: str, extra: str) -> str:
    """Return `path`, the value of the caller's `option`, as an absolute path.

    Raises:
        MissingExtraError: the extra named `extra`, which includes apsw, is not installed.
        RewardDefinitionError: `path` is not a path or is empty.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise RewardDefinitionError(f"{caller}: {option} must be the path of a file, got {path!r}")
    require_apsw(caller, extra)
    return os.path.abspath(os.path.expanduser(os.fspath(path)))


def require_apsw(caller: str, extra: str) -> None:
    try:
        import apsw  # noqa: F401
    except ImportError:
        raise MissingExtraError.of(caller, extra) from None


_opening = threading.Lock()


def shared(path: str, table: str, *, replay: bool = False) -> SharedFile:
    """Return this process's connection to the file `path`.

    Args:
        path: the file's path, or `IN_MEMORY`.
        table: the table's name and columns, as in ``CREATE TABLE``.
        replay: whether to open the file read-only, in which case it must exist.

    Raises:
        RunStopped: the file cannot be opened.
    """
    with _opening:
        return _opened(path, table, replay, os.getpid())


@cache
def _opened(path: str, table: str, replay: bool, process: int) -> SharedFile:
    # One connection per process: an SQLite connection must not be used after a fork.
    return SharedFile(path, table, replay=replay)


# A cache of texts in an SQLite file that processes share: ``SqliteCache("judged.sqlite", "verdicts_1", "the judge")``.


_AT_ONCE = 500
"""The maximum number of keys or texts per statement, because older SQLite versions limit a statement to 999
parameters."""

_log = logging.getLogger("rewardkit.caches")


@final
@dataclass(frozen=True)
class SqliteCache:
    """A cache that maps keys to texts, stored in one table of the SQLite file `path`.

    Attributes:
        path: an absolute path.
        name: the table's name. It contains the version of the keys and texts, so entries with other versions are never
            read.
        caller: the source of texts that are not in the cache, for messages: "the judge".
        replay: whether to open the file read-only, in which case it must exist.
    """

    path: str
    name: str
    caller: str
    replay: bool = False

    def many(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the saved texts for `keys`, by key; missing keys are omitted.

        Raises:
            RunStopped: the file cannot be opened.
            RewardFailure: the file cannot be read, and ``replay`` is True.
        """
        texts: dict[str, str] = {}
        for start in range(0, len(keys), _AT_ONCE):
            chunk = keys[start : start + _AT_ONCE]
            query = f"SELECT key, text FROM {self.name} WHERE key IN ({','.join('?' * len(chunk))})"
            for key, blob in self._execute(query, chunk):
                try:
                    texts[key] = blob.decode(errors="surrogatepass")
                except (AttributeError, UnicodeDecodeError):  # another program wrote it
                    self.forget(key)
        return texts

    def put(self, texts: Mapping[str, str]) -> None:
        """Save each text under its key, unless another process has already saved a text under the key.

        Raises:
            RunStopped: the file cannot be opened.
        """
        remaining = iter(texts.items())
        while not self.replay and (chunk := list(islice(remaining, _AT_ONCE))):
            values = [part for key, text in chunk for part in (key, text.encode(errors="surrogatepass"))]
            self._execute(f"INSERT OR IGNORE INTO {self.name} VALUES {','.join(['(?, ?)'] * len(chunk))}", values)

    def forget(self, key: str) -> None:
        """Delete the text under `key`, which is no longer valid."""
        if not self.replay:
            self._execute(f"DELETE FROM {self.name} WHERE key = ?", (key,))

    def _execute(self, statement: str, values: Iterable[object]) -> list[tuple[Any, ...]]:
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
