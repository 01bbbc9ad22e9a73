"""Processes that can be killed, for what may hang: ``submit(function, (argument,), timeout=2.0)`` gives a Future.

The processes start on first use, are shared by all rewards, and are replaced when one has been killed. They are
spawned afresh, so a function must be picklable, and a script that uses them needs the usual
``if __name__ == "__main__":`` around what starts it.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import Any

from rewardkit.core.errors import MissingExtraError

MAX_PROCESSES = 4


def submit(function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float) -> Future[Any]:
    """Runs ``function(*arguments)`` in a worker that is killed after `timeout` seconds.

    The future raises ``TimeoutError`` then, pebble's ``ProcessExpired`` if the worker died, and else what the
    function raised.

    Raises:
        MissingExtraError: pebble is not installed.
    """
    future: Future[Any] = _pool(os.getpid()).schedule(function, args=arguments, timeout=timeout)
    return future


@cache
def _pool(process: int) -> Any:
    """One pool per process: after a fork the parent's is of no use."""
    try:
        from pebble import ProcessPool
    except ImportError:
        raise MissingExtraError.of("a reward with timeout=", "worker") from None
    pool = ProcessPool(
        max_workers=min(MAX_PROCESSES, os.cpu_count() or 1), context=multiprocessing.get_context("spawn")
    )
    atexit.register(pool.stop)
    return pool
