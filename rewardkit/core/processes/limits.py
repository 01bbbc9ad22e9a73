"""Limits of this process: the memory that it may still take, and its end with the process that started it.

``limit_memory(256_000_000)`` lets it take 256 MB beyond what it holds now; ``limit_memory(None)`` takes that back. A
limit is set only where the kernel knows it (Linux); elsewhere these functions do nothing.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

Memory = Literal["address space", "data"]
"""What is counted: all addresses, or only what the process has written to (a model's mapped files are not)."""

_KILL = 9
_PARENT_DEATH_SIGNAL = 1


def limit_memory(more: int | None, of: Memory = "address space") -> None:
    """Lets this process take `more` bytes beyond what it holds; None for no limit but that of the system."""
    if sys.platform != "linux":
        return
    import resource

    kind = resource.RLIMIT_AS if of == "address space" else resource.RLIMIT_DATA
    _, hard = resource.getrlimit(kind)
    wanted = hard if more is None else held_bytes(of) + more
    resource.setrlimit(kind, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def held_bytes(of: Memory = "address space") -> int:
    """The bytes that this process holds; 0 where the system does not say."""
    with suppress(OSError):
        return _kilobytes("/proc/self/status", "VmSize" if of == "address space" else "VmData")
    return 0


def free_bytes() -> int:
    """The bytes that the machine, and the container around this process, can still give; 0 where they do not say."""
    found = []
    with suppress(OSError, ValueError):
        found.append(_kilobytes("/proc/meminfo", "MemAvailable"))
    with suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(0, min(found, default=0))


def end_with_parent() -> None:
    """Has the kernel end this process with its parent: a busy child would never see that its socket is closed."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, _KILL)


def _kilobytes(file: str, name: str) -> int:
    """The bytes in a line such as ``MemAvailable:  1024 kB``; 0 where there is no such line."""
    for line in Path(file).read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
