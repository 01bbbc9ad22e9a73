"""What is said about faults: each kind once in the log with its traceback, and their shares as metrics."""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Sequence

from rewardkit.core.outcome import Fault, ScoreTable

logger = logging.getLogger("rewardkit")

MAX_KINDS = 200
"""Different messages at most; reasons may quote completions, which never repeat."""


class FaultReport:
    """Counts the faults of a run. Safe to share between threads."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._started: set[str] = set()
        self._lock = threading.Lock()

    def add(self, table: ScoreTable, counts: Sequence[Sequence[int]]) -> dict[str, float]:
        """Logs the faults of `table`; returns the shares ``failed/<name>`` and ``errored/<name>`` of all ranks.

        A share is left out until it first differs from zero; from then on it is there in every batch, because the
        trainer averages over the batches that logged it.
        """
        with self._lock:
            for fault in table.faults:
                self._report(fault)
            shares = {}
            for name, (evaluated, failed, errored, _) in zip(table.components, counts, strict=True):
                for metric, count in ((f"failed/{name}", failed), (f"errored/{name}", errored)):
                    if count:
                        self._started.add(metric)
                    if metric in self._started and evaluated:
                        shares[metric] = count / evaluated
            return shares

    def _report(self, fault: Fault) -> None:
        """Each kind of fault once with its traceback, then at every tenfold count."""
        kind = (fault.component, str(fault.outcome), _wording(fault.reason))
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = (fault.component, str(fault.outcome), "")
        self._counts[kind] += 1
        count = self._counts[kind]
        if str(count).rstrip("0") == "1":
            logger.warning(
                "reward %r %s (%d so far): %s\n%s", fault.component, fault.outcome, count, fault.reason, fault.traceback
            )


def _wording(reason: str) -> str:
    """The words of a reason before its first number, quotation or detail: what faults of one kind share."""
    found = re.match(r"[^\d:;,.'\"(\[{<]*", reason)
    return found[0][:60] if found else ""
