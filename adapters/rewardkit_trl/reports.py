"""What a batch says to the logs: metrics, columns of the completions table, and each kind of fault once."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from typing import Any

import numpy as np

from rewardkit.analysis import signal
from rewardkit.core.batch.score import Fault
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import warn, worth_reporting
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.core.progress.schedule import weight_now
from rewardkit.core.tree.reward import Facts
from rewardkit.store.capture import MAX_KINDS, wording
from rewardkit_trl.scored import Scored
from rewardkit_trl.tally import Tally

logger = logging.getLogger("rewardkit")


class FaultReport:
    """Counts the faults of a run. Safe to share between threads."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()

    def add(self, table: ScoreTable) -> None:
        """Logs the faults of `table`."""
        with self._lock:
            for fault in table.faults:
                self._report(fault)

    def _report(self, fault: Fault) -> None:
        """Each kind of fault once with its traceback, then at every tenfold count."""
        kind = (fault.component, str(fault.outcome), wording(fault.reason))
        if kind not in self._counts and len(self._counts) >= MAX_KINDS:
            kind = (fault.component, str(fault.outcome), "")
        self._counts[kind] += 1
        count = self._counts[kind]
        if worth_reporting(count):
            logger.warning(
                "reward %r %s (%d so far): %s\n%s", fault.component, fault.outcome, count, fault.reason, fault.traceback
            )


class OutcomeShares:
    """Shares of outcomes that a healthy reward has none of. Safe to share between threads.

    A share is left out until it first differs from zero; from then on it is there in every batch, because the trainer
    averages over the batches that logged it.
    """

    def __init__(self) -> None:
        self._started: set[str] = set()
        self._lock = threading.Lock()

    def of(self, table: ScoreTable, tally: Tally) -> dict[str, float]:
        """``failed/<name>`` and ``errored/<name>`` of the evaluated rows; ``abstained/`` and ``skipped/`` of all."""
        found = {}
        rows = tally.rows[0]
        for name, (evaluated, failed, errored, _), absent in zip(
            table.components, tally.faults, tally.absent, strict=True
        ):
            for outcome, count, all_rows in (
                ("failed", failed, evaluated),
                ("errored", errored, evaluated),
                ("abstained", absent[0], rows),
                ("skipped", absent[1], rows),
            ):
                if all_rows:
                    found[f"{outcome}/{name}"] = float(count / all_rows)
        with self._lock:
            self._started |= {name for name, share in found.items() if share}
            return {name: share for name, share in found.items() if name in self._started}


class StageReport:
    """Says when a curriculum moves to another stage."""

    def __init__(self, scorer: Scorer) -> None:
        self._curricula = {name: node.facts for name, node in scorer.names.gauged if node.facts.stages}
        self._stages: dict[str, str] = {}

    def tell(self, progress: Progress | None) -> None:
        for name, facts in self._curricula.items():
            if progress is not None and name not in self._stages:
                _warn_of_late_stages(name, facts, progress.max_steps)
            stage = max(facts.stages, key=lambda stage: weight_now(stage[1], progress))[0]
            before = self._stages.get(name)
            if before is not None and before != stage and progress is not None:
                logger.info("%s: stage %r follows %r at step %d", name, stage, before, progress.step)
            self._stages[name] = stage


def _warn_of_late_stages(name: str, facts: Facts, max_steps: int) -> None:
    for tunable in facts.tunables:
        if tunable.kind == "schedules" and isinstance(tunable.value, int) and tunable.value >= max_steps:
            warn(f"{name}: stage {tunable.stage!r} ends at step {tunable.value}, but this training at {max_steps}")


def metrics(scored: Scored, *, contributions: bool) -> dict[str, float]:
    """What is logged and recorded of a batch of all processes.

    ``components/``: raw means; ``weights/``: of the terms now; ``gates/``: pass rates; ``threshold/`` and ``stage/``:
    where they stand; ``judge_calls/`` and the like: what was measured; ``advantage_share/``: what causes the variance
    within groups; ``unscorable``: the share of completions without a learning signal; with `contributions` the means
    of the terms: together the mean total.
    """
    table, tally = scored.table, scored.tally
    logged: dict[str, float] = {}
    logged |= {f"components/{name}": mean for name, mean in tally.means(table).items()}
    for name, (reached, weight) in zip(table.terms, tally.weights, strict=True):
        if reached:
            logged[f"weights/{name}"] = float(weight / reached)
    rows, unscorable = tally.rows
    if contributions and rows > unscorable:
        means = tally.contributions / (rows - unscorable)
        logged |= {f"contributions/{name}": float(mean) for name, mean in zip(table.terms, means, strict=True)}
    for name, (reached, passed) in zip(table.passed, tally.gates, strict=True):
        if reached:
            logged[f"gates/{name}"] = float(passed / reached)
    logged |= table.gauges
    logged |= table.measured
    shares = signal.shares(tally.caused, float(tally.variance[0]))
    if shares is not None:
        logged |= {f"advantage_share/{name}": float(share) for name, share in zip(scored.addends, shares, strict=True)}
    # Zeros too: the trainer averages over the batches that logged it.
    logged["unscorable"] = float(unscorable / rows) if rows else 0.0
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
