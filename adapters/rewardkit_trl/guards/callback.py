"""GuardCallback: holds what a trainer logs against lines, and stops, warns or freezes where one is crossed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from rewardkit.core.errors import RewardDefinitionError, RewardFailure, near_miss
from rewardkit_trl.guards.config import GuardConfig
from rewardkit_trl.guards.window import METRICS, RATES, Watch
from rewardkit_trl.memory import saved_in

if TYPE_CHECKING:
    from rewardkit_trl.evaluator import Evaluator

_LOG = logging.getLogger("rewardkit")
_SAVED = "guards"


class GuardCallback(TrainerCallback):
    """Guard rails of a training; any script may use it.

    ::

        GRPOTrainer(..., callbacks=[GuardCallback([GuardConfig(watch="kl", above=0.5, action="stop")], funcs)])

    All processes decide alike, and a resumed run goes on with what its guards had seen.

    Args:
        guards: the lines.
        funcs: what ``rk.to_trl`` gave; for lines in its record, and to begin anew with another version of the reward.
        tell: is called with every message, on the main process; for a progress bar.
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
        """Whether the policy is kept as it is."""
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
                watch.begin_anew(state.global_step)
            self._keep(state)
        optimizer = kwargs.get("optimizer")
        if self.frozen and optimizer is not None:
            drop_gradients(optimizer)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> Any:
        if not logs or "train_runtime" in logs or any(name.startswith("eval_") for name in logs):
            return control
        logged = _of_main(dict(logs))
        if not self._checked and "reward" in logged:  # a log without it is of a step that generated nothing
            self._checked = True
            self._check_names(logged)
        for watch in self._watches:
            before = watch.crossed
            watch.look(logged, state.global_step, self._begun)
            if watch.crossed != before:
                self._act(watch, state, control)
            if watch.missed == watch.config.window:
                said = f"guard: the trainer has logged no number for {watch.config} of late, so nothing guards it"
                self._say(said, state, logging.WARNING)
        self._keep(state)
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _keep(self, state: Any) -> None:
        """Leaves what the guards have seen where the next checkpoint saves it."""
        if self._watches:
            known = {watch.key: {**watch.saved(), "versions": self._versions} for watch in self._watches}
            saved_in(state).setdefault(_SAVED, {}).update(known)

    def _act(self, watch: Watch, state: Any, control: Any) -> None:
        if not watch.crossed:
            self._say(f"guard: back again: {watch}", state, logging.INFO)
        elif watch.config.action == "stop":
            self._error = RewardFailure(f"a guard stopped this run after step {state.global_step}: {watch}")
            control.should_save = True
            self._record(str(self._error), state, logging.ERROR)
            watch.begin_anew(state.global_step)  # a run that is resumed has a window of grace
        else:
            frozen = ". The policy is not updated until it is back, or the reward is another one"
            self._say(f"guard: {watch}{frozen if watch.config.action == 'freeze' else ''}", state, logging.WARNING)

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
        """Raises RewardDefinitionError where a guard watches what is neither logged nor a component.

        A component that another version of the reward has taken away is no mistake of whoever wrote the guard.
        """
        if any(self._scored_versions()):
            return
        components = self._components()
        for watch in self._watches:
            name = watch.config.watch
            # Shares of failures and the like, of a component or a gate, are logged from when there are any.
            later = "/" in name and any(f"/{one}" in name for one in (*components, *self._gates()))
            if name in RATES or later or name.removeprefix("components/") in components:
                continue
            if not any(key in logs for key in watch.keys):
                known = [*RATES, *METRICS, *components, *logs]
                raise RewardDefinitionError(
                    f"a guard watches {watch.config}, but the trainer logs no {name!r} and no component is called "
                    f"so.{near_miss(name, known)} There are: {', '.join(sorted(set(known)))}"
                )

    def _components(self) -> list[str]:
        return [name for evaluator in self._evaluators for name in evaluator.scorer.components]

    def _gates(self) -> list[str]:
        return [name for evaluator in self._evaluators for name, _ in evaluator.scorer.names.gates]

    def _check(self, args: Any, state: Any) -> None:
        """Raises RewardDefinitionError where a guard could never do what it is for."""
        # A training that is resumed may have another version of the reward, with other components.
        components = [] if any(saved_in(state).get("updates", {}).values()) else self._components()
        for watch in self._watches:
            guard = watch.config
            if guard.watch == "kl" and getattr(args, "beta", None) == 0.0:
                raise RewardDefinitionError(
                    f"a guard watches {guard}, but with beta=0.0 the trainer computes no KL: give GRPOConfig a beta "
                    "above 0, or leave the guard out"
                )
            if guard.component is not None and components and guard.component not in components:
                raise RewardDefinitionError(
                    f"a guard watches {guard}, which is no component.{near_miss(guard.component, components)} There "
                    f"are: {', '.join(components)}"
                )
            if guard.action == "freeze" and getattr(args, "deepspeed_plugin", None) is not None:
                raise RewardDefinitionError(
                    f"the guard of {guard} cannot freeze: DeepSpeed keeps gradients and their step to itself. Use "
                    "action stop or warn"
                )

    def _scored_versions(self) -> list[int]:
        """Those that the batch in use was scored by: a step that generates nothing trains on one of before."""
        return [evaluator.scored_version for evaluator in self._evaluators if evaluator.updates is not None]


def drop_gradients(optimizer: Any) -> None:
    """Makes the next step of `optimizer` change nothing: no momentum, no decay, no weight."""
    scaler = getattr(optimizer, "scaler", None)
    if scaler is not None:  # of half precision: it wants to have seen gradients before it steps
        with suppress(RuntimeError):  # seen they are already where they are clipped
            scaler.unscale_(optimizer.optimizer)
    optimizer.zero_grad()  # to None: an optimizer passes over such parameters


def _of_main(logs: dict[str, Any]) -> dict[str, Any]:
    """What the main process logged, on all of them: times differ between processes, decisions must not."""
    from accelerate import PartialState
    from accelerate.utils import broadcast_object_list

    if PartialState().num_processes == 1:
        return logs
    held: list[Any] = [logs]
    broadcast_object_list(held)
    found: dict[str, Any] = held[0]
    return found
