"""What a batch says to the logs: metrics, columns of the completions table, and each kind of fault once."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from rewardkit.aggregators.curriculum import Curriculum
from rewardkit.analysis import signal
from rewardkit.core.outcome import Fault, ScoreTable
from rewardkit.core.progress import Progress
from rewardkit.core.scorer import Scorer
from rewardkit.store.captured import MAX_KINDS, wording
from rewardkit_trl.checks import warn
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
        if str(count).rstrip("0") == "1":
            logger.warning(
                "reward %r %s (%d so far): %s\n%s", fault.component, fault.outcome, count, fault.reason, fault.traceback
            )


class Shares:
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
        self._curricula = {name: node for name, node in scorer.names.gauged if isinstance(node, Curriculum)}
        self._stages: dict[str, str] = {}

    def tell(self, progress: Progress | None) -> None:
        for name, node in self._curricula.items():
            if progress is not None and name not in self._stages:
                _warn_of_late_stages(name, node, progress.max_steps)
            stage = node.stage_at(progress)
            before = self._stages.get(name)
            if before is not None and before != stage and progress is not None:
                logger.info("%s: stage %r follows %r at step %d", name, stage, before, progress.step)
            self._stages[name] = stage


def _warn_of_late_stages(name: str, curriculum: Curriculum, max_steps: int) -> None:
    for stage in curriculum.stages:
        if isinstance(stage.until, int) and stage.until >= max_steps:
            warn(f"{name}: stage {stage.name!r} ends at step {stage.until}, but this training at {max_steps}")


def metrics(table: ScoreTable, tally: Tally, addends: Iterable[str], *, contributions: bool) -> dict[str, float]:
    """What is logged of a batch of all processes.

    ``components/``: raw means; ``weights/``: of the terms now; ``gates/``: pass rates; ``threshold/`` and ``stage/``:
    where they stand; ``judge_calls/`` and the like: what was measured; ``advantage_share/``: what causes the variance
    within groups; ``unscorable``: the share of completions without a learning signal; with `contributions` the means
    of the terms: together the mean total.
    """
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
        logged |= {f"advantage_share/{name}": float(share) for name, share in zip(addends, shares, strict=True)}
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
