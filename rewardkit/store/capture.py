"""Capture: what reward functions print, log and warn of while a batch is scored, with component and row.

::

    with Capture() as capture:
        table = scorer.score(batch)
    capture.lines  # [Line("no number in ''", kind="print", component="closeness", row=3)]

A line of a function called for one completion has its row; those of functions over a group or the batch have none.
Functions in worker processes (``timeout=``) are heard once they return: of one that was killed there is nothing.
What a function's own threads or C code write is not heard.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from rewardkit.core.batch.score import Fault, Outcome
from rewardkit.core.evaluation import observers as observing
from rewardkit.core.evaluation.observers import Called
from rewardkit.core.tree.results import Raised
from rewardkit.store.records import Line
from rewardkit.store.taps import tapped

__all__ = ["Capture", "FaultLines", "Line", "wording"]

MAX_LINES = 1_000
MAX_CHARACTERS = 200_000
"""Of one batch; what is above is counted."""

SLOWEST = 5
SLOW_SECONDS = 0.1
SLOW_FACTOR = 5.0
"""A call is slow above 0.1 s and 5 times its component's median; the slowest five of a component are told."""

MAX_KINDS = 200
"""Different faults at most; reasons may quote completions, which never repeat."""

_SAID = "said_to_rewardkit"
"""The attribute of an exception under which it brings what was said in a worker process."""


class Capture:
    """Hears the reward functions that are called within its ``with``. For one batch; used by several threads.

    Args:
        quiet: what they say is shown nowhere else.
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
        self._within.enter_context(tapped())
        self._within.enter_context(observing.observed_by(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._within.close()
        with self._lock:
            self._open = False  # what is canceled may still run, and say something
            for line in self._begun.values():
                self._keep(line)
            self._begun.clear()

    @property
    def lines(self) -> list[Line]:
        """What was said, in order; then what took long, and how much was left out."""
        with self._lock:
            lines = sorted(self._lines, key=lambda line: line.time or 0.0)
            times = {component: list(calls) for component, calls in self._times.items()}
            left_out = self._left_out
        for component, calls in times.items():
            lines += _slow(component, calls)
        if left_out:
            lines.append(Line(f"{left_out:,} more lines were left out", level="warning", count=left_out))
        return lines

    def took(self, call: Called, seconds: float) -> None:
        self._times.setdefault(call.component, []).append((seconds, call.row))

    def heard(self, call: Called, kind: str, level: str, text: str, detail: str | None = None) -> bool:
        with self._lock:
            if not self._open:
                return False
            if kind == "print":
                self._print(call, level, text)
            else:
                said, trace = self._affordable(text), self._affordable(detail or "")
                self._keep(Line(said, kind, level, call.component, call.row, trace or None, time=time.time()))
            return self._quiet

    def _print(self, call: Called, level: str, text: str) -> None:
        """Puts together what comes in pieces; a line ends at its line break."""
        key = (call.component, call.row, level)
        begun = self._begun.pop(key, None) or Line("", "print", level, call.component, call.row, time=time.time())
        *whole, rest = self._affordable(text).split("\n")
        for piece in whole:
            self._keep(replace(begun, message=begun.message + piece))
            begun = replace(begun, message="", time=time.time())
        if begun.message or rest:
            self._begun[key] = replace(begun, message=begun.message + rest)

    def _affordable(self, text: str) -> str:
        """As much of `text` as may still be kept; the lines of the rest are counted."""
        kept = text[: self._characters]
        self._characters -= len(kept)
        if len(kept) < len(text):
            self._left_out += max(1, text.count("\n", len(kept)))
        return kept

    def _keep(self, line: Line) -> None:
        if not line.message:
            return
        if len(self._lines) < MAX_LINES:
            self._lines.append(line)
        else:
            self._left_out += 1

    @property
    def said(self) -> _Said:
        """All of it, where there was one call."""
        seconds = sum(seconds for calls in self._times.values() for seconds, _ in calls)
        return _Said(tuple(self._lines), self._left_out, seconds)

    def elsewhere(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _Elsewhere(function, self._quiet)

    def told(self, call: Called, outcome: Any) -> Any:
        said = None
        if isinstance(outcome, _Told):
            outcome, said = outcome.returned, outcome.said
        elif isinstance(outcome, Raised):
            said = vars(outcome.error).pop(_SAID, None)
        if isinstance(said, _Said):
            self.took(call, said.seconds)
            with self._lock:
                self._left_out += said.left_out
                for line in said.lines:
                    message = self._affordable(line.message)
                    self._keep(replace(line, message=message, component=call.component, row=call.row))
        return outcome


@dataclass(frozen=True)
class _Said:
    """What a call in a worker process said."""

    lines: tuple[Line, ...]
    left_out: int
    seconds: float


@dataclass(frozen=True)
class _Told:
    """What a function returned in a worker process, and what it said there."""

    returned: Any
    said: _Said

    def __repr__(self) -> str:
        return repr(self.returned)


@dataclass(frozen=True)
class _Elsewhere:
    """A function that brings along what it says in its worker process."""

    function: Callable[..., Any]
    quiet: bool

    def __call__(self, *arguments: Any) -> Any:
        capture = Capture(quiet=self.quiet)
        try:
            with capture:
                function, (call,) = observing.watched(self.function, [arguments], "", [None])
                returned = function(*call)
        except BaseException as error:
            vars(error)[_SAID] = capture.said
            raise
        return _Told(returned, capture.said)


def _slow(component: str, calls: list[tuple[float, int | None]]) -> list[Line]:
    usual = median(seconds for seconds, _ in calls)
    slow = [call for call in calls if call[0] > max(SLOW_SECONDS, SLOW_FACTOR * usual)]
    return [
        Line(
            f"took {seconds:.2f} s; half of the {len(calls)} calls took less than {usual:.2g} s",
            kind="slow",
            level="warning",
            component=component,
            row=row,
            seconds=seconds,
        )
        for seconds, row in sorted(slow, key=lambda call: call[0], reverse=True)[:SLOWEST]
    ]


class FaultLines:
    """The faults of a run's batches as lines: each kind with its traceback once, later only counted.

    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._known: set[tuple[str, str, str]] = set()
        self._lock = threading.Lock()

    def of(self, faults: Iterable[Fault]) -> list[Line]:
        """A line for each kind of fault in a batch, with the first row that has it."""
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
        kind = (fault.component, str(fault.outcome), wording(fault.reason))
        full = kind not in self._known and len(self._known) >= MAX_KINDS
        return (*kind[:2], "") if full else kind

    def _line(self, kind: tuple[str, str, str], fault: Fault, count: int) -> Line:
        return Line(
            fault.reason,
            kind="fault",
            level="error" if fault.outcome is Outcome.ERRORED else "warning",
            component=fault.component,
            row=fault.row,
            detail=fault.traceback or None if kind not in self._known else None,
            count=count,
        )


def wording(reason: str) -> str:
    """The words of a reason before its first number, quotation or detail: what faults of one kind share."""
    found = re.match(r"[^\d:;,.'\"(\[{<]*", reason)
    return found[0][:60] if found else ""
