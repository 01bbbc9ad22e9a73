"""The evaluator that a list of reward functions shares. It scores each batch once and reports the results."""

from __future__ import annotations

import logging
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, final

from rewardkit.analyze import signal
from rewardkit.analyze.permuted_golds import ForeignScores
from rewardkit.batch.batch import Batch
from rewardkit.batch.table import ScoreTable
from rewardkit.errors import BindingError, RewardKitError, RunStopped, warn
from rewardkit.online.batch_cache import BatchCache, Table
from rewardkit.online.breaker import Breaker, Limits, WrongColumns
from rewardkit.online.faults import FaultReport, unparsable_golds
from rewardkit.online.radar import OFF, ON, Radar
from rewardkit.online.trainers import nan_to_none, progress_of
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import weight_now
from rewardkit.tree.evaluation.scorer import Scorer, require_float32
from rewardkit.tree.reward import Reward
from rewardkit_adapters.trl.calls import (
    PLAIN,
    Episodes,
    TrainerCall,
    warn_of_environments,
    warn_of_rollouts,
    warn_of_tokens,
)
from rewardkit_adapters.trl.checks import check_alone, check_plain_sum, check_trainer, honored
from rewardkit_adapters.trl.layout import RewardColumns
from rewardkit_adapters.trl.memory import Memory
from rewardkit_adapters.trl.scored import Prepared, Scored, score
from rewardkit_adapters.trl.tally import TRAJECTORY, Tally
from rewardkit_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from rewardkit_adapters.trl.recording import Recording


# The log of a batch: metrics, columns of the completions table, and one message for each kind of fault.


MAX_PARTS = 64
"""The maximum number of parts in one log entry. The limit is arbitrary, but necessary because users choose part names
and may use a different name for each completion."""
MAX_TOOLS = 64
"""The maximum number of tools in one log entry. The limit is arbitrary, but necessary because a policy may invent tool
names."""

logger = logging.getLogger("rewardkit")


class OutcomeShares:
    """The shares of rows that were not scored. Thread-safe.

    A share is first logged in the first batch in which it is not zero. It is then logged in every batch, because the
    trainer averages a metric only over the batches in which it was logged.
    """

    def __init__(self) -> None:
        self._started: set[str] = set()
        self._lock = threading.Lock()

    def of(self, table: ScoreTable, tally: Tally) -> dict[str, float]:
        """Return the shares by component.

        ``failed/<name>``, ``unparsable_gold/``, and ``errored/`` are shares of the evaluated rows. ``abstained/`` and
        ``skipped/`` are shares of all rows.
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
    """The trajectory metrics, as means over completions. Thread-safe.

    The metrics are first logged in the first batch with completions that consist of more than one text message. They
    are then logged in every batch, because the trainer averages a metric only over the batches in which it was logged.
    """

    def __init__(self) -> None:
        self._started = False
        self._tools: dict[str, None] = {}
        self._lock = threading.Lock()

    def of(self, scored: Scored) -> dict[str, float]:
        """Return ``trajectory/turns``, ``trajectory/calls``, ..., and ``trajectory/calls/<tool>`` for each tool."""
        batches, rows, *sums = scored.tally.trajectories.tolist()
        with self._lock:
            self._started |= batches > 0
            if not self._started or not rows:
                return {}
            for name, _ in sorted(scored.tools.items(), key=lambda item: (-item[1], item[0])):
                if len(self._tools) < MAX_TOOLS:
                    self._tools[name] = None
            means = {f"trajectory/{name}": total / rows for name, total in zip(TRAJECTORY, sums, strict=True)}
            return means | {f"trajectory/calls/{name}": scored.tools.get(name, 0) / rows for name in self._tools}


class StageReport:
    """A reporter that logs when a curriculum moves to another stage."""

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
    """Return the metrics for a batch across all processes.

    ============================= ==================================================================
    ``components/<name>``         mean raw score of the scored rows: not skipped, abstained, failed, or errored
    ``parts/<name>/<part>``       mean of a part of a score, over the rows that have it
    ``weights/<name>``            current weight of a term
    ``contributions/<name>``      mean of a term, if `contributions`; these means add up to the mean total
    ``gates/<name>``              share of rows that passed
    ``threshold/``, ``stage/``    current threshold of a gate, stage of a curriculum
    ``judge_calls/<name>``, ...   numbers that rewards measured
    ``advantage_share/<name>``    share of the variance within groups caused by a term
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
    # Logged even if it is 0, because the trainer averages over the batches in which it was logged.
    logged["unscorable"] = float(unscorable / rows) if rows else 0.0
    return logged


