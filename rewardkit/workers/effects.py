"""Effects of the user's functions outside their process: files, network connections, and programs.

``start(Watch(folder, network=False))`` records effects from then on in this process and in its workers. In the watched
folder, a file is copied before it is changed, because the folder contains links to the user's files.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

_VARIABLE = "REWARDKIT_WATCH"
"""The environment variable that tells workers what to watch."""
LOG = ".rewardkit-effects"
"""The name of the file to which all watched processes append their effects."""
_MOST = 1_000
"""The maximum number of effects to record in one process. Arbitrary: a report names only a few."""
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOCAL = ("", "localhost", "::", "::1", "0.0.0.0", "*")
# Between the code that has an effect and the audit hook.
_LIBRARY = ("subprocess", "os", "shutil", "pathlib", "tempfile", "io", "contextlib", "codecs", "asyncio", "threading")

REFUSED = "The check refuses network connections. To allow them, pass network=True or --network"


@dataclass(frozen=True)
class Watch:
    """Settings for watching effects.

    Attributes:
        folder: the folder in which effects are not recorded, because it is temporary. The records are in its file
            `LOG`.
        network: whether to allow connections to other machines.
    """

    folder: str
    network: bool

    @property
    def log(self) -> str:
        """The file to which all watched processes append their effects."""
        return os.path.join(self.folder, LOG)


class Effect(NamedTuple):
    """An effect on something outside the watched folder.

    Attributes:
        kind: ``"file"``, ``"network"``, or ``"program"``.
        name: the file's path, the address ``host:port``, or the program.
        before: for a file, its size and modification time before the effect, or None if it did not exist.
    """

    kind: str
    name: str
    before: tuple[int, int] | None = None


class _State(threading.local):
    """Whether this thread runs the audit hook, whose own effects are not recorded."""

    busy = False


_state = _State()
_copying = threading.Lock()
_recorded: set[tuple[str, str]] = set()
_watch: list[Watch] = []
"""The current watch, or nothing. Audit hooks cannot be removed, so the hook does nothing without a watch."""
_hooked: list[int] = []


def start(watch: Watch) -> None:
    """Watch the effects of this process, and of the workers that it starts, until `stop`."""
    _watch[:] = [watch]
    _recorded.clear()
    os.environ[_VARIABLE] = json.dumps([watch.folder, watch.network])
    if not _hooked:
        _hooked.append(os.getpid())
        sys.addaudithook(_hook)


def start_in_worker() -> None:
    """Watch this process if the process that started it is watched."""
    if _VARIABLE in os.environ:
        start(Watch(*json.loads(os.environ[_VARIABLE])))


def stop() -> None:
    """End the watch."""
    _watch.clear()
    os.environ.pop(_VARIABLE, None)


def effects_of(watch: Watch) -> list[Effect]:
    """Return the distinct effects that all processes have recorded, in order."""
    effects: dict[tuple[str, str], Effect] = {}
    with suppress(OSError), open(watch.log, encoding="utf-8") as file:
        for line in file:
            with suppress(ValueError, TypeError):  # a process was killed while it wrote the line
                kind, name, before = json.loads(line)
                effects.setdefault((kind, name), Effect(kind, name, None if before is None else tuple(before)))
    return list(effects.values())


def state_of(path: str) -> tuple[int, int] | None:
    """Return a file's size and modification time, or None if there is no such file."""
    with suppress(OSError, ValueError):
        status = os.stat(path)
        return status.st_size, status.st_mtime_ns
    return None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    handler = _HANDLERS.get(event)
    if handler is None or not _watch or _state.busy:
        return
    _state.busy = True
    try:
        handler(_watch[0], *arguments)
    finally:
        _state.busy = False


def _record(watch: Watch, kind: str, name: str, before: tuple[int, int] | None = None) -> None:
    if (kind, name) in _recorded or len(_recorded) == _MOST:
        return
    _recorded.add((kind, name))
    with suppress(OSError):  # the folder may be deleted before the last worker ends
        descriptor = os.open(watch.log, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, f"{json.dumps([kind, name, before])}\n".encode())
        finally:
            os.close(descriptor)


def _is_ours() -> bool:
    """Return whether rewardkit, and not the user's function, called the standard library."""
    frame = sys._getframe(2)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module != __name__ and module.partition(".")[0] not in _LIBRARY:
            return module.partition(".")[0] in ("rewardkit", "hypothesis")
        frame = frame.f_back  # type: ignore[assignment]
    return False


# Files.


def _opened(watch: Watch, path: Any, mode: Any, flags: int) -> None:
    if flags & _WRITES and not isinstance(path, int):
        _change(watch, path, keeps_content=not flags & os.O_TRUNC)


def _removed(watch: Watch, path: Any, folder: int = -1, *_: Any) -> None:
    _change(watch, path, folder, keeps_content=False)


