"""Equal work under way at the same time is done once: ``await single_flight.result(key, work)``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


@dataclass
class _Flight(Generic[_T]):
    task: asyncio.Task[_T]
    waiting: int = 0


class SingleFlight(Generic[_T]):
    """Runs work once per key for all callers that wait for it; it is canceled if no caller waits any longer."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Flight[_T]] = {}

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        flight = self._under_way.get(key)
        if flight is None:
            flight = self._under_way[key] = _Flight(asyncio.ensure_future(work()))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting:
                flight.task.cancel()
                if self._under_way.get(key) is flight:
                    del self._under_way[key]
