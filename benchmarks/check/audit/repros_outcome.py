"""What a repro can say about a call that does not return a score: it raises, or it does not end."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any


def raised(call: Callable[[], Any]) -> str:
    """Return the name of the exception that a call raises, or nothing."""
    try:
        call()
    except BaseException as error:
        return type(error).__name__
    return ""


def unfinished(call: Callable[[], Any], seconds: float) -> bool:
    """Say whether a call still runs after some seconds; then it is killed."""
    running = multiprocessing.get_context("fork").Process(target=call)
    running.start()
    running.join(seconds)
    late = running.is_alive()
    running.kill()
    running.join()
    return late
