"""Observing: who watches the calls of reward functions, and which call is running right now.

::

    with observed_by(capture):
        scorer.score(batch)  # while "close" is called for row 3, running() is Called(capture, "close", 3)

Both stand in context variables, so they hold for the thread or the asynchronous task that they are asked in. Where
nobody observes, a function is called as it is.
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
    """A call of a reward function: of which component, and for which row of the batch if it is for one."""

    observer: Observer
    component: str
    row: int | None


class Observer(Protocol):
    """Watches the calls of one evaluation, from several threads if it has asynchronous rewards."""

    def took(self, call: Called, seconds: float) -> None:
        """Notes how long a call took, until its result was there."""

    def heard(self, call: Called, kind: str, level: str, text: str, detail: str | None = None) -> bool:
        """Notes what a call said; whether nobody else is to hear it."""

    def elsewhere(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function` for another process; picklable. What it returns or raises there goes to `told`."""

    def told(self, call: Called, outcome: Any) -> Any:
        """What came back from another process as the function would have returned it."""


_observer: ContextVar[Observer | None] = ContextVar("observer of rewards", default=None)
_running: ContextVar[Called | None] = ContextVar("running reward", default=None)


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Within it `observer` watches what is scored."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def running() -> Called | None:
    """The call of a reward function that asks, if it is observed."""
    return _running.get()


@contextmanager
def aside() -> Iterator[None]:
    """Within it no call is running: what is written there is not the reward function's own."""
    token = _running.set(None)
    try:
        yield
    finally:
        _running.reset(token)


def present() -> Observer | None:
    """Who watches. Nobody inside a reward function that scores by itself: its rows are not the batch's."""
    observer = _observer.get()
    return observer if observer is None or _running.get() is None else None


def watched(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    component: str,
    rows: Sequence[int | None],
    *,
    asynchronous: bool = False,
) -> tuple[Callable[..., Any], Iterable[tuple[Any, ...]]]:
    """`function` and the arguments of its `calls`, so that an observer knows which of them is running.

    Args:
        rows: of the batch, one for each call; None for a call with several rows.
    """
    observer = present()
    if observer is None:
        return function, calls
    watching = _WatchedAsync if asynchronous else _Watched
    numbered = ((Called(observer, component, row), *call) for row, call in zip(rows, calls, strict=True))
    return watching(function), numbered


def elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as a worker process is to call it."""
    observer = present()
    return function if observer is None else observer.elsewhere(function)


def told(outcomes: list[Any], component: str, rows: Sequence[int | None]) -> list[Any]:
    """What worker processes returned or raised, without what an observer had them add."""
    observer = present()
    if observer is None:
        return outcomes
    return [
        observer.told(Called(observer, component, row), outcome) for row, outcome in zip(rows, outcomes, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Watched:
    """A function that says which of its calls is running."""

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
    """The same of an async function, which has the context of its own task."""

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
