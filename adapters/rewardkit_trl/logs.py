"""What a batch says to the logs: metrics, columns of the completions table, and each kind of fault once."""

from __future__ import annotations

import logging
import re
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from rewardkit.core.outcome import SCORED, Fault, ScoreTable

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


def metrics(table: ScoreTable) -> dict[str, float]:
    """What is logged of one batch: raw means, weights, gate pass rates, the share of unscorable rows."""
    logged: dict[str, float] = {}
    for name, column in table.components.items():
        scored = column.values[column.codes == SCORED]
        if len(scored):
            logged[f"components/{name}"] = float(scored.mean())
    logged |= {f"weights/{name}": weight for name, weight in table.weights.items()}
    logged |= {f"gates/{name}": rate for name, rate in table.gates.items()}
    # Zeros too: the trainer averages over the batches that logged it.
    logged["unscorable"] = float(np.isnan(table.total).mean())
    return logged


def extras(table: ScoreTable) -> dict[str, list[Any]]:
    """Per completion: each component's raw score (None where not scored), and the notes in one column."""
    columns: dict[str, list[Any]] = {f"components/{name}": nan_to_none(table[name]) for name in table.components}
    notes = [
        "; ".join(f"{name}: {column.notes[row]}" for name, column in table.components.items() if row in column.notes)
        for row in range(len(table))
    ]
    return {**columns, "notes": notes}


def nan_to_none(values: Any) -> list[float | None]:
    listed: list[float | None] = values.tolist()
    return [None if value != value else value for value in listed] if np.isnan(values).any() else listed
