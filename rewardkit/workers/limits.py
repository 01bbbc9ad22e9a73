"""Limits of this process: how much more memory it may use, and that it ends with its parent.

``limit_memory(256_000_000)`` allows 256 MB beyond its present use; ``limit_memory(None)`` removes the limit. On systems
other than Linux, nothing limits memory.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

Memory = Literal["address space", "data"]
"""The memory that is counted: all addresses, or only memory that the process has written to (not the mapped files of a
model)."""

_KILL = 9
"""SIGKILL, which no program can handle."""
_WATCH_SECONDS = 1.0
"""Between two looks at the parent where the kernel does not tell its end. Any number: looking costs a microsecond, and
a process that outlives its parent by a second does no harm."""
_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux."""


def limit_memory(more: int | None, of: Memory = "address space") -> None:
    """Allow this process `more` bytes beyond its present use; None for no limit except the system's."""
    if sys.platform != "linux":
        return
    import resource

    kind = resource.RLIMIT_AS if of == "address space" else resource.RLIMIT_DATA
    _, hard = resource.getrlimit(kind)
    limit = hard if more is None else held_bytes(of) + more
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def held_bytes(of: Memory = "address space") -> int:
    """Return the bytes that this process uses; 0 if the system does not report it."""
    with suppress(OSError):
        return _kilobytes("/proc/self/status", "VmSize" if of == "address space" else "VmData")
    return 0


def free_bytes() -> int:
    """Return the bytes that are free on the machine and in this container; 0 if the system does not report them."""
    amounts = []
    with suppress(OSError, ValueError):
        amounts.append(_kilobytes("/proc/meminfo", "MemAvailable"))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        amounts.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(0, min(amounts, default=0))


def end_with_parent(lifeline: int | None = None) -> None:
    """Make this process end with its parent: a busy child would not notice a closed socket.

    Args:
        lifeline: the reading end of a pipe whose other end only the parent has. Linux then kills the whole session of
            this process, with all that it started.
    """
    if sys.platform != "linux":
        threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()
    elif lifeline is None:
        import ctypes

        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, _KILL)
    else:
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())
            fcntl.fcntl(lifeline, fcntl.F_SETSIG, _KILL)
            fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    # From a thread, sys.exit would end only the thread.
    os._exit(1)


def _kilobytes(file: str, name: str) -> int:
    """Return the bytes in a line such as ``MemAvailable:  1024 kB``; 0 if there is no such line."""
    for line in Path(file).read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
