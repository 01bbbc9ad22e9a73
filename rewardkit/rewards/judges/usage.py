"""A judge's usage per batch: ``tally().numbers()["judge_calls"]``.

The tally is in a context variable, so that a client shared by many judges counts each call for the correct batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import TypeVar

import numpy as np

from rewardkit.rewards.judges.canaries import Drift

_T = TypeVar("_T")


@dataclass
class Tally:
    """A judge's usage in one batch: ``seconds`` has the duration of each call, ``failures`` the count of each kind."""

    calls: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    retries: int = 0
    repairs: int = 0
    suspicious: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    drifts: list[Drift] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    def numbers(self) -> dict[str, float]:
        """Return the metrics to log, named ``judge_<name>``."""
        measures: dict[str, float] = {
            "calls": self.calls,
            "retries": self.retries,
            "repairs": self.repairs,
            "suspicious": self.suspicious,
            "tokens": self.tokens,
            "cost": self.cost,
            "failures": sum(self.failures.values()),
        }
        if looked_up := self.cache_hits + self.cache_misses:
            measures["cache_hit_rate"] = self.cache_hits / looked_up
        if self.seconds:
            median, slow = np.quantile(self.seconds, (0.5, 0.95))
            measures |= {"seconds_median": float(median), "seconds_95": float(slow)}
        measures |= {f"failures_{kind}": count for kind, count in self.failures.items()}
        if self.drifts:
            drift = self.drifts[-1]
            measures |= {"drift": drift.mean, "drift_most": drift.most, "drift_off": drift.off}
        return {f"judge_{name}": float(number) for name, number in measures.items()}


TALLY: ContextVar[Tally] = ContextVar("TALLY")


def tally() -> Tally:
    """Return the current batch's tally. Outside a batch, return a new tally that is discarded."""
    return TALLY.get(None) or Tally()


async def metered(work: Awaitable[_T]) -> tuple[_T, Tally]:
    """Await `work`, and return its result and a usage tally."""
    counted = Tally()
    token = TALLY.set(counted)
    try:
        return await work, counted
    finally:
        TALLY.reset(token)
