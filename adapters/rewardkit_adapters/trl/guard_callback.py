"""GuardCallback: compare the trainer's log with limits, and warn, stop, or freeze when a value crosses its limit."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from rewardkit.errors import RewardDefinitionError, RewardFailure, near_miss, shorten
from rewardkit_adapters.trl.guards import GuardConfig
from rewardkit_adapters.trl.memory import saved_in
from rewardkit_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from rewardkit_adapters.trl.evaluator import Evaluator

# The state of one guard: the numbers in its window, and whether their mean crosses the limit.


RADAR = "radar/strength"
METRICS = {
    "zero_variance": "frac_reward_zero_std",
    "length": "completions/mean_length",
    "total": "reward",
    "radar": RADAR,
}
"""A mapping from guards' short metric names to the names in TRL's log."""
FAILURE_RATE = "failure_rate"
"""The name of a metric that is computed from several numbers in the log."""


class Watch:
    """The state of one guard.

    Attributes:
        crossed: whether the last mean is beyond the limit.
        value: the last mean, or None before the first full window.
        missed: the number of consecutive log entries after a generation that do not contain the watched value.
    """

    def __init__(self, config: GuardConfig) -> None:
        self.config = config
        self.crossed = False
        self.value: float | None = None
        self.missed = 0
        self._start: int | None = None
        self._entries: list[tuple[int, float]] = []
        self._first: float | None = None

    @property
    def key(self) -> str:
        """The key for the saved state. A guard with different settings has a different key and starts from scratch."""
        return self.config.model_dump_json()

    def look(self, logs: Mapping[str, Any], step: int, begun: int) -> None:
        """Add the log entry written after `step` steps. This process started training at step `begun`."""
        number = self._number(logs)
        if number is None:
            self.missed += "reward" in logs
            return
        self.missed = 0
        if step <= self.config.after:
            return
        if self._start is None:
            self._start = max(begun, self.config.after)
        self._entries = [entry for entry in (*self._entries, (step, number)) if entry[0] > step - self.config.window]
        if step - self._start < self.config.window:
            return
        mean = sum(value for _, value in self._entries) / len(self._entries)
        if self.config.watch == "length":
            self._first = self._first if self._first is not None else mean
            mean = mean / self._first if self._first else 1.0
        self.value, self.crossed = mean, self.config.crossed(mean)

    def restart(self, step: int) -> None:
        """Start a new window at `step`. Lengths remain relative to the run's first window."""
        self._start, self._entries, self.crossed, self.value = step, [], False, None

    def _number(self, logs: Mapping[str, Any]) -> float | None:
        if self.config.watch == FAILURE_RATE:
            return _failure_rate(logs, self.config.component)
        for key in self.keys:
            value = logs.get(key)
            if isinstance(value, (int, float)):
                return float(value) if math.isfinite(value) else None
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """The names under which the trainer may log the value. The first name found in the log is used."""
        name = self.config.watch
        return METRICS.get(name, name), f"components/{name}"

    def saved(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {
            "start": self._start,
            "entries": [list(entry) for entry in self._entries],
            "first": self._first,
            "crossed": self.crossed,
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore a state that `saved` returned."""
        self._start, self._first, self.crossed = saved["start"], saved["first"], saved["crossed"]
        self._entries = [(int(step), float(value)) for step, value in saved["entries"]]

    def __str__(self) -> str:
        """Describe the guard and its last mean: ``kl above 0.5: 0.61 over 20 steps``."""
        steps = f"{self.config.window} step{'s' * (self.config.window != 1)}"
        return f"{self.config}: {self.value:.3g} over {steps}" if self.value is not None else str(self.config)


def _failure_rate(logs: Mapping[str, Any], component: str | None) -> float | None:
    """Return the share of failed or errored rows for `component`, or the highest share, or None without scores."""
    if "reward" not in logs:
        return None
    shares: dict[str, float] = {}
    for name, value in logs.items():
        kind, _, owner = name.partition("/")
        if kind in ("failed", "errored") and isinstance(value, (int, float)):
            shares[owner] = shares.get(owner, 0.0) + float(value)
    return shares.get(component, 0.0) if component is not None else max(shares.values(), default=0.0)


_LOG = logging.getLogger("rewardkit")
_SAVED = "guards"


class GuardCallback(TrainerCallback):
    """A callback that enforces guards during a training run.

    ::

        GRPOTrainer(..., callbacks=[GuardCallback([GuardConfig(watch="kl", above=0.5, action="stop")], funcs)])

    All processes make the same decisions, and a resumed run restores the state of its guards.

    Args:
        guards: the limits.
        funcs: the list that ``rk.to_trl`` returned. Messages are written to the run's record, and guards start a new
            window when the reward changes.
        tell: a function that is called with every message on the main process, for example to print the message above a
            progress bar.

    Raises:
        RewardDefinitionError: at the start of training or at the first log entry: a guard can never act.
        RewardFailure: after a checkpoint: a guard stopped the run.
    """

    def __init__(
        self, guards: Iterable[GuardConfig], funcs: Any = None, *, tell: Callable[[str], None] | None = None
    ) -> None:
        self._watches = [Watch(guard) for guard in guards]
        self._evaluators: Sequence[Evaluator] = getattr(funcs, "_evaluators", [])
        self._tell = tell
        self._begun = 0
        self._versions: list[int] | None = None
        self._error: RewardFailure | None = None
        self._checked = False

    @property
    def frozen(self) -> bool:
        """Whether the policy is currently frozen."""
        return any(watch.crossed and watch.config.action == "freeze" for watch in self._watches)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._check(args, state)
        self._begun, self._error, self._versions, self._checked = state.global_step, None, None, False
        saved = saved_in(state).get(_SAVED, {})
        self._watches = [Watch(watch.config) for watch in self._watches]
        for watch in self._watches:
            if watch.key in saved:
                watch.restore(saved[watch.key])
                self._versions = saved[watch.key].get("versions")

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        now, before = self._scored_versions(), self._versions
        self._versions = now
        if before is not None and now != before:
            for watch in self._watches:
                watch.restart(state.global_step)
            self._save(state)
        optimizer = kwargs.get("optimizer")
        if self.frozen and optimizer is not None:
            drop_gradients(optimizer)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> Any:
        if not logs or "train_runtime" in logs or any(name.startswith("eval_") for name in logs):
            return control
        logged = _of_main_process(dict(logs))
        if not self._checked and "reward" in logged:  # the log of a step that generated completions
            self._checked = True
            self._check_names(logged)
        for watch in self._watches:
            before = watch.crossed
            watch.look(logged, state.global_step, self._begun)
            if watch.crossed != before:
                self._act(watch, state, control)
            if watch.missed == watch.config.window:
                message = (
                    f"guard: the trainer has not logged a number for {watch.config} in the last {watch.missed} steps "
                    "with completions, so this guard does nothing"
                )
                self._say(message, state, logging.WARNING)
        self._save(state)
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _save(self, state: Any) -> None:
        """Store the state of the guards for the next checkpoint."""
        if self._watches:
            states = {watch.key: {**watch.saved(), "versions": self._versions} for watch in self._watches}
            saved_in(state).setdefault(_SAVED, {}).update(states)

    def _act(self, watch: Watch, state: Any, control: Any) -> None:
        if not watch.crossed:
            self._say(f"guard: back within the limit: {watch}", state, logging.INFO)
        elif watch.config.action == "stop":
            reason = f"{watch}{self._found(watch)}"
            self._error = RewardFailure(f"a guard stopped this run after step {state.global_step}: {reason}")
            control.should_save = True
            self._record(str(self._error), state, logging.ERROR)
            watch.restart(state.global_step)  # a resumed run gets a full window before the guard can stop it again
        else:
            consequence = (
                ". The policy is not updated until the value is back within the limit, or the reward is replaced"
            )
            details = self._found(watch) + (consequence if watch.config.action == "freeze" else "")
            self._say(f"guard: {watch}{details}", state, logging.WARNING)

    def _found(self, watch: Watch) -> str:
        """Return the alert that triggered a radar guard, as the end of a message, or "" for other guards."""
        if RADAR not in watch.keys:
            return ""
        trainer = Trainer.calling(self)
        sessions = [evaluator.session(trainer) for evaluator in self._evaluators]
        radars = [session.radar for session in sessions if session is not None]
        alerts = [radar.alert for radar in radars if radar is not None and radar.alert is not None]
        strongest = max(alerts, key=lambda alert: alert.strength, default=None)
        return "" if strongest is None else f". The strongest alert: {shorten(strongest.title)}"

    def _say(self, message: str, state: Any, level: int) -> None:
        if state.is_world_process_zero:
            _LOG.log(level, "step %d: %s", state.global_step, message)
            self._record(message, state, level)
            if self._tell is not None:
                self._tell(message)

    def _record(self, message: str, state: Any, level: int) -> None:
        for evaluator in self._evaluators if state.is_world_process_zero else ():
            if evaluator.recording is not None:
                evaluator.recording.say(message, logging.getLevelName(level).lower())

    def _check_names(self, logs: Mapping[str, Any]) -> None:
        """Raise RewardDefinitionError if a guard watches a name that is neither logged nor a component."""
        if any(self._scored_versions()):  # a live update may have removed the component
            return
        components = self._components()
        for watch in self._watches:
            name = watch.config.watch
            # The shares of outcomes of a component or a gate are logged only once the outcome has occurred.
            is_logged_later = "/" in name and any(f"/{owner}" in name for owner in (*components, *self._gates()))
            if name == FAILURE_RATE or is_logged_later or name.removeprefix("components/") in components:
                continue
            if not any(key in logs for key in watch.keys):
                names = [FAILURE_RATE, *METRICS, *components, *logs]
                raise RewardDefinitionError(
                    f"a guard watches {watch.config}, but the trainer logs no {name!r}, and it is not the name of a "
                    f"component.{near_miss(name, names)} Watch one of: {', '.join(sorted(set(names)))}"
                )

    def _components(self) -> list[str]:
        return [name for evaluator in self._evaluators for name in evaluator.scorer.components]

    def _gates(self) -> list[str]:
        return [name for evaluator in self._evaluators for name, _ in evaluator.scorer.names.gates]

    def _check(self, args: Any, state: Any) -> None:
        """Raise RewardDefinitionError if a guard can never act."""
        # In a resumed run, the reward may have been replaced by one with other components.
        components = [] if any(saved_in(state).get("updates", {}).values()) else self._components()
        for watch in self._watches:
            guard = watch.config
            if guard.watch == "kl" and getattr(args, "beta", None) == 0.0:
                raise RewardDefinitionError(
                    f"a guard watches {guard}, but with beta=0.0 the trainer does not compute the KL divergence. "
                    "Remove the guard, or set beta above 0 in GRPOConfig: without it, a run has no KL divergence"
                )
            if (
                RADAR in watch.keys
                and self._evaluators
                and not any(evaluator.options.radar and evaluator.options.logs for evaluator in self._evaluators)
            ):
                raise RewardDefinitionError(
                    f"a guard watches {guard}, but the log does not contain the radar. Keep the defaults "
                    "radar=True and logs=True in rk.to_trl"
                )
            if guard.component is not None and components and guard.component not in components:
                raise RewardDefinitionError(
                    f"a guard watches {guard}, but the reward has no such component."
                    f"{near_miss(guard.component, components)} Its components: {', '.join(components)}"
                )
            if guard.action == "freeze" and getattr(args, "deepspeed_plugin", None) is not None:
                raise RewardDefinitionError(
                    f"the guard on {guard} cannot freeze the policy: DeepSpeed does not release its gradients. Use "
                    "action: stop or action: warn"
                )

    def _scored_versions(self) -> list[int]:
        """Return the versions that scored the current batch. A step without a generation reuses an earlier batch."""
        return [evaluator.scored_version for evaluator in self._evaluators if evaluator.updates is not None]


def drop_gradients(optimizer: Any) -> None:
    """Drop the gradients, so that `optimizer`'s next step does not change any weights, even by momentum or decay."""
    scaler = getattr(optimizer, "scaler", None)
    if scaler is not None:  # half precision: the scaler must process gradients before a step
        with suppress(RuntimeError):  # already done if the gradients were clipped
            scaler.unscale_(optimizer.optimizer)
    optimizer.zero_grad()  # sets gradients to None, so the optimizer skips the parameters


def _of_main_process(logs: dict[str, Any]) -> dict[str, Any]:
    """Return the main process's logs on all processes.

    The processes must make the same decision, although their own logs differ."""
    from accelerate import PartialState
    from accelerate.utils import broadcast_object_list

    if PartialState().num_processes == 1:
        return logs
    objects: list[Any] = [logs]
    broadcast_object_list(objects)
    main_logs: dict[str, Any] = objects[0]
    return main_logs
