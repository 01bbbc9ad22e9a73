"""Where async functions of verifiers run: in the main thread, as they do in verifiers, if that can be.

math-verify sets its time limits with signals, which only the main thread may do. verifiers' own
``verify_boxed_math_answer`` takes the exception for a wrong answer, so that elsewhere every answer scores 0.0.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
from collections.abc import Coroutine
from typing import Any


def free_main_thread() -> bool:
    """Whether this is the main thread and no loop runs in it (one does in a notebook)."""
    if threading.current_thread() is not threading.main_thread():
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


def run_here(work: Coroutine[Any, Any, Any]) -> Any:
    """Runs `work` in this thread to its end; what is interrupted leaves nothing behind that is still to come."""
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
    """One loop for all batches: the connections that a judge's client keeps open belong to it."""
    loop = asyncio.new_event_loop()
    atexit.register(loop.close)
    return loop
