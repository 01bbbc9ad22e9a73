"""Threads that wait for sandboxes: ``submit(function, argument).result()``; by default one thread per core."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def submit(function: Callable[..., _Result], *arguments: Any, threads: int | None = None) -> Future[_Result]:
    """Call `function` in one of at most `threads` threads of this process."""
    return _pool(os.getpid(), threads).submit(function, *arguments)


@cache
def _pool(process: int, threads: int | None) -> ThreadPoolExecutor:
    """Return the pool of this process: a parent's threads do not survive a fork."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return ThreadPoolExecutor(max_workers=threads or cores, thread_name_prefix="rewardkit-sandbox")
