"""The interpreter that runs programs, and the paths that it needs: ``visible(())`` is ``["/usr", ...]``."""

from __future__ import annotations

import os
import sys
import sysconfig

_SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/nix/store")


def interpreter() -> str:
    """Return the path to the interpreter itself, not to a virtual environment's link to it."""
    # In a virtual environment, only CPython's _base_executable names the interpreter that created it.
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def site_packages() -> tuple[str, ...]:
    """Return the directories with this environment's installed packages."""
    paths = sysconfig.get_paths()
    return tuple(dict.fromkeys(os.path.realpath(paths[name]) for name in ("purelib", "platlib")))


def visible(packages: tuple[str, ...]) -> list[str]:
    """Return the paths that a program can see: the system's libraries, the interpreter, and `packages`."""
    paths = [path for path in _SYSTEM if os.path.lexists(path)]
    for prefix in (sys.base_prefix, sys.base_exec_prefix, os.path.dirname(interpreter()), *packages):
        path = os.path.realpath(prefix)
        if not any(path == root or path.startswith(f"{root}/") for root in paths):
            paths.append(path)
    return paths
