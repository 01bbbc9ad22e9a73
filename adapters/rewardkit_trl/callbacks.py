"""Trainer callbacks: progress for a TRL that does not pass it, and a stop that leaves a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from transformers import TrainerCallback


class HoldsState(Protocol):
    """What the callback tells where training stands."""

    state: Any


class RewardCallback(TrainerCallback):
    """Tells the rewards of `evaluators` where training stands."""

    def __init__(self, evaluators: Sequence[HoldsState]) -> None:
        self._evaluators = evaluators

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for evaluator in self._evaluators:
            evaluator.state = state

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.on_train_begin(args, state, control)


class StopAfterCheckpoint(TrainerCallback):
    """Saves at the end of the step under way, then raises `error`."""

    def __init__(self, error: Exception) -> None:
        self._error: Exception | None = error

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        control.should_save = control.should_save or self._error is not None
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # Once only: the trainer keeps its callbacks, and the run may be resumed with it.
        error, self._error = self._error, None
        if error is not None:
            raise error
