"""Capture of reward functions' output, log lines, and warnings while a batch is scored, with component and row.

::

    with Capture() as capture:
        table = scorer.score(batch)
    capture.lines  # [Line("no number in ''", kind="print", component="closeness", row=3)]

A line from a function that is called for one completion has that completion's row; a line from a function that is
called for a group or batch does not have a row. If a function runs in a worker process (``timeout=``), its output is
captured when the function returns; if the process is killed, the output is lost. Output from threads that a function
starts or from C code is not captured.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, TextIO

from rewardkit.batch.score import Fault, Outcome
from rewardkit.record.records import Line
from rewardkit.tree.evaluation import observers as observing
from rewardkit.tree.evaluation.observers import Called, running, unattributed
from rewardkit.tree.results import Raised

# Taps: hooks that also send the output, log lines and warnings of a reward function to its observer.


_lock = threading.RLock()
_inside = 0


@contextmanager
def install_taps() -> Iterator[None]:
    """Install the taps inside the block. Several threads can do this at the same time."""
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
    """A standard stream that also writes to the running reward function's observer."""

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


# Each tap wraps the current function, and is removed only if nothing has wrapped the tap since. A tap that has to stay
# passes everything on.


def _install() -> None:
    for name, level in (("stdout", "info"), ("stderr", "warning")):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Tee):
            setattr(sys, name, _Tee(stream, level))
    # Do not use a handler: a root handler misses loggers that do not propagate, and it disables logging.basicConfig,
    # which a function or its imports may call.
    if not hasattr(logging.Logger.callHandlers, "tapped"):
        logging.Logger.callHandlers = _logging(logging.Logger.callHandlers)  # type: ignore[method-assign]
    if not hasattr(warnings.showwarning, "tapped"):
        warnings.showwarning = _warning(warnings.showwarning)


def _remove() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Tee):
            setattr(sys, name, stream.stream)
    handlers, hook = logging.Logger.callHandlers, warnings.showwarning
    logging.Logger.callHandlers = getattr(handlers, "tapped", handlers)  # type: ignore[method-assign]
    warnings.showwarning = getattr(hook, "tapped", hook)


def _logging(original: Callable[..., Any]) -> Callable[..., Any]:
    def call_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
        call = running()
        if call is not None and record.levelno >= logging.INFO:
            message, trace = _logged(record)
            if call.observer.heard(call, "log", _level(record.levelno), message, trace):
                return
        with unattributed():  # ignore output of the log handlers
            original(logger, record)

    call_handlers.tapped = original  # type: ignore[attr-defined]
    return call_handlers


def _logged(record: logging.LogRecord) -> tuple[str, str | None]:
    try:
        message = record.getMessage()
    except Exception:  # wrong arguments, which logging's handlers report
        message = str(record.msg)
    trace = record.exc_info and record.exc_info[1]
    message = message if record.name == "root" else f"{record.name}: {message}"
    return message, "".join(traceback.format_exception(trace)) if trace else None


def _level(number: int) -> str:
    return "error" if number >= logging.ERROR else "warning" if number >= logging.WARNING else "info"


def _warning(original: Callable[..., Any]) -> Callable[..., Any]:
    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: Any, **named: Any
    ) -> None:
        call = running()
        if call is not None:
            text = f"{category.__name__}: {message}"
            if call.observer.heard(call, "warning", "warning", text, f"{filename}:{lineno}"):
                return
        with unattributed():
            original(message, category, filename, lineno, *rest, **named)

    show.tapped = original  # type: ignore[attr-defined]
    return show


__all__ = ["Capture", "FaultLines", "Line", "wording"]

# Arbitrary limits: a reward may print without end, and its output is kept in memory until the batch ends.
MAX_LINES = 1_000
MAX_CHARACTERS = 200_000
"""The maximum number of lines and characters captured in one batch; additional lines are only counted."""

