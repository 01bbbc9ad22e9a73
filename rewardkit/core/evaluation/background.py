"""The event loop in the background, where asynchronous rewards run: ``in_background(coroutine).result()``.

No event loop runs in the caller's thread, so a notebook's own is no obstacle.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any

from rewardkit.core.errors import RewardFailure


def in_background(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Starts `coroutine` in the process's background event loop.

    Raises:
        RewardFailure: called from that loop, where waiting for it would never end.
    """
    loop, thread = _background_loop(os.getpid())
    if threading.current_thread() is thread:
        coroutine.close()
        raise RewardFailure("an async reward scores with another async reward: await that one instead")
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


_starting = threading.Lock()


def _background_loop(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:
        return _started_loop(process)


@cache
def _started_loop(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    """One loop per process: after a fork the parent's thread is gone."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="rewardkit", daemon=True)
    thread.start()
    return loop, thread
