"""The circuit breaker: a run whose rewards fail or err too often has no signal, and stops."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rewardkit.core.batch.score import ERRORED, FAILED, SKIPPED
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import RewardDefinitionError, RewardFailure


@dataclass(frozen=True)
class Limits:
    """Highest shares of failed and errored rows over a window of batches."""

    max_failure_rate: float
    max_error_rate: float
    window: int

    def __post_init__(self) -> None:
        for name, rate in (("max_failure_rate", self.max_failure_rate), ("max_error_rate", self.max_error_rate)):
            if not 0.0 <= rate <= 1.0:
                raise RewardDefinitionError(f"{name} is a share from 0.0 to 1.0, got {rate}")
        if self.window < 1:
            raise RewardDefinitionError(f"failure_window is a number of batches from 1 on, got {self.window}")


class Breaker:
    """Watches the fault counts of the last batches. Safe to share between threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batches: deque[Sequence[Sequence[int]]] = deque(maxlen=limits.window)
        self._lock = threading.Lock()

    @staticmethod
    def counts(table: ScoreTable) -> list[list[int]]:
        """(components, 4) evaluated, failed, errored rows of one batch, and failed ones that did no harm."""
        if not table.faults:
            return [[int(np.count_nonzero(column.codes != SKIPPED)), 0, 0, 0] for column in table.components.values()]
        scorable = ~np.isnan(table.total)
        return [
            [
                int(np.count_nonzero(rows))
                for rows in (
                    column.codes != SKIPPED,
                    column.codes == FAILED,
                    column.codes == ERRORED,
                    # A fallback stood in, or the reward is only monitored.
                    column.unscorable & scorable,
                )
            ]
            for column in table.components.values()
        ]

    def add(self, counts: Sequence[Sequence[int]], names: Sequence[str]) -> RewardFailure | None:
        """The reason to stop, once the window is full and a component is over its limit; then it starts anew."""
        with self._lock:
            self._batches.append(counts)
            if len(self._batches) < self._limits.window:
                return None
            totals = np.sum([np.asarray(batch) for batch in self._batches], axis=0).tolist()
            stop = next(filter(None, map(self._verdict, names, totals)), None)
            if stop is not None:
                self._batches.clear()
            return stop

    def _verdict(self, name: str, totals: Sequence[int]) -> RewardFailure | None:
        evaluated, failed, errored, harmless = totals
        for count, kind, limit, option in (
            (failed - harmless, "failed", self._limits.max_failure_rate, "max_failure_rate"),
            (errored, "errored", self._limits.max_error_rate, "max_error_rate"),
        ):
            if evaluated and count / evaluated > limit:
                return RewardFailure(
                    f"reward {name!r} {kind} on {count:,} of {evaluated:,} completions of the last "
                    f"{self._limits.window} batches, more than {limit:.0%}: this run trains on noise. See the "
                    f"log for the reasons; {option}= sets the limit"
                )
        return None