# Arbitrary: five calls are enough for a reader, pauses of 0.1 s slow training down, and 5 times the median is not
# noise.
SLOWEST = 5
SLOW_SECONDS = 0.1
SLOW_FACTOR = 5.0
"""A call is slow if it takes more than 0.1 s and more than 5 times its component's median. Each component's five
slowest calls are listed."""

MAX_KINDS = 200
"""The maximum number of fault kinds. The limit is arbitrary and saves memory: reasons may quote completions, so all of
them may differ."""

_OUTPUT = "rewardkit_output"
"""The attribute of an exception that contains a worker process's captured output."""


class Capture:
    """A thread-safe context manager that captures the output of reward functions during one batch.

    Args:
        quiet: whether to keep the output from reaching its normal destination.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._lock = threading.RLock()
        self._lines: list[Line] = []
        self._begun: dict[tuple[str, int | None, str], Line] = {}
        self._characters = MAX_CHARACTERS
        self._left_out = 0
        self._times: dict[str, list[tuple[float, int | None]]] = {}
        self._open = False
        self._within = ExitStack()

    def __enter__(self) -> Capture:
        self._open = True
        self._within.enter_context(install_taps())
        self._within.enter_context(observing.observed_by(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._within.close()
        with self._lock:
            self._open = False  # a canceled call may still be running and print
            for line in self._begun.values():
                self._keep(line)
            self._begun.clear()

    @property
    def lines(self) -> list[Line]:
        """The captured lines in order, followed by the slow calls and the number of omitted lines."""
        with self._lock:
            lines = sorted(self._lines, key=lambda line: line.time or 0.0)
            times = {component: list(calls) for component, calls in self._times.items()}
            left_out = self._left_out
        for component, calls in times.items():
            lines += _slow(component, calls)
        if left_out:
            lines.append(Line(f"{left_out:,} more lines were dropped", level="warning", count=left_out))
        return lines

    @property
    def durations(self) -> dict[str, list[float]]:
        """Component -> the duration of each of its calls in seconds."""
        with self._lock:
            return {component: [seconds for seconds, _ in calls] for component, calls in self._times.items()}

    def took(self, call: Called, seconds: float) -> None:
        self._times.setdefault(call.component, []).append((seconds, call.row))

    def heard(self, call: Called, kind: str, level: str, text: str, detail: str | None = None) -> bool:
        with self._lock:
            if not self._open:
                return False
            if kind == "print":
                self._print(call, level, text)
            else:
                message, trace = self._affordable(text), self._affordable(detail or "")
                self._keep(Line(message, kind, level, call.component, call.row, trace or None, time=time.time()))
            return self._quiet

    def _print(self, call: Called, level: str, text: str) -> None:
        """Assemble lines from output that arrives in pieces."""
        key = (call.component, call.row, level)
        begun = self._begun.pop(key, None) or Line("", "print", level, call.component, call.row, time=time.time())
        *lines, rest = self._affordable(text).split("\n")
        for piece in lines:
            self._keep(replace(begun, message=begun.message + piece))
            begun = replace(begun, message="", time=time.time())
        if begun.message or rest:
            self._begun[key] = replace(begun, message=begun.message + rest)

    def _affordable(self, text: str) -> str:
        """Return the start of `text` that fits within the character limit; count the omitted lines."""
        affordable = text[: self._characters]
        self._characters -= len(affordable)
        if len(affordable) < len(text):
            self._left_out += max(1, text.count("\n", len(affordable)))
        return affordable

    def _keep(self, line: Line) -> None:
        if not line.message:
            return
        if len(self._lines) < MAX_LINES:
            self._lines.append(line)
        else:
            self._left_out += 1

    @property
    def output(self) -> _Output:
        """All captured output of a single call."""
        seconds = sum(seconds for calls in self._times.values() for seconds, _ in calls)
        return _Output(tuple(self._lines), self._left_out, seconds)

    def elsewhere(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _Elsewhere(function, self._quiet)

    def told(self, call: Called, outcome: Any) -> Any:
        output = None
        if isinstance(outcome, _WithOutput):
            outcome, output = outcome.returned, outcome.output
        elif isinstance(outcome, Raised):
            output = vars(outcome.error).pop(_OUTPUT, None)
        if isinstance(output, _Output):
            self.took(call, output.seconds)
            with self._lock:
                self._left_out += output.left_out
                for line in output.lines:
                    message = self._affordable(line.message)
                    self._keep(replace(line, message=message, component=call.component, row=call.row))
        return outcome


@dataclass(frozen=True)
class _Output:
    """A call's captured output in a worker process."""

    lines: tuple[Line, ...]
    left_out: int
    seconds: float


