"""A reward that says how often it was called, as judges do."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Calls:
    """What was counted, and what that is called in logs."""

    label: str
    count: int

    def __add__(self, other: Calls) -> Calls:
        return Calls(self.label, self.count + other.count)

    def numbers(self) -> dict[str, float]:
        return {self.label: float(self.count)}


@dataclass(frozen=True)
class Counting:
    label: str = "calls"

    async def __call__(self, completion: str) -> float:
        return 0.5

    async def measured(self, calls: Awaitable[list[Any]]) -> tuple[list[Any], Calls]:
        results = await calls
        return results, Calls(self.label, len(results))
