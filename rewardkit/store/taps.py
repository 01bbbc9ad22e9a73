"""Taps: what a reward function prints, logs or warns of goes to its observer too, and on to where it always went.

They are there only while something is being scored. What is said outside of a reward function (the progress bar of the
trainer, say, in another thread) passes untouched.
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
    """Within it the taps are there; several threads may be within."""
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
    """A standard stream that the observer of a reward function hears."""

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


# Each tap wraps what stands there, and takes itself away only where nobody has wrapped it since: one that has to stay
# hears nothing, and passes everything on.


def _install() -> None:
    for name, level in (("stdout", "info"), ("stderr", "warning")):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Tee):
            setattr(sys, name, _Tee(stream, level))
    # Not by a handler: one at the root misses loggers that do not propagate, and logging.basicConfig, which a
    # function or what it imports may call, does nothing where there is one.
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
            said, trace = _logged(record)
            if call.observer.heard(call, "log", _level(record.levelno), said, trace):
                return
        with aside():  # a handler that prints says nothing new
            original(logger, record)

    call_handlers.tapped = original  # type: ignore[attr-defined]
    return call_handlers


def _logged(record: logging.LogRecord) -> tuple[str, str | None]:
    try:
        said = record.getMessage()
    except Exception:  # the arguments do not fit; logging itself complains of it in its handlers
        said = str(record.msg)
    trace = record.exc_info and record.exc_info[1]
    said = said if record.name == "root" else f"{record.name}: {said}"
    return said, "".join(traceback.format_exception(trace)) if trace else None


def _level(number: int) -> str:
    return "error" if number >= logging.ERROR else "warning" if number >= logging.WARNING else "info"


def _warning(original: Callable[..., Any]) -> Callable[..., Any]:
    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *others: Any, **named: Any
    ) -> None:
        call = running()
        if call is not None:
            said = f"{category.__name__}: {message}"
            if call.observer.heard(call, "warning", "warning", said, f"{filename}:{lineno}"):
                return
        with aside():
            original(message, category, filename, lineno, *others, **named)

    show.tapped = original  # type: ignore[attr-defined]
    return show
