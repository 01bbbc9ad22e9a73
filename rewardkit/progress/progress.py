"""Training progress: ``Progress(step=20, max_steps=100).fraction`` is 0.2."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from types import MappingProxyType
from typing import Any

from rewardkit.errors import RewardDefinitionError


@dataclass(frozen=True)
class Progress:
    """The progress of training: ``Progress(step=20, max_steps=100).fraction == 0.2``.

    Args:
        step: the number of completed optimizer steps, starting at 0.
        max_steps: the total number of optimizer steps, at least 1.
        training: False during evaluation.
        means: component -> the component's mean over the last training batch on all ranks.
        states: schedule -> the schedule's state, for performance-based schedules.
        epoch: the number of passes over the data so far, such as 1.5. By default, the whole training run is treated as
            one pass.
    """

    step: int
    max_steps: int
    training: bool = True
    means: Mapping[str, float] = field(default_factory=dict, kw_only=True, hash=False)
    states: Mapping[Any, Any] = field(default_factory=dict, kw_only=True, hash=False)
    epoch: float = field(default=math.nan, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        integral = isinstance(self.step, Integral) and isinstance(self.max_steps, Integral)
        if not integral or self.step < 0 or self.max_steps < 1:
            raise RewardDefinitionError(
                "Progress: step must be an int >= 0 and max_steps an int >= 1, got "
                f"step={self.step}, max_steps={self.max_steps}"
            )
        if not isinstance(self.epoch, (int, float)) or self.epoch < 0 or math.isinf(self.epoch):
            raise RewardDefinitionError(f"Progress: epoch must be a finite number >= 0, got {self.epoch!r}")
        if math.isnan(self.epoch):
            object.__setattr__(self, "epoch", self.fraction)
        object.__setattr__(self, "means", MappingProxyType(dict(self.means)))
        object.__setattr__(self, "states", MappingProxyType(dict(self.states)))

    def __reduce__(self) -> tuple[Any, ...]:
        fields = (self.step, self.max_steps, self.training, dict(self.means), dict(self.states), self.epoch)
        return _progress, fields

    @property
    def fraction(self) -> float:
        """The fraction of training that is complete, 0.0 to 1.0."""
        return min(1.0, self.step / self.max_steps)

    def within(self, first: int, last: int) -> Progress:
        """Return the progress within the part of training from step `first` to step `last`."""
        return replace(self, step=max(0, self.step - first), max_steps=max(1, last - first))


def _progress(
    step: int, max_steps: int, training: bool, means: Mapping[str, float], states: Mapping[Any, Any], epoch: float
) -> Progress:
    return Progress(step, max_steps, training, means=means, states=states, epoch=epoch)


END = Progress(1_000_000, 1_000_000, training=False)
"""The end of a training run of unknown length. The step is large, so that functions that compare steps with fixed
numbers also treat it as the end."""
