"""Positions in training: ``0.3`` is 30% of training, ``30`` is step 30, and 0 is the start in both cases.

``Passing(0.3, 0.1)`` is 0 until 30% of training, and 1 after 40%.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import final

from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.bounds import Bounds
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Schedule, call_text

Position = int | float


def checked_position(value: object, subject: str) -> Position:
    """Return `value` as a fraction (float) or a step (int).

    Raises:
        RewardDefinitionError: `value` is neither a fraction nor a step, or it is the int 1, which could mean the first
            step or all of training.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RewardTypeError(f"{subject} must be a fraction of training (float) or a step (int), got {shorten(value)}")
    if isinstance(value, Integral):
        if value == 1:
            raise RewardDefinitionError(f"{subject}=1 is step 1: did you mean 1.0, the end of training?")
        if value < 0:
            raise RewardDefinitionError(f"{subject}={value} is before the start of training. Steps start at 0")
        return int(value)
    position = float(value)
    if not 0.0 <= position <= 1.0:
        hint = f". If it is a step, write an int: {position:.0f}" if 1.0 < position < math.inf else ""
        raise RewardDefinitionError(f"{subject}={position:g} is not a fraction of training (0.0 to 1.0){hint}")
    return position


def checked_order(first: Position, second: Position, subject: str) -> None:
    if first > second and (first == 0 or isinstance(first, int) == isinstance(second, int)):
        raise RewardDefinitionError(f"{subject}: {first} is after {second}. Put them in order")


def steps(position: Position, progress: Progress) -> float:
    """Return `position` in optimizer steps."""
    if isinstance(position, int):
        return float(position)
    step = position * progress.max_steps
    # 0.07 of 100 steps is step 7, but the product is slightly more.
    return float(round(step)) if math.isclose(step, round(step), rel_tol=1e-12) else step


def way_done(start: Position, end: Position, progress: Progress) -> float:
    """Return the completed fraction of the distance from `start` to `end`, 0.0 to 1.0."""
    first, last = steps(start, progress), steps(end, progress)
    if progress.step >= last:
        return 1.0
    return max(0.0, (progress.step - first) / (last - first)) if last > first else 0.0


@final
@dataclass(frozen=True)
class Passing(Schedule):
    """A schedule that is 0 until `position`, then rises linearly for `over`, and is 1 after that."""

    position: Position
    over: Position = 0

    @property
    def end_value(self) -> float:
        return 1.0

    @property
    def bounds(self) -> Bounds:
        return 0.0, 1.0

    def at(self, progress: Progress) -> float:
        begun = progress.step - steps(self.position, progress)
        duration = steps(self.over, progress)
        if begun >= duration:
            return 1.0
        return begun / duration if begun > 0.0 else 0.0

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_at(self.position + (self.over != 0), max_steps)

    @property
    def text(self) -> str:
        return call_text("after", self.position, over=self.over)

    def __repr__(self) -> str:
        return f"after({self.position}{f', over={self.over}' * (self.over != 0)})"