def extras(table: ScoreTable) -> dict[str, list[Any]]:
    """Return the columns for the completions table: raw scores (None for unscored rows) and notes."""
    columns: dict[str, list[Any]] = {
        f"components/{name}": nan_to_none(column.scored) for name, column in table.components.items()
    }
    notes = [
        "; ".join(f"{name}: {column.notes[row]}" for name, column in table.components.items() if row in column.notes)
        for row in range(len(table))
    ]
    return {**columns, "notes": notes}


class Updates(Protocol):
    """The updates that replace a training run's reward. ``rewardkit_adapters.live`` implements this interface.

    Attributes:
        version: the number of the active update, or 0 before the first update.
    """

    version: int

    def use(self, layout: RewardColumns) -> None:
        """Replace the script's own reward with the reward in `layout`, because the trainer has different weights."""

    def begin(self, evaluator: Evaluator, trainer: Trainer, state: Any, *, scoring: bool = False) -> None:
        """Switch to the version in the trainer's state."""

    def take(self, evaluator: Evaluator, state: Any) -> None:
        """Apply the requested updates. This method is called on all processes before each step."""

    def remember(self, evaluator: Evaluator, batch: Batch, scored: Scored, trainer: Trainer) -> None:
        """Store this process's last training batch, so that the next reward can be tried on it."""

    def end(self, state: Any) -> None:
        """Finish when training ends."""

    def refuse_elsewhere(self) -> None:
        """Reject all requests, because this process scores for a trainer in another process."""


RadarOption = bool | Literal["rescore"]
MakeUpdates = Callable[[str, RewardColumns], Updates]
"""A picklable function that creates a run's updates from the run's local folder and the script's layout."""


@final
@dataclass(frozen=True)
class Options:
    """The picklable `to_trl` options for one list of functions.

    Attributes:
        limits: the shares of failed and errored rows above which the run stops.
        logs: whether to log metrics and scores through the trainer.
        record: the folder for the record, or None for no record.
        make_updates: a function that creates the run's `Updates`, or None for no updates.
        episodes: the settings for reading completions.
        radar: whether to look for signs of reward hacking, and whether to call all of the user's functions for it.
    """

    limits: Limits
    logs: bool = True
    record: str | os.PathLike[str] | None = None
    make_updates: MakeUpdates | None = None
    episodes: Episodes = PLAIN
    radar: RadarOption = True

    def radar_of(self, reward: Reward) -> Radar | None:
        """Return a new radar for `reward`, or None if the radar is disabled."""
        return Radar(reward, rescore=self.radar == "rescore") if self.radar else None


class Session:
    """The state stored for one trainer across batches.

    Attributes:
        strict: whether bugs raise exceptions, which they do until the first training batch has been scored.
        followed: whether one of rewardkit's callbacks is notified when training ends.
        warned_of_tokens: whether the check for tool results in token lengths is complete.
        radar: the detector for signs of reward hacking, or None if it is disabled.
    """

    def __init__(self, limits: Limits, scorer: Scorer, radar: Radar | None = None) -> None:
        self.strict = True
        self.followed = False
        self.warned_of_tokens = False
        self.shares = OutcomeShares()
        self.trajectories = TrajectoryReport()
        self.columns, self.held_out = WrongColumns(scorer), WrongColumns(scorer)  # training, evaluation
        self.reset(limits, scorer, radar)

    def reset(self, limits: Limits, scorer: Scorer, radar: Radar | None = None) -> None:
        """Restart with another version of the reward, whose components have not scored any rows yet."""
        self.breaker = Breaker(limits)
        self.columns.follow(scorer)
        self.stages = StageReport(scorer)
        self.radar = radar


