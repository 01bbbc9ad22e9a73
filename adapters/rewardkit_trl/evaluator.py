"""One evaluation per batch behind all the callables of a list.

TRL calls each function in turn with the very same ``completions`` list: the first call scores, the others read.
"""

from __future__ import annotations

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
from rewardkit.core.outcome import SCORED, ScoreTable
from rewardkit.core.scorer import Scorer
from rewardkit_trl.breaker import Breaker, Limits
from rewardkit_trl.columns import Layout
from rewardkit_trl.faults import FaultReport
from rewardkit_trl.trainer import Trainer, progress_of

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
        self._breaker = Breaker(limits)
        self._entries: dict[tuple[int, ...], _Entry] = {}
        self._lock = threading.Lock()
        self._trainer: weakref.ref[Any] | None = None
        self._trained = False
        self._warned = False
        self._faults = FaultReport()
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
                    if self._entries.get(key) is entry:
                        del self._entries[key]
        return entry.table.result()

    def _evaluate(self, call: Call) -> ScoreTable:
        trainer = Trainer.behind(call.context.get("log_metric"))
        if trainer.known and not trainer.same_as(self._trainer):
            self._meet(trainer)
        progress = progress_of(call.context.get("trainer_state") or self.state, trainer.training)
        if self.layout.scheduled and progress is None:
            raise BindingError(
                "this reward follows training progress (a schedule, or a function that reads `progress`), but the "
                "trainer passes no trainer_state. Add callbacks=[funcs.callback()] to the trainer; asynchronous GRPO "
                "has no progress at all, so it takes only rewards without schedules"
            )
        if self.layout.scheduled and not trainer.known and not self._warned:
            self._warned = True
            _warn("no trainer is in sight behind this call: it is taken for training, where schedules move")
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
        self.layout.move_weights(trainer, self, progress)
        counts = trainer.summed_over_ranks(Breaker.counts(table))
        shares = self._faults.add(table, counts)
        stop = self._breaker.add(counts, list(table.components))
        if self.logs:
            self._log(table, shares, call.context, trainer)
        if stop is not None:
            trainer.stop_after_checkpoint(stop)
        return table

    def _meet(self, trainer: Trainer) -> None:
        """At the first call by a trainer; one that is refused is met again at the next."""
        held = trainer.weights_of(self)
        if held:
            self._check_weights(held)
            self._warn_of(trainer)
        self._trainer = trainer.reference
        self._trained = False
        self._breaker = Breaker(self.limits)

    def _check_weights(self, held: list[tuple[str, float]]) -> None:
        """The sum that the trainer will make must be the total."""
        needed = dict(zip(self.layout.names, self.layout.weights, strict=True))
        if sorted(name for name, _ in held) != sorted(needed):
            raise RewardFailure(
                f"the trainer holds the reward functions {[name for name, _ in held]} out of {list(needed)}: pass the "
                "whole list that to_trl returned, once; only together are they the reward"
            )
        if not np.allclose([weight for _, weight in held], [needed[name] for name, _ in held], rtol=1e-5, atol=1e-7):
            raise RewardFailure(
                f"the trainer holds the reward weights {dict(held)}, but {needed} are needed: pass "
                "GRPOConfig(reward_weights=funcs.reward_weights)"
                + (", or leave reward_weights out" if set(self.layout.weights) == {1.0} else "")
            )

    def _warn_of(self, trainer: Trainer) -> None:
        if any(getattr(function, "evaluator", None) is not self for function in trainer.reward_functions):
            _warn(
                "other reward functions stand beside rewardkit's: a completion that cannot be scored still gets "
                "theirs, so it keeps a learning signal"
            )
        if trainer.normalizes_each and not self.layout.separable:
            _warn(
                'multi_objective_aggregation="normalize_then_sum" normalises every reward function by itself: weights '
                "inside a term cancel, and a total is not taken apart. Write a plain weighted sum and pass it with "
                'columns="components" and reward_weights=funcs.reward_weights'
            )

    def _log(
        self, table: ScoreTable, shares: Mapping[str, float], context: Mapping[str, Any], trainer: Trainer
    ) -> None:
        log_metric, log_extra = context.get("log_metric"), context.get("log_extra")
        if log_metric is not None:
            for name, value in {**metrics(table), **shares}.items():
                log_metric(name, value)
        if log_extra is not None and trainer.logs_completions:
            for name, values in extras(table).items():
                log_extra(name, values)


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


def _warn(message: str) -> None:
    # The frame that would be named is the trainer's or a thread's, never the user's.
    warnings.warn(message, RewardKitWarning, stacklevel=2)


def _revived(identity: str, reward: Reward, layout: Layout, limits: Limits, logs: bool) -> Evaluator:
    with Evaluator._making:
        return Evaluator._alive.get(identity) or Evaluator(reward, layout, limits, logs, identity)
