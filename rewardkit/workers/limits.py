"""Limits for this process: its maximum memory, and its end when its parent ends.

``limit_memory(256_000_000)`` allows 256 MB in addition to the current use; ``limit_memory(None)`` removes the limit.
Memory is limited only on Linux.
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
"""The memory that counts: the whole address space, or only data that the process has written (which excludes a model's
memory-mapped files)."""

_KILL = 9
"""The signal number of SIGKILL, which programs cannot catch."""
_WATCH_SECONDS = 1.0
"""The seconds between checks of whether the parent is still running, on systems whose kernel does not report its end.
The value is arbitrary: a check takes a microsecond, and a process that outlives its parent by a second is harmless."""
_PARENT_DEATH_SIGNAL = 1
"""The value of PR_SET_PDEATHSIG on Linux."""


def limit_memory(more: int | None, of: Memory = "address space") -> None:
    """Allow this process `more` bytes in addition to its current use; None removes every limit except the system's."""
    if sys.platform != "linux":
        return
    import resource

    kind = resource.RLIMIT_AS if of == "address space" else resource.RLIMIT_DATA
    _, hard = resource.getrlimit(kind)
    limit = hard if more is None else held_bytes(of) + more
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def held_bytes(of: Memory = "address space") -> int:
    """Return the memory that this process uses, in bytes, or 0 if the system does not report it."""
    with suppress(OSError):
        return _kilobytes("/proc/self/status", "VmSize" if of == "address space" else "VmData")
    return 0


def free_bytes() -> int:
    """Return the free memory on this machine or in this container, whichever is less, in bytes, or 0 if unknown."""
    amounts = []
    with suppress(OSError, ValueError):
        amounts.append(_kilobytes("/proc/meminfo", "MemAvailable"))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        amounts.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(0, min(amounts, default=0))


def end_with_parent(lifeline: int | None = None) -> None:
    """Make this process end when its parent ends, because a busy child would not notice a closed socket.

    Args:
        lifeline: the read end of a pipe whose write end is open only in the parent. When the parent ends, Linux kills
            this process's whole group, including everything that the process started.
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
    """Return the value in a line such as ``MemAvailable:  1024 kB`` in bytes, or 0 if the line does not exist."""
    for line in Path(file).read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
