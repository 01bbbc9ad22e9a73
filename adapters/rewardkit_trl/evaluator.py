"""The evaluator behind a list of reward functions: scores each batch once, logs it, and stops a run without signal."""

from __future__ import annotations

import os
import threading
import time
import uuid
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rewardkit.core.algebra import Reward
from rewardkit.core.batch import Batch
from rewardkit.core.errors import BindingError, RunStopped
from rewardkit.core.outcome import Measured, ScoreTable
from rewardkit.core.progress import Progress
from rewardkit.core.scorer import Scorer
from rewardkit.store.captured import Capture
from rewardkit_trl.advantages import Spread
from rewardkit_trl.breaker import Breaker, Limits
from rewardkit_trl.checks import check_alone, check_plain_sum, check_trainer, warn
from rewardkit_trl.columns import Layout
from rewardkit_trl.logs import FaultReport, Shares, StageReport, extras, metrics
from rewardkit_trl.memory import Memory
from rewardkit_trl.scored import Scored
from rewardkit_trl.sharing import Call, SharedTables
from rewardkit_trl.tally import Tally
from rewardkit_trl.trainer import Trainer, progress_of

if TYPE_CHECKING:
    from rewardkit_trl.recording import Recording
    from rewardkit_trl.updates.taking import Updates


