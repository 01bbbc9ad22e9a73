"""Faults while a training runs: their number by component, and the log, where each kind appears once."""

from __future__ import annotations

import logging
import threading
from collections import Counter

import numpy as np

from rewardkit.core.batch.column import Floats
from rewardkit.core.batch.score import Fault
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import worth_reporting
from rewardkit.store.capture import MAX_KINDS, wording

logger = logging.getLogger("rewardkit")


class FaultReport:
    """Logs the faults of a run. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()

    def add(self, table: ScoreTable) -> None:
        """Log the faults of `table`."""
        with self._lock:
            for fault in table.faults:
                self._report(fault)

    def _report(self, fault: Fault) -> None:
        # Each kind of fault with its traceback: the first one, the tenth, the hundredth, ...
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
    """Return (components, 4): rows that were evaluated, failed, errored, and failed without harm to the total."""
    scorable = ~np.isnan(table.total)
    counts = []
    for column in table.components.values():
        *_, failed, errored, skipped = column.counts()
        # A fallback took over, or the reward is only monitored.
        harmless = int((column.unscorable & scorable).sum()) if failed else 0
        counts.append((len(table) - skipped, failed, errored, harmless))
    return np.array(counts, dtype=np.float64)