def _renamed(watch: Watch, path: Any, target: Any, folder: int = -1, target_folder: int = -1) -> None:
    _change(watch, path, folder)
    _change(watch, target, target_folder, keeps_content=False)


def _linked(watch: Watch, path: Any, target: Any, *_: Any) -> None:
    _change(watch, target, keeps_content=False)


def _truncated(watch: Watch, path: Any, length: int) -> None:
    if not isinstance(path, int):
        _change(watch, path)


def _made(watch: Watch, path: Any, mode: int, folder: int = -1) -> None:
    full = _full_path(path, folder)
    if _is_in(full, watch.folder):
        _detach(watch.folder, full, copies=False)


def _emptied(watch: Watch, path: Any, *_: Any) -> None:
    _change(watch, path)


def _connected_database(watch: Watch, database: Any) -> None:
    path = os.fsdecode(database) if isinstance(database, (str, bytes, os.PathLike)) else ""
    if path.startswith("file:"):
        path, _, options = path.removeprefix("file:").partition("?")
        path = "" if "mode=ro" in options or "mode=memory" in options else path
    for suffix in ("", "-wal", "-shm", "-journal") if path and path != ":memory:" else ():
        _change(watch, path + suffix)


def _change(watch: Watch, path: Any, folder: int = -1, *, keeps_content: bool = True) -> None:
    """Record that a file is about to change, or, in the watched folder, replace its link by a copy."""
    full = _full_path(path, folder)
    if _is_in(full, watch.folder):
        _detach(watch.folder, full, copies=keeps_content)
    # The last two are caches of Python and of the check.
    elif not re.search(r"^/(?:dev|proc|sys)/|/__pycache__/|/rewardkit-hypothesis/", full) and not _is_ours():
        _record(watch, "file", full, state_of(full))


def _full_path(path: Any, folder: int) -> str:
    name = os.fsdecode(path)
    if folder >= 0 and not os.path.isabs(name):
        with suppress(OSError):
            name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    return os.path.abspath(name)


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)


def _detach(folder: str, path: str, *, copies: bool) -> None:
    """Replace the links in a path below `folder`: a linked folder by links to its files, a linked file by its copy."""
    with _copying:
        current = folder
        *parents, last = os.path.relpath(path, folder).split(os.sep)
        for name in parents:
            current = os.path.join(current, name)
            if os.path.islink(current):
                _unlink_folder(current)
        current = os.path.join(current, last)
        if not os.path.islink(current):
            return
        target = os.path.realpath(current)
        if os.path.isdir(target):
            _unlink_folder(current)
            return
        os.unlink(current)
        if copies and os.path.exists(target):
            shutil.copy2(target, current)
        elif os.path.exists(target):  # the caller empties, replaces, or removes the file
            open(current, "wb").close()


def _unlink_folder(path: str) -> None:
    target = os.path.realpath(path)
    os.unlink(path)
    os.mkdir(path)
    with os.scandir(target) as entries:
        for entry in entries:
            os.symlink(entry.path, os.path.join(path, entry.name))


# Network.


def _connected(watch: Watch, connection: Any, address: Any, *_: Any) -> None:
    if getattr(connection, "family", None) in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
        _reach(watch, address[0], address[1])


def _looked_up(watch: Watch, host: Any, port: Any = None, *_: Any) -> None:
    _reach(watch, host, port)


def _reach(watch: Watch, host: Any, port: Any) -> None:
    name = os.fsdecode(host) if isinstance(host, (str, bytes)) else ""
    if name in _LOCAL or name.startswith(("127.", "::ffff:127.")) or name == socket.gethostname():
        return
    address = f"{name}:{port}" if isinstance(port, (int, str)) and port else name
    _record(watch, "network", address)
    if not watch.network:
        raise ConnectionRefusedError(errno.ECONNREFUSED, f"{address}: {REFUSED}")


# Programs.


def _started(watch: Watch, program: Any, *_: Any) -> None:
    if not _is_ours():
        with suppress(TypeError):
            _record(watch, "program", os.fsdecode(program).split(" ")[0].rpartition("/")[2])


_HANDLERS: dict[str, Callable[..., None]] = {
    "open": _opened,
    "os.remove": _removed,
    "os.rmdir": _removed,
    "os.mkdir": _made,
    "os.rename": _renamed,
    "os.link": _linked,
    "os.symlink": _linked,
    "os.truncate": _truncated,
    "shutil.rmtree": _emptied,
    "sqlite3.connect": _connected_database,
    "socket.connect": _connected,
    "socket.sendto": _connected,
    "socket.sendmsg": _connected,
    "socket.getaddrinfo": _looked_up,
    "socket.gethostbyname": _looked_up,
    "subprocess.Popen": _started,
    "os.system": _started,
    "os.posix_spawn": _started,
    "os.exec": _started,
}
