"""Trainer callbacks: one reads the trainer's progress and logs, and the other stops training after a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from rewardkit_adapters.trl.trainer import Trainer

if TYPE_CHECKING:
    from rewardkit_adapters.trl.evaluator import Evaluator
    from rewardkit_adapters.trl.recording import Recording


class RewardCallback(TrainerCallback):
    """A callback that passes training progress to `evaluators` and the trainer's log to the evaluators' records."""

    def __init__(self, evaluators: Sequence[Evaluator]) -> None:
        self.evaluators = evaluators

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for evaluator in self.evaluators:
            evaluator.state = state
            evaluator.begin(Trainer.calling(self, evaluator), state)
        for recording in self._recordings:
            recording.training_begins()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for evaluator in self.evaluators:
            evaluator.state = state
            if evaluator.updates is not None:
                evaluator.updates.take(evaluator, state)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        for recording in self._recordings if state.is_world_process_zero else ():
            recording.log(logs or {}, state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        for evaluator in self.evaluators:
            evaluator.end(Trainer.calling(self, evaluator), state)
        for recording in self._recordings:
            recording.flush(finished=state.global_step >= state.max_steps)  # otherwise the training was stopped

    @property
    def _recordings(self) -> list[Recording]:
        return [evaluator.recording for evaluator in self.evaluators if evaluator.recording is not None]


class StopAfterCheckpoint(TrainerCallback):
    """A callback that saves a checkpoint at the end of the current step or evaluation, then raises `error`."""

    def __init__(self, error: Exception) -> None:
        self._error: Exception | None = error

    @property
    def waits(self) -> bool:
        """Whether the error has not been raised yet."""
        return self._error is not None

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        control.should_save = control.should_save or self.waits
        return control

    on_evaluate = on_step_end

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # Raise only once: the run may be resumed with the same trainer, which keeps its callbacks.
        error, self._error = self._error, None
        if error is not None:
            raise error
