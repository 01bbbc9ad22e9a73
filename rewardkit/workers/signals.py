"""Exceptions that must pass through every ``except``: Ctrl-C, and a SystemExit that a signal handler raises.

If a reward calls ``sys.exit()``, this is a bug in the reward and affects only its row. However, the same SystemExit
from a SIGTERM handler means that the cluster is reclaiming the machine.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Iterable
from types import CodeType, TracebackType
from typing import Any


def from_operator(error: BaseException) -> bool:
    """Return whether `error` must propagate: Ctrl-C, or a SystemExit from a signal handler but not from a reward."""
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return True
    if not isinstance(error, SystemExit) or threading.current_thread() is not threading.main_thread():
        return False
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()}
    return any(code in handlers for code in _codes(error.__traceback__))


def _code(handler: object) -> CodeType | None:
    """Return the code object of a function, a method, a partial, or an object with ``__call__``; None for others."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    function: Any = getattr(handler, "__func__", handler)
    try:
        code = function.__code__ if hasattr(function, "__code__") else type(function).__call__.__code__
    except AttributeError:  # SIG_DFL, or written in C
        return None
    return code if isinstance(code, CodeType) else None


def _codes(trace: TracebackType | None) -> Iterable[CodeType]:
    while trace is not None:
        yield trace.tb_frame.f_code
        trace = trace.tb_next
