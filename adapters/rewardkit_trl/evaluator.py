"""The evaluator behind a list of reward functions: prepares each batch, scores it once, reports what came of it."""

from __future__ import annotations

import os
import threading
import uuid
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from rewardkit.core.batch.batch import Batch
from rewardkit.core.batch.table import ScoreTable
from rewardkit.core.errors import BindingError, RunStopped, warn
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.progress.progress import Progress
from rewardkit.core.tree.reward import Reward
from rewardkit_trl.breaker import Breaker, Limits
from rewardkit_trl.checks import check_alone, check_plain_sum, check_trainer
from rewardkit_trl.layout import Layout
from rewardkit_trl.memory import Memory
from rewardkit_trl.reports import FaultReport, OutcomeShares, StageReport, extras, metrics
from rewardkit_trl.scored import Prepared, Scored, score
from rewardkit_trl.shared_tables import SharedTables, TrainerCall
from rewardkit_trl.trainer import Trainer, progress_of

if TYPE_CHECKING:
    from rewardkit_trl.recording import Recording


class Updates(Protocol):
    """Another reward for a training that runs; ``rewardkit_live`` implements it."""

    @property
    def version(self) -> int:
        """The number of the update in force; 0 before the first."""

    def begin(self, evaluator: Evaluator, trainer: Trainer, state: Any, *, scoring: bool = False) -> None:
        """Puts the version in force that the trainer's state names."""

    def take(self, evaluator: Evaluator, state: Any) -> None:
        """Takes what is asked for; called on all processes before a step begins."""

    def remember(self, evaluator: Evaluator, batch: Batch, scored: Scored, trainer: Trainer) -> None:
        """Keeps the last training batch of this process, to try the next reward on it."""

    def end(self, state: Any) -> None:
        """The training came to its end."""

    def refuse_elsewhere(self) -> None:
        """This process scores, and the trainer is in another one."""


MakeUpdates = Callable[[str, Reward], Updates]
"""From the run's local folder and the script's own reward; picklable."""


class Session:
    """What is known of one trainer's batches.

    Attributes:
        strict: whether a bug raises: until its first training batch is scored.
    """

    def __init__(self, limits: Limits, scorer: Scorer) -> None:
        self.strict = True
        self.shares = OutcomeShares()
        self.take(limits, scorer)

    def take(self, limits: Limits, scorer: Scorer) -> None:
        """Another version of the reward scores from now on: what its components did is not known yet."""
        self.breaker = Breaker(limits)
        self.stages = StageReport(scorer)


