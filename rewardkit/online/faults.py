"""Faults during training, counted by component; each kind is logged at its first, tenth, hundredth, ... occurrence.

An unreadable gold answer is logged once for each value, because each value must be fixed.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter

import numpy as np

from rewardkit.batch.column import Floats
from rewardkit.batch.score import Fault
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import worth_reporting
from rewardkit.record.capture import MAX_KINDS, wording

logger = logging.getLogger("rewardkit")

MAX_GOLDS = 1_000
"""The maximum number of unreadable gold answers to log separately: a column with 100,000 of them must not fill the
log."""


class FaultReport:
    """The thread-safe logger for a run's faults."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._golds: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def add(self, table: ScoreTable) -> None:
        """Log the faults in `table`, unless they repeat earlier faults."""
        with self._lock:
            for fault in table.faults:
                if not fault.unparsable or len(self._golds) >= MAX_GOLDS:
                    self._report(fault)
                elif (fault.component, fault.reason) not in self._golds:
                    self._golds.add((fault.component, fault.reason))
                    logger.warning(
                        "reward %r cannot read the gold answer in row %d of this batch. Rows with this gold "
                        "answer are not scored: %s",
                        fault.component,
                        fault.row,
                        fault.reason,
                    )

    def _report(self, fault: Fault) -> None:
        # The first, tenth, hundredth, ... fault of each kind is logged, with its traceback.
        kind = (fault.component, str(fault.outcome), wording(fault.reason))
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = (fault.component, str(fault.outcome), "")
        self._counts[kind] += 1
        count = self._counts[kind]
        if worth_reporting(count):
            logger.warning(
                "%s %s (%d so far): %s\n%s",
                f"reward {fault.component!r}" if fault.component else "a row",
                fault.outcome,
                count,
                fault.reason,
                fault.traceback,
            )


def fault_counts(table: ScoreTable) -> Floats:
    """Return the fault counts for `table` (components, 6), in the order of `breaker.Counts`."""
    scorable = ~np.isnan(table.total)
    counts = []
    for name, column in table.components.items():
        _, abstained, failed, errored, skipped = column.counts()
        evaluated = len(table) - skipped
        unparsable = table.unparsable(name) if failed else np.zeros(0, dtype=np.bool_)
        lost = int(unparsable.sum())
        # Rows with a total despite the failure: a fallback took over, or the reward is only monitored.
        harmless = int((column.unscorable & scorable & ~unparsable).sum()) if failed else 0
        counts.append((evaluated, failed - lost, errored, harmless, lost, evaluated - abstained - lost))
    return np.array(counts, dtype=np.float64)


def unparsable_golds(table: ScoreTable) -> set[tuple[str, str]]:
    """Return the component and reason for each gold answer in `table` that cannot be read."""
    return {(fault.component, fault.reason) for fault in table.faults if fault.unparsable}
