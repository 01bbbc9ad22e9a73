"""Driving: runs the coroutines of a tree in the caller's thread, with what waits running beside them.

Everything that can wait (async rewards, worker processes) is started first; synchronous functions then run one at a
time, in order, while it waits. No event loop runs in the caller's thread, so a notebook's own is no obstacle.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Coroutine, Generator, Sequence
from concurrent.futures import Future
from functools import cache
from queue import SimpleQueue
from typing import Any

from rewardkit.core.errors import RewardFailure

Work = Coroutine[Any, Any, Any]


class Task:
    """A coroutine under way and, once it is ``done``, its ``result``."""

    __slots__ = ("coroutine", "done", "pending", "result", "waiters")

    def __init__(self, coroutine: Work) -> None:
        self.coroutine = coroutine
        self.done = False
        self.result: Any = None
        self.pending = 0
        self.waiters: list[Task] = []


class _Pause:
    """Awaited by a coroutine to be resumed when what it names has happened."""

    __slots__ = ()

    def __await__(self) -> Generator[_Pause, None, None]:
        yield self


class Turn(_Pause):
    """Until all that can run in the background has been started."""


class Finished(_Pause):
    """Until all `tasks` and the `future` are done."""

    __slots__ = ("future", "tasks")

    def __init__(self, tasks: Sequence[Task] = (), future: Future[Any] | None = None) -> None:
        self.tasks = tasks
        self.future = future


class Driver:
    """Runs tasks to their end in the caller's thread."""

    def __init__(self) -> None:
        self._ready: deque[Task] = deque()
        self._turns: deque[Task] = deque()
        self._outstanding: dict[Future[Any], Task] = {}
        self._finished: SimpleQueue[Future[Any]] = SimpleQueue()
        self._unfinished: set[Task] = set()

    def start(self, coroutine: Work) -> Task:
        task = Task(coroutine)
        self._unfinished.add(task)
        self._ready.append(task)
        return task

    def run(self, coroutine: Work) -> Any:
        """The result of `coroutine`; an exception in any task ends them all."""
        root = self.start(coroutine)
        try:
            while not root.done:
                self._advance()
            return root.result
        finally:
            for future in self._outstanding:
                future.cancel()
            for task in self._unfinished:
                task.coroutine.close()

    def _advance(self) -> None:
        while not self._finished.empty():
            self._ready.append(self._outstanding.pop(self._finished.get()))
        if self._ready:
            self._step(self._ready.popleft())
        elif self._turns:
            self._step(self._turns.popleft())
        elif self._outstanding:
            self._ready.append(self._outstanding.pop(self._finished.get()))
        else:
            raise RuntimeError("the rewards of this tree wait for each other")

    def _step(self, task: Task) -> None:
        try:
            pause = task.coroutine.send(None)
        except StopIteration as stop:
            task.done, task.result = True, stop.value
            self._unfinished.discard(task)
            for waiter in task.waiters:
                waiter.pending -= 1
                if waiter.pending == 0:
                    self._ready.append(waiter)
            return
        if isinstance(pause, Turn):
            self._turns.append(task)
        elif isinstance(pause, Finished) and pause.future is not None:
            self._outstanding[pause.future] = task
            pause.future.add_done_callback(self._finished.put)
        elif isinstance(pause, Finished):
            unfinished = [other for other in pause.tasks if not other.done]
            task.pending = len(unfinished)
            for other in unfinished:
                other.waiters.append(task)
            if not unfinished:
                self._ready.append(task)
        else:
            raise RuntimeError(f"a reward awaited {pause!r}; use an async function under @rk.reward for that")


def in_background(coroutine: Work) -> Future[Any]:
    """Starts `coroutine` in the process's background event loop.

    Raises:
        RewardFailure: called from that loop, where waiting for it would never end.
    """
    loop, thread = _background_loop(os.getpid())
    if threading.current_thread() is thread:
        coroutine.close()
        raise RewardFailure("an async reward scores with another async reward: await that one instead")
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


_starting = threading.Lock()


def _background_loop(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    with _starting:
        return _started_loop(process)


@cache
def _started_loop(process: int) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
    """One loop per process: after a fork the parent's thread is gone."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="rewardkit", daemon=True)
    thread.start()
    return loop, thread
