"""Run async functions of verifiers in the main thread if possible, as verifiers does.

math-verify sets its time limits with signals, which only the main thread may do. In another thread, verifiers' own
``verify_boxed_math_answer`` takes the exception for a wrong answer, so every answer would score 0.0.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
from collections.abc import Coroutine
from typing import Any


def free_main_thread() -> bool:
    """Return whether this is the main thread and no event loop runs in it (one does in a notebook)."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def run_here(work: Coroutine[Any, Any, Any]) -> Any:
    """Run `work` in this thread to completion; if interrupted, cancel all tasks that are still running."""
    loop = _loop()
    try:
        return loop.run_until_complete(work)
    except BaseException:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        raise


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return one loop for all batches: the open connections of a judge's client belong to it."""
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop
