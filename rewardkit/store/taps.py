"""Taps: the output, log lines and warnings of a reward function also go to its observer.

They are installed only while something is being scored. Output outside of a reward function (for example the progress
bar of the trainer in another thread) passes unchanged.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rewardkit.core.evaluation.observers import aside, running

_lock = threading.RLock()
_inside = 0


@contextmanager
def tapped() -> Iterator[None]:
    """Install the taps within this context; several threads may use it at once."""
    global _inside
    with _lock:
        if _inside == 0:
            _install()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _remove()


class _Tee:
    """A standard stream that also writes to the observer of the running reward function."""

    def __init__(self, stream: TextIO, level: str) -> None:
        self.stream = stream
        self._level = level

    def write(self, text: str) -> int:
        call = running()
        if call is not None and call.observer.heard(call, "print", self._level, text):
            return len(text)
        return self.stream.write(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


# Each tap wraps the current function, and removes itself only if nothing has wrapped it since. A tap that has to stay
# passes everything on.


def _install() -> None:
    for name, level in (("stdout", "info"), ("stderr", "warning")):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Tee):
            setattr(sys, name, _Tee(stream, level))
    # Not a handler: a root handler misses loggers that do not propagate, and with one installed, logging.basicConfig,
    # which a function or one of its imports may call, does nothing.
    if not hasattr(logging.Logger.callHandlers, "tapped"):
        logging.Logger.callHandlers = _logging(logging.Logger.callHandlers)  # type: ignore[method-assign]
    if not hasattr(warnings.showwarning, "tapped"):
        warnings.showwarning = _warning(warnings.showwarning)


def _remove() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Tee):
            setattr(sys, name, stream.stream)
    handlers, shown = logging.Logger.callHandlers, warnings.showwarning
    logging.Logger.callHandlers = getattr(handlers, "tapped", handlers)  # type: ignore[method-assign]
    warnings.showwarning = getattr(shown, "tapped", shown)


def _logging(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
        call = running()
        if call is not None and record.levelno >= logging.INFO:
            message, trace = _logged(record)
            if call.observer.heard(call, "log", _level(record.levelno), message, trace):
                return
        with aside():  # ignore output of the log handlers
            original(logger, record)

    call_handlers.tapped = original  # type: ignore[attr-defined]
    return call_handlers


def _logged(record: logging.LogRecord) -> tuple[str, str | None]:
    try:
        message = record.getMessage()
    except Exception:  # wrong arguments; the handlers of logging report that
        message = str(record.msg)
    trace = record.exc_info and record.exc_info[1]
    message = message if record.name == "root" else f"{record.name}: {message}"
    return message, "".join(traceback.format_exception(trace)) if trace else None


def _level(number: int) -> str:
    return "error" if number >= logging.ERROR else "warning" if number >= logging.WARNING else "info"


def _warning(original: Callable[..., Any]) -> Callable[..., Any]:
    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *others: Any, **named: Any
    ) -> None:
        call = running()
        if call is not None:
            text = f"{category.__name__}: {message}"
            if call.observer.heard(call, "warning", "warning", text, f"{filename}:{lineno}"):
                return
        with aside():
            original(message, category, filename, lineno, *others, **named)

    show.tapped = original  # type: ignore[attr-defined]
    return show
