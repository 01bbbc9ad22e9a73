"""TrainerState: the progress as a trainer shows it to reward functions, for functions that run outside of a trainer.

``TrainerState.of(Progress(step=20, max_steps=100)).global_step`` is 20. The attributes are those of transformers'
``TrainerState``, which TRL passes as ``trainer_state``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.core.progress.progress import END, Progress


@final
@dataclass
class TrainerState:
    """What a reward function may read from ``trainer_state``."""

    epoch: float
    global_step: int
    max_steps: int
    num_train_epochs: int
    logging_steps: int = 500
    eval_steps: int = 500
    save_steps: int = 500
    train_batch_size: int | None = None
    num_input_tokens_seen: int = 0
    total_flos: float = 0
    log_history: list[dict[str, float]] = field(default_factory=list)
    best_metric: float | None = None
    best_global_step: int | None = None
    best_model_checkpoint: str | None = None
    is_local_process_zero: bool = True
    is_world_process_zero: bool = True
    is_hyper_param_search: bool = False
    trial_name: str | None = None
    trial_params: dict[str, Any] | None = None
    stateful_callbacks: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, progress: Progress | None) -> TrainerState:
        """Return the state at `progress`; None is the end of a training, where schedules have their end value."""
        now = progress or END
        epochs = now.epoch / now.fraction if now.fraction > 0.0 else now.epoch
        return cls(
            epoch=now.epoch,
            global_step=now.step,
            max_steps=now.max_steps,
            num_train_epochs=max(1, math.ceil(round(epochs, 6))),
        )
