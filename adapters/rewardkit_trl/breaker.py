"""The circuit breaker: a run whose rewards fail or err too often has no signal, and stops."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rewardkit.core.errors import RewardDefinitionError, RewardFailure
from rewardkit.core.outcome import ERRORED, FAILED, SKIPPED, ScoreTable


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
    """Counts per component (evaluated, failed, errored) rows of the last batches."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._batches: deque[Sequence[Sequence[int]]] = deque(maxlen=limits.window)

    @staticmethod
    def counts(table: ScoreTable) -> list[list[int]]:
        """(components, 3) evaluated, failed and errored rows of one batch."""
        return [
            [
                int(np.count_nonzero(column.codes != SKIPPED)),
                int(np.count_nonzero(column.codes == FAILED)),
                int(np.count_nonzero(column.codes == ERRORED)),
            ]
            for column in table.components.values()
        ]

    def add(self, counts: Sequence[Sequence[int]], names: Sequence[str]) -> RewardFailure | None:
        """The reason to stop, once the window is full and a component is over its limit."""
        self._batches.append(counts)
        if len(self._batches) < self._limits.window:
            return None
        for position, name in enumerate(names):
            evaluated, failed, errored = (sum(batch[position][kind] for batch in self._batches) for kind in range(3))
            for count, kind, limit, option in (
                (failed, "failed", self._limits.max_failure_rate, "max_failure_rate"),
                (errored, "errored", self._limits.max_error_rate, "max_error_rate"),
            ):
                if evaluated and count / evaluated > limit:
                    return RewardFailure(
                        f"reward {name!r} {kind} on {count:,} of {evaluated:,} completions of the last "
                        f"{len(self._batches)} batches, more than {limit:.0%}: this run trains on noise. See the "
                        f"log for the reasons; {option}= sets the limit"
                    )
        return None
