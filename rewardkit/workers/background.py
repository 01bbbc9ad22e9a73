"""The background event loop that runs asynchronous rewards: ``in_background(coroutine).result()``.

The loop has a separate thread, so it also works in a notebook, which already has an event loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any

from rewardkit.errors import RewardFailure


def in_background(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Start `coroutine` in this process's background event loop.

    Raises:
        RewardFailure: the caller runs in the background event loop, which would wait for itself forever.
    """
    loop, thread = _background_loop(os.getpid())
    if threading.current_thread() is thread:
        coroutine.close()
        raise RewardFailure("an async reward calls rk.score on another async reward. Await the other function instead")
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


_starting = threading.Lock()


def _background_loop(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:
        return _started_loop(process)


@cache
def _started_loop(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    """Return the event loop of `process`, started on first use.

    A fork does not copy threads, so it needs a new loop.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="rewardkit", daemon=True)
    thread.start()
    return loop, thread
