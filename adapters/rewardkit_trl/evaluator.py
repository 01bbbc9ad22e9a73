"""One evaluation per batch behind all the callables of a list.

TRL calls each function in turn with the very same ``completions`` list: the first call scores, the others read.
"""

from __future__ import annotations

import logging
import threading
import uuid
import warnings
import weakref
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rewardkit.core.algebra import Reward
from rewardkit.core.batch import Batch
from rewardkit.core.errors import BindingError, RewardFailure, RewardKitWarning
from rewardkit.core.outcome import ERRORED, FAILED, SKIPPED, ScoreTable
from rewardkit.core.scorer import Scorer
from rewardkit_trl.breaker import Breaker, Limits
from rewardkit_trl.columns import Layout
from rewardkit_trl.trainer import Trainer, progress_of

logger = logging.getLogger("rewardkit")

MAX_ENTRIES = 64
"""Batches held at once: several groups may be in flight in several threads."""


@dataclass(frozen=True)
class Call:
    """The arguments of one call by the trainer."""

    completions: list[Any]
    prompts: Any
    completion_ids: Any
    columns: Mapping[str, Any]
    context: Mapping[str, Any]

    @property
    def identity(self) -> tuple[int, ...]:
        """Which very objects it was made with; they live as long as the call does."""
        return tuple(id(value) for value in (self.completions, self.prompts, *self.columns.values()))


@dataclass
class _Entry:
    call: Call
    table: Future[ScoreTable] = field(default_factory=Future)
    readers: set[str] = field(default_factory=set)


