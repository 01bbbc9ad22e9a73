"""Code for all trainers that accept a list of reward functions: TRL and trainers that are based on or similar to
TRL."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rewardkit.batch.column import Floats
from rewardkit.errors import warn
from rewardkit.progress.progress import Progress

NOTHING: Mapping[Any, Any] = MappingProxyType({})


def caller(is_trainer: Callable[[Any], bool]) -> Any:
    """Return the calling trainer, found in the stack frames, or None if no caller is a trainer.

    Trainers do not pass themselves to callbacks or reward functions.
    """
    frame = inspect.currentframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if is_trainer(owner):
            return owner
        frame = frame.f_back
    return None


def progress_of(
    state: Any, training: bool, means: Mapping[str, float] = NOTHING, states: Mapping[Any, Any] = NOTHING
) -> Progress | None:
    """Return the progress of a ``TrainerState``, or None if `state` is not one."""
    step, max_steps = getattr(state, "global_step", None), getattr(state, "max_steps", None)
    if not isinstance(step, int) or not isinstance(max_steps, int):
        return None
    epoch = getattr(state, "epoch", None)
    options = {"epoch": float(epoch)} if isinstance(epoch, (int, float)) else {}
    return Progress(step, max(max_steps, 1), training, means=means, states=states, **options)


def nan_to_none(values: Floats) -> list[float | None]:
    """Return `values` (n,) as a list with None for NaN, which is the return format for reward functions."""
    listed: list[Any] = values.tolist()
    return [None if value != value else value for value in listed] if math.isnan(sum(listed)) else listed


def warn_of_other_functions() -> None:
    """Warn that a trainer also has other reward functions."""
    warn(
        "the trainer also has reward functions that are not from rewardkit, so a completion that rewardkit cannot "
        "score still gets their rewards and has a learning signal"
    )