class Evaluator:
    """The evaluator for a list of reward functions. It scores each batch once and reports the results.

    It also stops a run that has no learning signal. An evaluator is pickled by identity: in the same process,
    unpickling returns the same object. In another process, all of its reward functions share one new evaluator.
    """

    _alive: ClassVar[weakref.WeakValueDictionary[str, Evaluator]] = weakref.WeakValueDictionary()
    _making: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, layout: RewardColumns, options: Options, *, identity: str = "", elsewhere: bool = False) -> None:
        self.layout = layout
        self.options = options
        self.identity = identity or uuid.uuid4().hex
        self.scorer = Scorer(layout.scored)
        self.state: Any = None
        self.memory = Memory(self.scorer.followers)
        self.recording: Recording | None = None
        if options.record is not None:
            from rewardkit_adapters.trl.recording import Recording

            self.recording = Recording(options.record, self.reward)
        self.updates: Updates | None = None
        self.scored_version = 0  # the version of the reward that scored the last training batch
        if options.make_updates is not None and self.recording is not None and self.recording.folder is not None:
            self.updates = options.make_updates(self.recording.folder, layout)
        self.tables: BatchCache[TrainerCall] = BatchCache(readers=len(layout.names))
        self._sessions: weakref.WeakKeyDictionary[Any, Session] = weakref.WeakKeyDictionary()
        self._warned = False
        self._radar_remark = ""
        self._elsewhere = elsewhere  # True in a process other than the one in which it was created
        # The session of calls without a trainer: calls by hand, or in the scoring process of an asynchronous trainer.
        self._alone = Session(options.limits, self.scorer, options.radar_of(self.reward) if elsewhere else None)
        if elsewhere:
            self._record_radar(self._alone)
        self._faults = FaultReport()
        Evaluator._alive[self.identity] = self

    def __reduce__(self) -> tuple[Any, ...]:
        record = None if self.recording is None else self.recording.path
        return _revived, (self.identity, self.layout, replace(self.options, record=record))

    @property
    def reward(self) -> Reward:
        """The reward that is trained, with the trainer's weights."""
        return self.layout.reward

    def take(self, layout: RewardColumns, trainer: Trainer, state: Any) -> None:
        """Switch to another reward, starting with the next batch."""
        self.layout, self.scorer = layout, Scorer(layout.scored)
        self.memory.follow(self.scorer.followers, state)
        self.tables = BatchCache(readers=len(layout.names))
        session = self.session(trainer)
        if session is not None:
            radar = None if session.radar is None else self.options.radar_of(self.reward)
            session.reset(self.options.limits, self.scorer, radar)
        if self.recording is not None:
            self.recording.use(self.reward)
            if trainer.is_main:
                self._record_radar(session)

    def session(self, trainer: Trainer) -> Session | None:
        """Return a trainer's session, or None before the trainer's first batch."""
        return self._sessions.get(trainer.instance) if trainer.known else self._alone

    def begin(self, trainer: Trainer, state: Any, *, scoring: bool = False) -> None:
        """Adopt the trainer's weights, and the reward version in the trainer's state.

        Args:
            scoring: whether a batch is being scored, so that the columns cannot change.
        """
        updates = self.updates
        layout = honored(trainer, self.layout) if updates is None or not updates.version else self.layout
        if layout is not self.layout:
            self.layout = layout
            if self.recording is not None:
                self.recording.use(self.reward)
            if updates is not None:
                updates.use(layout)
        if updates is not None and (trainer.training or not scoring):
            updates.begin(self, trainer, state, scoring=scoring)

    def end(self, trainer: Trainer, state: Any) -> None:
        """Finish when training ends, before the record is closed."""
        if self.updates is not None:
            self.updates.end(state)
        faults = self.faults(trainer)
        if faults and state.is_world_process_zero:
            window = self.options.limits.failure_window
            message = f"this training run ended before failure_window={window} batches were scored: {faults}"
            logger.warning("%s", message)
            if self.recording is not None:
                self.recording.say(message, "warning")

    def faults(self, trainer: Trainer) -> str:
        """Return the failures and errors if training ended before the breaker could judge them, or "" otherwise."""
        session = self.session(trainer) if trainer.known else None
        return "" if session is None else session.breaker.faults

    def table(self, call: TrainerCall) -> Table:
        """Return the columns for one batch after its scores have been reported.

        The batch is scored, and its scores are passed to the updates, the radar, the schedules, the log, the record,
        and finally the breaker, which may stop the run.
        """
        trainer = Trainer.behind(call.context.get("log_metric"), self)
        state = call.context.get("trainer_state") or self.state
        session = self._checked_session(trainer, state)
        if session.strict and trainer.known:
            warn_of_environments(call)
        if not session.warned_of_tokens:
            session.warned_of_tokens = warn_of_tokens(trainer, self.reward, call)
        episodes, progress = self.options.episodes, self._progress(trainer, state)
        prepared = Prepared(episodes.call(call), trainer, state, progress, session.strict, episodes)
        scored, batch, rows = score(self.scorer, self.layout, prepared, recorded=self.recording is not None)
        first, means = session.strict, scored.tally.means(scored.table)
        if trainer.training:
            if self.updates is not None and batch is not None:
                self.updates.remember(self, batch, scored, trainer)
            if session.radar is not None:
                scored = self._search(session.radar, prepared, scored, batch, split=rows is not None)
        if rows is not None:
            scored = scored.part(rows.start, rows.stop, main=trainer.is_main)
        if self.layout.weighs:  # the scorer checked other numbers than these
            require_float32(scored.columns, scored.table.total)
        if self.layout.schedules:
            trainer.set_weights(self.layout.weights_at(prepared.progress))
        if trainer.training:
            if first and trainer.is_main and prepared.progress is not None:
                for late in self.scorer.late(prepared.progress.max_steps):
                    warn(late)
            session.strict = False
            self.scored_version = 0 if self.updates is None else self.updates.version
            self.memory.learn(state, means, scored.tally.followed.tolist())
        self._faults.add(scored.table)
        if self.options.logs or self.recording is not None:
            measured = self._report(prepared, session, scored, means)
            if self.recording is not None:
                self.recording.add(prepared, scored, measured)
        self._stop_without_signal(trainer, session, scored, first=first)
        return scored.columns

    def _checked_session(self, trainer: Trainer, state: Any) -> Session:
        """Return `trainer`'s session. The trainer is checked on each call until it passes the check."""
        if not trainer.known:
            check_alone(self.layout)
            if self._elsewhere:
                check_plain_sum(self.layout)
                if self.updates is not None:
                    self.updates.refuse_elsewhere()
            return self._alone
        self.begin(trainer, state, scoring=True)
        session = self._sessions.get(trainer.instance)
        if session is None:
            check_trainer(trainer, self.layout)
            warn_of_rollouts(trainer, self.reward, self.options.episodes)
            radar = self.options.radar_of(self.reward)
            session = self._sessions[trainer.instance] = Session(self.options.limits, self.scorer, radar)
            if trainer.is_main:
                self._record_radar(session)
            session.followed = self.recording is not None
            if session.followed:
                self._add_callback(trainer)
        return session

    def _record_radar(self, session: Session | None) -> None:
        """Record which components the radar does not score again, and why, if there are any or were any before."""
        if self.recording is None or session is None:
            return
        remark = OFF if session.radar is None else session.radar.remark
        if remark or self._radar_remark:
            self.recording.say(remark or ON, "info" if remark else "debug", "radar")
        self._radar_remark = remark

    def _add_callback(self, trainer: Trainer) -> None:
        """Add a callback that records the trainer's log and the end of training, unless the trainer already has one."""
        if not any(self in getattr(callback, "evaluators", ()) for callback in trainer.callbacks):
            from rewardkit_adapters.trl.callbacks import RewardCallback

            trainer.add_callback(RewardCallback([self]))

    def _progress(self, trainer: Trainer, state: Any) -> Progress | None:
        """Return the training progress, or None if unknown."""
        if state is not None:
            self.memory.recall(state)
        progress = progress_of(state, trainer.training, self.memory.means, self.memory.states)
        if self.layout.scheduled and progress is None:
            raise BindingError(
                "this reward follows training progress (a schedule, or a function that reads it), but the "
                "trainer passes no trainer_state. Add callbacks=[funcs.callback()] to the trainer. Asynchronous "
                "GRPO does not report progress, and A2PO scores before training, so their rewards cannot use schedules"
            )
        if self.layout.scheduled and not trainer.known and not self._warned:
            self._warned = True
            warn(
                "this call does not come from a known trainer. It counts as training, so schedules use the current step"
            )
        return progress

    def _search(self, radar: Radar, prepared: Prepared, scored: Scored, batch: Batch | None, *, split: bool) -> Scored:
        """Pass the batch to the main process's radar, and add the radar's scores to `scored`.

        Args:
            split: whether the main process scored the rows from all processes, so that all processes need its radar
                scores.
        """
        trainer, step = prepared.trainer, getattr(prepared.state, "global_step", None)

        def look() -> ForeignScores | None:
            assert batch is not None
            return radar.look(batch, scored.table, scored.totals, step=step, limit=trainer.limits.get("limit/tokens"))

        foreign = trainer.on_main(look) if split else look() if trainer.is_main else None
        return scored if foreign is None else replace(scored, foreign=foreign)

    def _report(
        self, prepared: Prepared, session: Session, scored: Scored, means: Mapping[str, float]
    ) -> Mapping[str, float]:
        """Log the results for one batch, and return the metrics for the record."""
        trainer, context = prepared.trainer, prepared.call.context
        measured = metrics(scored, means, contributions=self.layout.weighs)
        measured |= session.shares.of(scored.table, scored.tally)
        measured |= session.trajectories.of(scored)
        if self.updates is not None:
            measured["reward_version"] = float(self.updates.version)
        on_main = trainer.training and trainer.is_main
        signs = session.radar.metrics(scored.foreign) if session.radar is not None and on_main else {}
        if trainer.processes == 1:
            measured |= signs
        if not self.options.logs:
            return measured | signs
        if trainer.processes > 1:
            trainer.log_alone(signs)
        if on_main:
            session.stages.tell(prepared.progress)
        log_metric, log_extra = context.get("log_metric"), context.get("log_extra")
        if log_metric is not None:
            for name, value in measured.items():
                log_metric(name, value)
        if log_extra is not None and trainer.logs_completions:
            for name, values in extras(scored.table).items():
                log_extra(name, values)
        return measured | signs

    def _stop_without_signal(self, trainer: Trainer, session: Session, scored: Scored, *, first: bool) -> None:
        """Stop the run after too many faults, or if a reward requested it.

        Faults are failed and errored rows, and columns without readable gold answers.

        The run stops after a checkpoint at the end of the step, or immediately if no checkpoint can be saved.

        Args:
            first: whether no training batch has been scored yet, so that there is nothing to save.
        """
        counts, names = scored.tally.faults.tolist(), list(scored.table.components)
        column_error = None
        if trainer.training or first:  # an evaluation must not end a training in progress
            columns = session.columns if trainer.training else session.held_out
            column_error = columns.add(
                counts, names, lambda: chain.from_iterable(trainer.of_each_process(unparsable_golds(scored.table)))
            )
        if column_error is not None and first:
            raise column_error
        error: RewardKitError | None = column_error or session.breaker.add(counts, names)
        if not session.followed and trainer.can_stop_later and session.breaker.faults:
            self._add_callback(trainer)  # the callback reports the faults at the end
            session.followed = True
        if scored.tally.stops.any():  # stop all processes, wherever it happened
            error = RunStopped(next(filter(None, trainer.of_each_process(scored.table.stop))))
        if error is None:
            return
        if not trainer.can_stop_later:
            raise error
        from rewardkit_adapters.trl.callbacks import StopAfterCheckpoint

        # Only one callback, even if a step has several batches: a second callback would also stop the resumed run.
        if not any(isinstance(callback, StopAfterCheckpoint) and callback.waits for callback in trainer.callbacks):
            trainer.add_callback(StopAfterCheckpoint(error))


def _revived(identity: str, layout: RewardColumns, options: Options) -> Evaluator:
    with Evaluator._making:
        return Evaluator._alive.get(identity) or Evaluator(layout, options, identity=identity, elsewhere=True)
