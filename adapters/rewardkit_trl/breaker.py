"""The circuit breaker: it stops a run if too many rows have failed or errored, because nothing is learned from them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rewardkit.core.errors import RewardDefinitionError, RewardFailure


@dataclass(frozen=True)
class Limits:
    """The highest shares of failed and errored rows, 0.0 to 1.0, over the last `window` batches."""

    max_failure_rate: float
    max_error_rate: float
    window: int

    def __post_init__(self) -> None:
        for name, rate in (("max_failure_rate", self.max_failure_rate), ("max_error_rate", self.max_error_rate)):
            if not 0.0 <= rate <= 1.0:
                raise RewardDefinitionError(f"{name} must be a share from 0.0 to 1.0, got {rate}")
        if self.window < 1:
            raise RewardDefinitionError(f"failure_window must be a number of batches, at least 1, got {self.window}")


class Breaker:
    """Adds up the faults of the last batches. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batches: deque[Sequence[Sequence[float]]] = deque(maxlen=limits.window)
        self._lock = threading.Lock()

    def add(self, counts: Sequence[Sequence[float]], names: Sequence[str]) -> RewardFailure | None:
        """Add one batch. Return the error to stop with if the window is full and a component is over its limit.

        Args:
            counts: (components, 4) as ``tally.fault_counts`` returns them, over all processes.
            names: the names of the components.
        """
        with self._lock:
            self._batches.append(counts)
            if len(self._batches) < self._limits.window:
                return None
            totals = np.sum(list(self._batches), axis=0).astype(int).tolist()
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
                    f"log for the reasons and fix them; {option}= sets the limit"
                )
        return None