@dataclass(frozen=True)
class _WithOutput:
    """A function's result in a worker process, with the captured output."""

    returned: Any
    output: _Output

    def __repr__(self) -> str:
        return repr(self.returned)


@dataclass(frozen=True)
class _Elsewhere:
    """A wrapper that runs a function in a worker process and returns the captured output with the result."""

    function: Callable[..., Any]
    quiet: bool

    def __call__(self, *arguments: Any) -> Any:
        capture = Capture(quiet=self.quiet)
        try:
            with capture:
                function, (call,) = observing.observe_calls(self.function, [arguments], "", [None])
                returned = function(*call)
        except BaseException as error:
            vars(error)[_OUTPUT] = capture.output
            raise
        return _WithOutput(returned, capture.output)


def _slow(component: str, calls: list[tuple[float, int | None]]) -> list[Line]:
    usual = median(seconds for seconds, _ in calls)
    slow = [call for call in calls if call[0] > max(SLOW_SECONDS, SLOW_FACTOR * usual)]
    return [
        Line(
            f"took {seconds:.2f} s, while half of the {len(calls)} calls took less than {usual:.2g} s",
            kind="slow",
            level="warning",
            component=component,
            row=row,
            seconds=seconds,
        )
        for seconds, row in sorted(slow, key=lambda call: call[0], reverse=True)[:SLOWEST]
    ]


class FaultLines:
    """A converter of a run's faults into lines. The first line of a kind has the traceback; later lines have only a
    count.

    Each unreadable gold answer is a separate kind. Instances can be shared between threads.
    """

    def __init__(self) -> None:
        self._known: set[tuple[str, str, str]] = set()
        self._lock = threading.Lock()

    def of(self, faults: Iterable[Fault]) -> list[Line]:
        """Return a line for each kind of fault in a batch, with the kind's first affected row."""
        with self._lock:
            first: dict[tuple[str, str, str], Fault] = {}
            counts: Counter[tuple[str, str, str]] = Counter()
            for fault in faults:
                kind = self._kind(fault)
                first.setdefault(kind, fault)
                counts[kind] += 1
            lines = [self._line(kind, fault, counts[kind]) for kind, fault in first.items()]
            self._known |= first.keys()
            return lines

    def _kind(self, fault: Fault) -> tuple[str, str, str]:
        kind = (fault.component, str(fault.outcome), fault.reason if fault.unparsable else wording(fault.reason))
        full = kind not in self._known and len(self._known) >= MAX_KINDS
        return (*kind[:2], "") if full else kind

    def _line(self, kind: tuple[str, str, str], fault: Fault, count: int) -> Line:
        return Line(
            fault.reason,
            kind="fault",
            level="error" if fault.outcome is Outcome.ERRORED else "warning",
            component=fault.component or None,
            row=fault.row,
            detail=fault.traceback or None if kind not in self._known else None,
            count=count,
        )


def wording(reason: str) -> str:
    """Return the words before the first number, quotation, or detail in a reason, which identify the kind of fault."""
    # "no number in 'abc'" becomes "no number in". The limit of 60 characters is arbitrary: it must fit a heading.
    match = re.match(r"[^\d:;,.'\"(\[{<]*", reason)
    return match[0][:60] if match else ""