class Run:
    """What is known of one trainer's batches.

    Attributes:
        strict: whether a bug raises: until its first training batch is scored.
    """

    def __init__(self, limits: Limits, scorer: Scorer) -> None:
        self.strict = True
        self.breaker = Breaker(limits)
        self.shares = Shares()
        self.stages = StageReport(scorer)

    def take(self, limits: Limits, scorer: Scorer) -> None:
        """Another version of the reward scores from now on: what its components did is not known yet."""
        self.breaker = Breaker(limits)
        self.stages = StageReport(scorer)


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
        record: str | os.PathLike[str] | None = None,
        *,
        updates: bool = False,
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
        self._tables = SharedTables(readers=len(layout.names))
        self._runs: weakref.WeakKeyDictionary[Any, Run] = weakref.WeakKeyDictionary()
        self._alone = Run(limits, self.scorer)  # without a trainer in sight
        self._warned = False
        self._elsewhere = elsewhere  # unpickled in another process than it was made in
        self._faults = FaultReport()
        self.recording: Recording | None = None
        if record is not None:
            from rewardkit_trl.recording import Recording

            self.recording = Recording(record, self.scorer)
        self.updates: Updates | None = None
        if updates and self.recording is not None and self.recording.folder is not None:
            from rewardkit_trl.updates.taking import Updates

            self.updates = Updates(self.recording.folder, reward)
        Evaluator._alive[self.identity] = self

    def __reduce__(self) -> tuple[Any, ...]:
        record = None if self.recording is None else self.recording.path
        updates = self.updates is not None
        return _revived, (self.identity, self.reward, self.layout, self.limits, self.logs, record, updates)

    def take(self, reward: Reward, layout: Layout, trainer: Trainer, state: Any) -> None:
        """Scores with another reward from the next batch on."""
        self.reward, self.layout, self.scorer = reward, layout, Scorer(reward)
        self.memory.follow(self.scorer.followers, state)
        self._tables = SharedTables(readers=len(layout.names))
        run = trainer.kept_in(self._runs) if trainer.known else self._alone
        if run is not None:
            run.take(self.limits, self.scorer)
        if self.recording is not None:
            self.recording.take(self.scorer)

    def table(self, reader: str, call: Call) -> ScoreTable:
        """The scores of `call`, computed for the first of the functions that ask."""
        return self._tables.get(reader, call, self._evaluate)

    def _evaluate(self, call: Call) -> ScoreTable:
        trainer = Trainer.behind(call.context.get("log_metric"))
        state = call.context.get("trainer_state") or self.state
        run = self._run_of(trainer, state)
        progress = self._progress(state, trainer)
        scored = self._scored(call, progress, trainer, run)
        trainer.set_weights(self, self.layout.weights_at(progress))
        if trainer.training:
            run.strict = False
            if self.updates is not None:
                self.updates.scored = self.updates.version
            self.memory.learn(
                state, scored.tally.means(scored.table), scored.tally.followed_means(self.scorer.followers)
            )
        self._faults.add(scored.table)
        measured = self._measured(scored, run) if self.logs or self.recording is not None else {}
        if self.logs:
            self._log(scored, measured, progress, call, trainer, run)
        if self.recording is not None:
            self.recording.add(scored, call, trainer, state, measured, trainer.way_to_advantages(self))
        stop = run.breaker.add(scored.tally.faults.astype(int).tolist(), list(scored.table.components))
        if scored.tally.stops.any():  # on all processes alike, whichever of them met it
            stop = RunStopped(next(filter(None, trainer.of_each_process(scored.table.stop))))
        if stop is not None:
            trainer.stop_after_checkpoint(stop)
        return scored.table

    def _run_of(self, trainer: Trainer, state: Any) -> Run:
        """What is known of the trainer; at its first call it is checked, one that is refused at the next again."""
        if not trainer.known:
            check_alone(self.layout)
            if self._elsewhere:
                check_plain_sum(self.layout)
                if self.updates is not None:
                    self.updates.refuse_elsewhere()
            return self._alone
        if self.updates is not None and trainer.training:
            self.updates.begin(self, trainer, state, scoring=True)
        run = trainer.kept_in(self._runs)
        if run is None:
            check_trainer(trainer, self.layout, self)
            run = trainer.keep_in(self._runs, Run(self.limits, self.scorer))
            if self.recording is not None:
                trainer.join(self)
        return run

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
        return progress

    def _scored(self, call: Call, progress: Progress | None, trainer: Trainer, run: Run) -> Scored:
        """The rows of this process, and what those of all processes add up to."""
        generations, own = trainer.num_generations, len(call.completions)
        split = self.layout.together == "group" and generations and own % generations  # a group ends elsewhere
        if trainer.processes > 1 and (split or self.layout.together == "batch"):
            everything, start = trainer.of_all_processes(call)
            # By one process for all: a judge asked twice may answer twice.
            scored: Scored = trainer.on_main(lambda: self._score(everything, progress, trainer, run, whole=True))
            return scored.part(start, start + own, main=trainer.is_main)
        if split:
            raise BindingError(
                f"this reward compares the {generations} completions of a prompt, but this process got {own}, a part "
                "of a group: make per_device_train_batch_size a multiple of num_generations"
            )
        scored = self._score(call, progress, trainer, run)
        table = scored.table
        if self.scorer.measures:
            table = replace(table, measures=_joined(trainer.of_each_process(table.measures)))
        return replace(scored, table=table, tally=scored.tally.summed(trainer.summed_over_ranks))

    def _score(
        self, call: Call, progress: Progress | None, trainer: Trainer, run: Run, *, whole: bool = False
    ) -> Scored:
        """The rows of `call`: this process's, or the `whole` batch's."""
        generations = trainer.num_generations
        batch = Batch(
            call.completions,
            prompts=call.prompts,
            completion_ids=call.completion_ids,
            columns=call.columns,
            progress=progress,
            num_generations=generations,
            context=call.context,
        )
        started = time.perf_counter()
        with self._listening() as capture:
            # A process that raised by itself would leave the others waiting for it.
            table = self.scorer.score(batch, strict=run.strict, stops=not trainer.known)
        seconds = time.perf_counter() - started
        addends = self.layout.addends(table, batch, progress, normalizes_each=trainer.normalizes_each)
        cut = generations is not None and len(batch) % generations != 0
        followed = [follower.component for follower in self.scorer.followers]
        totals = np.where(np.isnan(table.total), np.nan, np.nansum(list(addends.values()), axis=0))
        tally = Tally.of(table, addends, None if cut else batch.groups, trainer.scale, followed, totals)
        lines = () if capture is None else tuple(capture.lines)
        spread = None if cut or self.recording is None else Spread.of(totals, batch.groups)
        if self.updates is not None and trainer.training:
            groups, way = None if cut else batch.groups, trainer.way_to_advantages(self)
            processes = 1 if whole else trainer.processes
            self.updates.remember(batch, groups, table, totals, self.memory.states, way, processes)
        return Scored(table, tally, tuple(addends), spread, batch.groups, seconds, lines)

    def _listening(self) -> AbstractContextManager[Capture | None]:
        """Hears what reward functions say, where it is recorded."""
        return nullcontext() if self.recording is None else Capture()

    def _measured(self, scored: Scored, run: Run) -> Mapping[str, float]:
        """What is said of the batch of all processes."""
        # The terms are the trainer's own columns, whose means it logs, unless it was given the components.
        contributions = self.layout.columns == "components"
        return {
            **metrics(scored.table, scored.tally, scored.addends, contributions=contributions),
            **run.shares.of(scored.table, scored.tally),
            **({} if self.updates is None else {"reward_version": float(self.updates.version)}),
        }

    def _log(
        self,
        scored: Scored,
        measured: Mapping[str, float],
        progress: Progress | None,
        call: Call,
        trainer: Trainer,
        run: Run,
    ) -> None:
        log_metric, log_extra = call.context.get("log_metric"), call.context.get("log_extra")
        if trainer.training and trainer.is_main:
            run.stages.tell(progress)
        if log_metric is not None:
            for name, value in measured.items():
                log_metric(name, value)
        if log_extra is not None and trainer.logs_completions:
            for name, values in extras(scored.table).items():
                log_extra(name, values)


def _joined(measures: Sequence[Mapping[str, Measured]]) -> dict[str, Measured]:
    """What the processes measured, as one."""
    joined: dict[str, Measured] = {}
    for name, found in chain.from_iterable(own.items() for own in measures):
        joined[name] = joined[name] + found if name in joined else found
    return joined


def _revived(
    identity: str, reward: Reward, layout: Layout, limits: Limits, logs: bool, record: str | None, updates: bool
) -> Evaluator:
    with Evaluator._making:
        alive = Evaluator._alive.get(identity)
        return alive or Evaluator(
            reward, layout, limits, logs, record, updates=updates, identity=identity, elsewhere=True
        )
