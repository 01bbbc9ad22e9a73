"""What NeMo Gym's resource servers use of Ray: a function that runs beside them. Here a thread runs it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any


class Task:
    """A call that is running, as Ray's ``ObjectRef``."""

    def __init__(self, called: Callable[[], Any]) -> None:
        self._done: Future[Any] = Future()
        threading.Thread(target=self._run, args=(called,), daemon=True).start()

    def _run(self, called: Callable[[], Any]) -> None:
        try:
            self._done.set_result(called())
        except BaseException as error:
            self._done.set_exception(error)

    def future(self) -> Future[Any]:
        return self._done

    def __await__(self) -> Generator[Any, None, Any]:
        return asyncio.wrap_future(self._done).__await__()


class Remote:
    """A function with ``.remote(...)``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def remote(self, *arguments: Any, **named: Any) -> Task:
        return Task(lambda: self._function(*arguments, **named))


def remote(*functions: Callable[..., Any], **options: Any) -> Any:
    """``@ray.remote`` and ``@ray.remote(...)``."""
    return Remote(functions[0]) if functions else Remote


def get(task: Task) -> Any:
    return task.future().result()


def cancel(task: Task) -> None:
    """Leave the thread alone: it cannot be stopped, and its result is not used."""
