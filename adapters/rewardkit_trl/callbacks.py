"""Trainer callbacks: progress for a TRL that does not pass it, and a stop that leaves a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

if TYPE_CHECKING:
    from rewardkit_trl.evaluator import Evaluator


class RewardCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Tells the rewards of `evaluator` where training stands."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._evaluator.state = state

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._evaluator.state = state


class StopAfterCheckpoint(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Saves at the end of the step under way, then raises `error`."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        control.should_save = True
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        raise self._error