class Evaluator:
    """Scores each batch once, reports what it saw, and stops a run without signal.

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
        make_updates: MakeUpdates | None = None,
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
        self.recording: Recording | None = None
        if record is not None:
            from rewardkit_trl.recording import Recording

            self.recording = Recording(record, self.scorer)
        self.updates: Updates | None = None
        self.scored_version = 0  # that the last training batch was scored by
        self._make_updates = make_updates
        if make_updates is not None and self.recording is not None and self.recording.folder is not None:
            self.updates = make_updates(self.recording.folder, reward)
        self.tables = SharedTables(readers=len(layout.names))
        self._sessions: weakref.WeakKeyDictionary[Any, Session] = weakref.WeakKeyDictionary()
        self._alone = Session(limits, self.scorer)  # without a trainer in sight
        self._warned = False
        self._elsewhere = elsewhere  # unpickled in another process than it was made in
        self._faults = FaultReport()
        Evaluator._alive[self.identity] = self

    def __reduce__(self) -> tuple[Any, ...]:
        record = None if self.recording is None else self.recording.path
        options = (self.reward, self.layout, self.limits, self.logs, record, self._make_updates)
        return _revived, (self.identity, *options)

    def take(self, reward: Reward, layout: Layout, trainer: Trainer, state: Any) -> None:
        """Scores with another reward from the next batch on."""
        self.reward, self.layout, self.scorer = reward, layout, Scorer(reward)
        self.memory.follow(self.scorer.followers, state)
        self.tables = SharedTables(readers=len(layout.names))
        session = trainer.kept_in(self._sessions) if trainer.known else self._alone
        if session is not None:
            session.take(self.limits, self.scorer)
        if self.recording is not None:
            self.recording.take(self.scorer)

    def table(self, call: TrainerCall) -> ScoreTable:
        """The scores of a batch: prepared, scored, reported."""
        trainer = Trainer.behind(call.context.get("log_metric"))
        state = call.context.get("trainer_state") or self.state
        session = self._session(trainer, state)
        prepared = Prepared(call, trainer, state, self._progress(trainer, state), session.strict)
        scored = score(self.scorer, self.layout, prepared, recorded=self.recording is not None, keep=self._keep)
        self._report(prepared, session, scored)
        return scored.table

    def _session(self, trainer: Trainer, state: Any) -> Session:
        """What is known of the trainer; one that is refused is checked again at its next call."""
        if not trainer.known:
            check_alone(self.layout)
            if self._elsewhere:
                check_plain_sum(self.layout)
                if self.updates is not None:
                    self.updates.refuse_elsewhere()
            return self._alone
        if self.updates is not None and trainer.training:
            self.updates.begin(self, trainer, state, scoring=True)
        session = trainer.kept_in(self._sessions)
        if session is None:
            check_trainer(trainer, self.layout, self)
            session = trainer.keep_in(self._sessions, Session(self.limits, self.scorer))
            if self.recording is not None:
                self._listen(trainer)
        return session

    def _listen(self, trainer: Trainer) -> None:
        """Hears what the trainer logs and when it ends, unless a callback tells it already."""
        if not any(self in getattr(callback, "evaluators", ()) for callback in trainer.callbacks):
            from rewardkit_trl.callbacks import RewardCallback

            trainer.add_callback(RewardCallback([self]))

    def _progress(self, trainer: Trainer, state: Any) -> Progress | None:
        """Where training stands; None where nobody knows."""
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

    def _keep(self, batch: Batch, scored: Scored, trainer: Trainer) -> None:
        """Keeps what this process has scored, for the trial of an update."""
        if self.updates is not None and trainer.training:
            self.updates.remember(self, batch, scored, trainer)

    def _report(self, prepared: Prepared, session: Session, scored: Scored) -> None:
        """Tells the trainer, the schedules, the log and the record what came of a batch; stops a run without signal."""
        trainer, table, tally = prepared.trainer, scored.table, scored.tally
        trainer.set_weights(self, self.layout.weights_at(prepared.progress))
        if trainer.training:
            session.strict = False
            self.scored_version = 0 if self.updates is None else self.updates.version
            self.memory.learn(prepared.state, tally.means(table), tally.followed_means(self.scorer.followers))
        self._faults.add(table)
        if self.logs or self.recording is not None:
            measured = metrics(scored, contributions=self.layout.columns == "components")
            measured |= session.shares.of(table, tally)
            if self.updates is not None:
                measured["reward_version"] = float(self.updates.version)
            if self.logs:
                self._log(prepared, session, scored, measured)
            if self.recording is not None:
                way = trainer.way_to_advantages(self)
                self.recording.add(scored, prepared.call, trainer, prepared.state, measured, way)
        stop = session.breaker.add(tally.faults.astype(int).tolist(), list(table.components))
        if tally.stops.any():  # on all processes, whichever of them met it
            stop = RunStopped(next(filter(None, trainer.of_each_process(table.stop))))
        if stop is not None:
            self._stop(trainer, stop)

    def _log(self, prepared: Prepared, session: Session, scored: Scored, measured: dict[str, float]) -> None:
        trainer, context = prepared.trainer, prepared.call.context
        log_metric, log_extra = context.get("log_metric"), context.get("log_extra")
        if trainer.training and trainer.is_main:
            session.stages.tell(prepared.progress)
        if log_metric is not None:
            for name, value in measured.items():
                log_metric(name, value)
        if log_extra is not None and trainer.logs_completions:
            for name, values in extras(scored.table).items():
                log_extra(name, values)

    def _stop(self, trainer: Trainer, error: Exception) -> None:
        """Lets the step end, saves a checkpoint, then raises `error`; raises it now where that is impossible."""
        if not trainer.can_stop_later:
            raise error
        from rewardkit_trl.callbacks import StopAfterCheckpoint

        # One is enough for a step of several batches: another would wait for the run that resumes.
        if not any(isinstance(callback, StopAfterCheckpoint) and callback.waits for callback in trainer.callbacks):
            trainer.add_callback(StopAfterCheckpoint(error))


def _revived(
    identity: str,
    reward: Reward,
    layout: Layout,
    limits: Limits,
    logs: bool,
    record: str | None,
    make_updates: MakeUpdates | None,
) -> Evaluator:
    with Evaluator._making:
        alive = Evaluator._alive.get(identity)
        return alive or Evaluator(reward, layout, limits, logs, record, make_updates, identity=identity, elsewhere=True)
