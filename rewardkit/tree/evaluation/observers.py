"""Observers, which watch the calls of reward functions, and the call that is currently running.

::

    with observed_by(capture):
        scorer.score(batch)  # while "close" is called for row 3, running() is Called(capture, "close", 3)

The observer and the running call are context variables, so they belong to the current thread or asynchronous task.
Without an observer, functions are called directly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol


class Called(NamedTuple):
    """A call of a reward function: the component, and the row in the batch (None for a call with several rows)."""

    observer: Observer
    component: str
    row: int | None


class Observer(Protocol):
    """An observer of the calls in one evaluation. If rewards are asynchronous, several threads call its methods."""

    def took(self, call: Called, seconds: float) -> None:
        """Record the duration of a call."""

    def heard(self, call: Called, kind: str, level: str, text: str, detail: str | None = None) -> bool:
        """Record the output and log messages of a call; return True to suppress them."""

    def elsewhere(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a picklable wrapper of `function` for another process. Its result or error is passed to `told`."""

    def told(self, call: Called, outcome: Any) -> Any:
        """Unwrap a result from another process, and return the function's own result."""


_observer: ContextVar[Observer | None] = ContextVar("observer of rewards", default=None)
_running: ContextVar[Called | None] = ContextVar("running reward", default=None)


@contextmanager
def observed_by(observer: Observer | None) -> Iterator[None]:
    """Let `observer` watch all scoring inside the block; None turns observation off."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def running() -> Called | None:
    """Return the call that is running now, if it is observed."""
    return _running.get()


@contextmanager
def unattributed() -> Iterator[None]:
    """Do not attribute anything inside the block to a reward function: ``running()`` returns None."""
    token = _running.set(None)
    try:
        yield
    finally:
        _running.reset(token)


def current_observer() -> Observer | None:
    """Return the observer. Return None inside a reward function that calls rk.score, because its rows differ."""
    observer = _observer.get()
    return observer if observer is None or _running.get() is None else None


def observe_calls(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    component: str,
    rows: Sequence[int | None],
    *,
    asynchronous: bool = False,
) -> tuple[Callable[..., Any], Iterable[tuple[Any, ...]]]:
    """Return `function` and its `calls`, wrapped so that an observer knows which call is running.

    Args:
        rows: each call's row in the batch, or None for a call with several rows.
    """
    observer = current_observer()
    if observer is None:
        return function, calls
    watching = _WatchedAsync if asynchronous else _Watched
    numbered = ((Called(observer, component, row), *call) for row, call in zip(rows, calls, strict=True))
    return watching(function), numbered


def elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` for a worker process, wrapped by the observer if there is one."""
    observer = current_observer()
    return function if observer is None else observer.elsewhere(function)


def unwrap_outcomes(outcomes: list[Any], component: str, rows: Sequence[int | None]) -> list[Any]:
    """Return the results or errors from worker processes, unwrapped by the observer if there is one."""
    observer = current_observer()
    if observer is None:
        return outcomes
    return [
        observer.told(Called(observer, component, row), outcome) for row, outcome in zip(rows, outcomes, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Watched:
    """A wrapper that calls a function and records the call as the running one."""

    function: Callable[..., Any]

    def __call__(self, call: Called, *arguments: Any) -> Any:
        token = _running.set(call)
        started = time.perf_counter()
        returned = None
        try:
            returned = self.function(*arguments)
            return returned
        finally:
            if isinstance(returned, Future):
                returned.add_done_callback(partial(_took, call, started))
            else:
                call.observer.took(call, time.perf_counter() - started)
            _running.reset(token)


@dataclass(frozen=True, slots=True)
class _WatchedAsync:
    """A wrapper that calls an async function and records the call as the running one in the context of its task."""

    function: Callable[..., Any]

    async def __call__(self, call: Called, *arguments: Any) -> Any:
        _running.set(call)
        started = time.perf_counter()
        try:
            return await self.function(*arguments)
        finally:
            call.observer.took(call, time.perf_counter() - started)


def _took(call: Called, started: float, _: Future[Any]) -> None:
    call.observer.took(call, time.perf_counter() - started)
