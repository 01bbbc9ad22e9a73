"""Positions in training: ``0.3`` is three tenths of it, ``30`` its step 30; 0 is both.

``Passing(0.3, 0.1)`` is 0 until 30 % of training, and 1 from 40 % on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import final

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.progress.bounds import Bounds
from rewardkit.core.progress.progress import Progress
from rewardkit.core.progress.schedule import Schedule, call_text

Position = int | float


def checked_position(value: object, what: str) -> Position:
    """`value` as a fraction (float) or a step (int).

    Raises:
        RewardDefinitionError: it is neither, or an int 1, which may mean the first step or all of training.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RewardTypeError(f"{what} is a fraction of training (float) or a step (int), got {shorten(value)}")
    if isinstance(value, Integral):
        if value == 1:
            raise RewardDefinitionError(f"{what}=1 is an int, a step: did you mean 1.0, the end of training?")
        if value < 0:
            raise RewardDefinitionError(f"{what}={value} is a step before training starts")
        return int(value)
    position = float(value)
    if not 0.0 <= position <= 1.0:
        raise RewardDefinitionError(
            f"{what}={position:g} is no fraction of training (0.0 to 1.0); a step is written as an int: {position:.0f}"
            if math.isfinite(position)
            else f"{what}={position} is no position"
        )
    return position


def checked_order(first: Position, second: Position, what: str) -> None:
    if first > second and (first == 0 or isinstance(first, int) == isinstance(second, int)):
        raise RewardDefinitionError(f"{what}: {first} lies after {second}")


def steps(position: Position, progress: Progress) -> float:
    """`position` in optimizer steps."""
    if isinstance(position, int):
        return float(position)
    place = position * progress.max_steps
    # 0.07 of 100 steps is the step 7, though the product is a little more.
    return float(round(place)) if math.isclose(place, round(place), rel_tol=1e-12) else place


def way_done(start: Position, end: Position, progress: Progress) -> float:
    """Share of the way from `start` to `end`, 0.0 to 1.0."""
    first, last = steps(start, progress), steps(end, progress)
    if progress.step >= last:
        return 1.0
    return max(0.0, (progress.step - first) / (last - first)) if last > first else 0.0


@final
@dataclass(frozen=True)
class Passing(Schedule):
    """0 before a position, 1 after it; for the time that it is `over`, in between."""

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

    @property
    def text(self) -> str:
        return call_text("after", self.position, over=self.over)

    def __repr__(self) -> str:
        return f"after({self.position}{f', over={self.over}' * (self.over != 0)})"
