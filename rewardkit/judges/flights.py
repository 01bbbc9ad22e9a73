"""Flights: work under way, by key: two who ask for the same at one time wait for one answer."""

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


class Flights(Generic[_T]):
    """Equal work is done once for all who wait for it, and ends when nobody does any more."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Flight[_T]] = {}

    async def joined(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
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