class Evaluator:
    """Scores each batch once, logs what it saw, and stops a run without signal.

    Pickled with its identity: unpickled in the same process it is the same object again, in another one all
    callables share a new one.
    """

    _alive: ClassVar[weakref.WeakValueDictionary[str, Evaluator]] = weakref.WeakValueDictionary()
    _making: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, reward: Reward, layout: Layout, limits: Limits, logs: bool, identity: str = "") -> None:
        self.reward = reward
        self.layout = layout
        self.limits = limits
        self.logs = logs
        self.identity = identity or uuid.uuid4().hex
        self.scorer = Scorer(reward)
        self.state: Any = None
        self.functions: list[Any] = []
        self._breaker = Breaker(limits)
        self._entries: dict[tuple[int, ...], _Entry] = {}
        self._lock = threading.Lock()
        self._trained = False
        self._checked = False
        self._seen_faults: dict[tuple[str, str], int] = {}
        Evaluator._alive[self.identity] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (self.identity, self.reward, self.layout, self.limits, self.logs)

    def table(self, reader: str, call: Call) -> ScoreTable:
        """The scores of `call`; computed for the first reader, kept until all have read."""
        key = call.identity
        with self._lock:
            entry = self._entries.get(key)
            mine = entry is None or reader in entry.readers
            if entry is None or mine:
                entry = _Entry(call)
                self._entries[key] = entry
                while len(self._entries) > MAX_ENTRIES:
                    self._entries.pop(next(iter(self._entries)))
            entry.readers.add(reader)
            if len(entry.readers) >= len(self.layout.names) and self._entries.get(key) is entry:
                del self._entries[key]
        if mine:
            try:
                entry.table.set_result(self._evaluate(call))
            except BaseException as error:
                entry.table.set_exception(error)
                with self._lock:
                    self._entries.pop(key, None)
        return entry.table.result()

    def _evaluate(self, call: Call) -> ScoreTable:
        trainer = Trainer.behind(call.context.get("log_metric"))
        if trainer.known and not self._checked:
            self._check_trainer(trainer)
        progress = progress_of(call.context.get("trainer_state") or self.state, trainer.training)
        if self.layout.scheduled and progress is None:
            raise BindingError(
                "a weight or threshold of this reward follows a schedule, but the trainer passes no trainer_state. "
                "Add callbacks=[funcs.callback()] to the trainer; asynchronous GRPO has no progress at all, "
                "so it takes only rewards without schedules"
            )
        generations = trainer.num_generations
        if self.layout.grouped and generations and len(call.completions) % generations:
            raise BindingError(
                f"this reward compares the {generations} completions of a prompt, but this process got "
                f"{len(call.completions)}, a part of a group: make per_device_train_batch_size a multiple of "
                "num_generations"
            )
        batch = Batch(
            call.completions,
            prompts=call.prompts,
            completion_ids=call.completion_ids,
            columns=call.columns,
            progress=progress,
            num_generations=generations,
            context=call.context,
        )
        table = self.scorer.score(batch, strict=not self._trained)
        if trainer.training:
            self._trained = True
        self.layout.move_weights(trainer, self.functions, progress)
        self._report_faults(table)
        counts = trainer.summed_over_ranks(Breaker.counts(table))
        stop = self._breaker.add(counts, list(table.components))
        if self.logs:
            self._log(table, call.context, trainer)
        if stop is not None:
            trainer.stop_after_checkpoint(stop)
        return table

    def _check_trainer(self, trainer: Trainer) -> None:
        """At the first call: the sum that the trainer will make must be the total."""
        self._checked = True
        held = trainer.weights_of(self.functions)
        if held is not None and not np.allclose(held, self.layout.weights, rtol=1e-5, atol=1e-7):
            raise RewardFailure(
                f"the trainer holds the reward weights {held}, but {self.layout.weights} are needed for "
                f"{self.layout.names}: pass GRPOConfig(reward_weights=funcs.reward_weights)"
                + (", or leave reward_weights out" if set(self.layout.weights) == {1.0} else "")
            )
        ours = {id(function) for function in self.functions}
        if held is not None and any(id(function) not in ours for function in trainer.reward_functions):
            warnings.warn(
                "other reward functions stand beside rewardkit's: a completion that cannot be scored still gets "
                "theirs, so it keeps a learning signal",
                RewardKitWarning,
                stacklevel=2,
            )

    def _report_faults(self, table: ScoreTable) -> None:
        """Each kind of fault once with its traceback, then at every tenfold count."""
        for fault in table.faults:
            kind = (fault.component, fault.reason.split(":")[0])
            count = self._seen_faults.get(kind, 0) + 1
            self._seen_faults[kind] = count
            if count == 1 or (count >= 10 and str(count).strip("0") == "1"):
                logger.warning(
                    "reward %r %s (%d so far): %s\n%s",
                    fault.component,
                    fault.outcome,
                    count,
                    fault.reason,
                    fault.traceback,
                )

    def _log(self, table: ScoreTable, context: Mapping[str, Any], trainer: Trainer) -> None:
        log_metric, log_extra = context.get("log_metric"), context.get("log_extra")
        if log_metric is not None:
            for name, value in metrics(table).items():
                log_metric(name, value)
        if log_extra is not None and trainer.logs_completions:
            for name, values in extras(table).items():
                log_extra(name, values)


def metrics(table: ScoreTable) -> dict[str, float]:
    """What is logged of one batch: raw means, weights, gate pass rates, shares of failed and errored rows."""
    logged: dict[str, float] = {}
    for name, column in table.components.items():
        scored = column.scored
        if not np.isnan(scored).all():
            logged[f"components/{name}"] = float(np.nanmean(scored))
        evaluated = np.count_nonzero(column.codes != SKIPPED)
        for kind, code in (("failed", FAILED), ("errored", ERRORED)):
            count = np.count_nonzero(column.codes == code)
            if evaluated and count:
                logged[f"{kind}/{name}"] = count / evaluated
    logged |= {f"weights/{name}": weight for name, weight in table.weights.items()}
    logged |= {f"gates/{name}": rate for name, rate in table.gates.items()}
    unscorable = np.isnan(table.total)
    if unscorable.any():
        logged["unscorable"] = float(unscorable.mean())
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
    return [None if value != value else value for value in values.tolist()]


def _revived(identity: str, reward: Reward, layout: Layout, limits: Limits, logs: bool) -> Evaluator:
    with Evaluator._making:
        return Evaluator._alive.get(identity) or Evaluator(reward, layout, limits, logs, identity)
