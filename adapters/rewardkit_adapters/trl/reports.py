"""The log of a batch: metrics, columns of the completions table, and each kind of fault once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any

from rewardkit.analyze import signal
from rewardkit.batch.table import ScoreTable
from rewardkit.online.trainers import nan_to_none
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import weight_now
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit_adapters.trl.scored import Scored
from rewardkit_adapters.trl.tally import TRAJECTORY, Tally

MAX_PARTS = 64
"""Parts in one log entry: their names are the user's, who may make one for each completion."""
MAX_TOOLS = 64
"""Tools in one log entry: a policy may invent names."""

logger = logging.getLogger("rewardkit")


class OutcomeShares:
    """The shares of rows that were not scored. Thread-safe.

    A share is logged from the first batch in which it is not zero. From then on it is logged in every batch, because
    the trainer averages over the batches that logged it.
    """

    def __init__(self) -> None:
        self._started: set[str] = set()
        self._lock = threading.Lock()

    def of(self, table: ScoreTable, tally: Tally) -> dict[str, float]:
        """Return the shares by component: ``failed/<name>``, ``unparsable_gold/`` and ``errored/`` of evaluated rows,
        ``abstained/`` and ``skipped/`` of all rows.
        """
        shares = {}
        rows = tally.rows[0]
        for name, (evaluated, failed, errored, _, unparsable, _), absent in zip(
            table.components, tally.faults, tally.absent, strict=True
        ):
            for outcome, count, all_rows in (
                ("failed", failed, evaluated),
                ("unparsable_gold", unparsable, evaluated),
                ("errored", errored, evaluated),
                ("abstained", absent[0], rows),
                ("skipped", absent[1], rows),
            ):
                if all_rows:
                    shares[f"{outcome}/{name}"] = float(count / all_rows)
        with self._lock:
            self._started |= {name for name, share in shares.items() if share}
            return {name: share for name, share in shares.items() if name in self._started}


class TrajectoryReport:
    """The means over completions of the numbers of trajectories. Thread-safe.

    They are logged from the first batch that has more than one message with text for each completion. From then on
    they are logged in every batch, because the trainer averages over the batches that logged them.
    """

    def __init__(self) -> None:
        self._started = False
        self._tools: dict[str, None] = {}
        self._lock = threading.Lock()

    def of(self, scored: Scored) -> dict[str, float]:
        """Return ``trajectory/turns``, ``trajectory/calls`` and so on; ``trajectory/calls/<tool>`` for each tool."""
        more, rows, *sums = scored.tally.trajectories.tolist()
        with self._lock:
            self._started |= more > 0
            if not self._started or not rows:
                return {}
            for name, _ in sorted(scored.tools.items(), key=lambda item: (-item[1], item[0])):
                if len(self._tools) < MAX_TOOLS:
                    self._tools[name] = None
            means = {f"trajectory/{name}": total / rows for name, total in zip(TRAJECTORY, sums, strict=True)}
            return means | {f"trajectory/calls/{name}": scored.tools.get(name, 0) / rows for name in self._tools}


class StageReport:
    """Logs when a curriculum moves to another stage."""

    def __init__(self, scorer: Scorer) -> None:
        self._curricula = {name: node.facts for name, node in scorer.names.gauged if node.facts.stages}
        self._stages: dict[str, str] = {}

    def tell(self, progress: Progress | None) -> None:
        for name, facts in self._curricula.items():
            stage = max(facts.stages, key=lambda stage: weight_now(stage[1], progress))[0]
            before = self._stages.get(name)
            if before is not None and before != stage and progress is not None:
                logger.info("%s: moved from stage %r to %r at step %d", name, before, stage, progress.step)
            self._stages[name] = stage


def metrics(scored: Scored, means: Mapping[str, float], *, contributions: bool) -> dict[str, float]:
    """Return the metrics of a batch of all processes.

    ============================= ==================================================================
    ``components/<name>``         mean raw score
    ``parts/<name>/<part>``       mean of a part of a score, over the rows that have it
    ``weights/<name>``            current weight of a term
    ``contributions/<name>``      mean of a term, if `contributions`; together they are the mean total
    ``gates/<name>``              share of rows that passed
    ``threshold/``, ``stage/``    current threshold of a gate, stage of a curriculum
    ``judge_calls/<name>``, ...   what rewards measured
    ``advantage_share/<name>``    share of the variance within groups that a term causes
    ``unscorable``                share of completions without a learning signal
    ============================= ==================================================================
    """
    table, tally = scored.table, scored.tally
    logged = {f"components/{name}": mean for name, mean in means.items()}
    part_means = [(name, total / count) for name, (count, total) in scored.parts.items() if count]
    logged |= {f"parts/{name}": mean for name, mean in part_means[:MAX_PARTS]}
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
    # Logged even if 0: the trainer averages over the batches that logged it.
    logged["unscorable"] = float(unscorable / rows) if rows else 0.0
    return logged


def extras(table: ScoreTable) -> dict[str, list[Any]]:
    """Return the columns of the completions table: raw scores (None if not scored) and notes."""
    columns: dict[str, list[Any]] = {
        f"components/{name}": nan_to_none(column.scored) for name, column in table.components.items()
    }
    notes = [
        "; ".join(f"{name}: {column.notes[row]}" for name, column in table.components.items() if row in column.notes)
        for row in range(len(table))
    ]
    return {**columns, "notes": notes}
