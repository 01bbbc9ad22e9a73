"""The evaluator behind a list of reward functions: scores each batch once, logs it, and stops a run without signal."""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Mapping
from typing import Any, ClassVar

from rewardkit.core import states
from rewardkit.core.algebra import Reward
from rewardkit.core.batch import Batch
from rewardkit.core.errors import BindingError, RewardFailure
from rewardkit.core.outcome import ScoreTable
from rewardkit.core.progress import Progress
from rewardkit.core.scorer import Scorer
from rewardkit_trl.breaker import Breaker, Limits
from rewardkit_trl.checks import check_names, check_plain_sum, check_weights, warn, warn_of
from rewardkit_trl.columns import Layout
from rewardkit_trl.logs import FaultReport, Shares, StageReport, extras, metrics
from rewardkit_trl.memory import Memory
from rewardkit_trl.sharing import Call, SharedTables
from rewardkit_trl.tally import Tally
from rewardkit_trl.trainer import Trainer, progress_of


class Evaluator:
    """Scores each batch once, logs what it saw, and stops a run without signal.

    Pickled with its identity: unpickled in the same process it is the same object again, in another one all
    callables share a new one.
    """

    _alive: ClassVar[weakref.WeakValueDictionary[str, Evaluator]] = weakref.WeakValueDictionary()
    _making: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self,
        reward: Reward,
        layout: Layout,
        limits: Limits,
        logs: bool,
        *,
        identity: str = "",
        elsewhere: bool = False,
    ) -> None:
        self.reward = reward
        self.layout = layout
        self.limits = limits
        self.logs = logs
        self.identity = identity or uuid.uuid4().hex
        self.scorer = Scorer(reward)
        self.state: Any = None
        self.memory = Memory(self.scorer.followers)
        self._breaker = Breaker(limits)
        self._tables = SharedTables(readers=len(layout.names))
        self._trainer: weakref.ref[Any] | None = None
        self._trained = False
        self._warned = False
        self._elsewhere = elsewhere  # unpickled in another process than it was made in
        self._faults = FaultReport()
        self._shares = Shares()
        self._stages = StageReport(self.scorer)
        Evaluator._alive[self.identity] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (self.identity, self.reward, self.layout, self.limits, self.logs)

    def table(self, reader: str, call: Call) -> ScoreTable:
        """The scores of `call`, computed for the first of the functions that ask."""
        return self._tables.get(reader, call, self._evaluate)

    def _evaluate(self, call: Call) -> ScoreTable:
        trainer = Trainer.behind(call.context.get("log_metric"))
        if trainer.known and not trainer.same_as(self._trainer):
            self._meet(trainer)
        elif self._elsewhere and not trainer.known:
            check_plain_sum(self.layout)
        state = call.context.get("trainer_state") or self.state
        progress = self._progress(state, trainer)
        batch, start = self._batch(call, progress, trainer)
        whole = self.scorer.score(batch, strict=not self._trained)
        table = whole.part(start, start + len(call.completions)) if len(batch) > len(call.completions) else whole
        self._give_weights(progress, trainer)
        cut = trainer.num_generations is not None and len(batch) % trainer.num_generations != 0
        addends = self.layout.addends(whole, batch, progress, normalizes_each=trainer.normalizes_each)
        tally = Tally.of(whole, addends, None if cut else batch.groups, trainer.scale)
        if whole is table:  # otherwise it is that of all processes already
            tally = tally.summed(trainer.summed_over_ranks)
        if trainer.training:
            self._trained = True
            self.memory.learn(state, states.means(whole.components, tally.sums.tolist()))
        self._faults.add(table)
        if self.logs:
            # The terms are the trainer's own columns, whose means it logs, unless it was given the components.
            measured = metrics(whole, tally, addends, contributions=self.layout.columns == "components")
            self._log(table, {**measured, **self._shares.of(whole, tally)}, call, trainer)
        stop = self._breaker.add(tally.faults.astype(int).tolist(), list(whole.components))
        if stop is not None:
            trainer.stop_after_checkpoint(stop)
        return table

    def _progress(self, state: Any, trainer: Trainer) -> Progress | None:
        if state is not None:
            self.memory.recall(state)
        progress = progress_of(state, trainer.training, self.memory.means, self.memory.states)
        if self.layout.scheduled and progress is None:
            raise BindingError(
                "this reward follows training progress (a schedule, or a function that reads `progress`), but the "
                "trainer passes no trainer_state. Add callbacks=[funcs.callback()] to the trainer; asynchronous GRPO "
                "has no progress at all, so it takes only rewards without schedules"
            )
        if self.layout.scheduled and not trainer.known and not self._warned:
            self._warned = True
            warn("no trainer is in sight behind this call: it is taken for training, where schedules move")
        if trainer.training and trainer.is_main:
            self._stages.tell(progress)
        return progress

    def _batch(self, call: Call, progress: Progress | None, trainer: Trainer) -> tuple[Batch, int]:
        """What is scored together, and at which of its rows those of this process start."""
        generations, own = trainer.num_generations, len(call.completions)
        splits = self.layout.together == "group" and generations and own % generations  # a group ends elsewhere
        start = 0
        if trainer.processes > 1 and (splits or self.layout.together == "batch"):
            call, start = trainer.of_all_processes(call)
        elif splits:
            raise BindingError(
                f"this reward compares the {generations} completions of a prompt, but this process got {own}, a part "
                "of a group: make per_device_train_batch_size a multiple of num_generations"
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
        return batch, start

    def _give_weights(self, progress: Progress | None, trainer: Trainer) -> None:
        weights = self.layout.weights_at(progress)
        if weights and not trainer.set_weights(self, weights):
            raise RewardFailure(
                'columns="components" with scheduled weights needs a trainer whose reward_weights can be set: '
                'this one hides them; use columns="terms"'
            )

    def _meet(self, trainer: Trainer) -> None:
        """At the first call by a trainer; one that is refused is met again at the next."""
        held = trainer.weights_of(self)
        if held:
            check_weights(held, self.layout)
            check_names(trainer.reward_names, self.layout)
            warn_of(trainer, self.layout, self)
        self._trainer = trainer.reference
        self._trained = False
        self._breaker = Breaker(self.limits)

    def _log(self, table: ScoreTable, measured: Mapping[str, float], call: Call, trainer: Trainer) -> None:
        log_metric, log_extra = call.context.get("log_metric"), call.context.get("log_extra")
        if log_metric is not None:
            for name, value in measured.items():
                log_metric(name, value)
        if log_extra is not None and trainer.logs_completions:
            for name, values in extras(table).items():
                log_extra(name, values)


def _revived(identity: str, reward: Reward, layout: Layout, limits: Limits, logs: bool) -> Evaluator:
    with Evaluator._making:
        alive = Evaluator._alive.get(identity)
        return alive or Evaluator(reward, layout, limits, logs, identity=identity, elsewhere=True)
