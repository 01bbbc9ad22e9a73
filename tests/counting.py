"""Rewards that count their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import rewardkit as rk
from rewardkit.tree.reward import Reward


@dataclass(frozen=True)
class Calls:
    """A count and its name in logs."""

    label: str
    count: int

    def __add__(self, other: Calls) -> Calls:
        return Calls(self.label, self.count + other.count)

    def numbers(self) -> dict[str, float]:
        return {self.label: float(self.count)}


@dataclass(frozen=True)
class Counting:
    """An async reward function that measures its calls, as judges do."""

    label: str = "calls"

    async def __call__(self, completion: str) -> float:
        return 0.5

    async def measured(self, calls: Awaitable[list[Any]]) -> tuple[list[Any], Calls]:
        results = await calls
        return results, Calls(self.label, len(results))


Counted = tuple[Reward, "Counter[str]"]


def counted(name: str, value: Callable[[str], float | None] = lambda completion: 0.5) -> Counted:
    """A reward that counts how often it is called with each completion."""
    calls: Counter[str] = Counter()

    def function(completion: str) -> float | None:
        calls[completion] += 1
        return value(completion)

    return rk.reward(name=name, bounds=(-1.0, 1.0))(function), calls
