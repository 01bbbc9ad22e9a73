"""Schedules by time: ``linear(0.0, 1.0, start=0.1, end=0.5)`` rises between 10 % and 50 % of training.

A position is a fraction of training (float, 0.0 to 1.0) or an optimiser step (int from 2 on); 0 is both.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Literal, final

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.progress import Bounds, Constant, Progress, Schedule, number

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
    """`position` in optimiser steps."""
    return float(position) if isinstance(position, int) else position * progress.max_steps


def way_done(start: Position, end: Position, progress: Progress) -> float:
    """Share of the way from `start` to `end`, 0.0 to 1.0."""
    first, last = steps(start, progress), steps(end, progress)
    if progress.step >= last:
        return 1.0
    return max(0.0, (progress.step - first) / (last - first)) if last > first else 0.0


@final
@dataclass(frozen=True)
class Ramp(Schedule):
    """From one value to another along a straight or a cosine-shaped line."""

    initial: float
    target: float
    start: Position
    end: Position
    shape: Literal["linear", "cosine"]

    @property
    def end_value(self) -> float:
        return self.target

    @property
    def bounds(self) -> Bounds:
        return min(self.initial, self.target), max(self.initial, self.target)

    def at(self, progress: Progress) -> float:
        way = way_done(self.start, self.end, progress)
        if self.shape == "cosine":
            way = (1.0 - math.cos(math.pi * way)) / 2.0
        # Written so that both ends are met exactly.
        return self.initial * (1.0 - way) + self.target * way

    def __repr__(self) -> str:
        positions = f", start={self.start}" * (self.start != 0) + f", end={self.end}" * (self.end != 1.0)
        return f"{self.shape}({self.initial:g}, {self.target:g}{positions})"


@final
@dataclass(frozen=True)
class Piecewise(Schedule):
    """Through given points, held or connected between them."""

    points: tuple[tuple[Position, float], ...]
    interpolation: Literal["linear", "constant"]

    @property
    def end_value(self) -> float:
        return self.points[-1][1]

    @property
    def bounds(self) -> Bounds:
        values = [value for _, value in self.points]
        return min(values), max(values)

    def at(self, progress: Progress) -> float:
        places = [steps(position, progress) for position, _ in self.points]
        after = bisect.bisect_right(places, progress.step)
        if after == 0:
            return self.points[0][1]
        value = self.points[after - 1][1]
        if after == len(self.points) or self.interpolation == "constant":
            return value
        way = (progress.step - places[after - 1]) / (places[after] - places[after - 1])
        return value * (1.0 - way) + self.points[after][1] * way

    def __repr__(self) -> str:
        points = ", ".join(f"{position}: {value:g}" for position, value in self.points)
        return f"piecewise({{{points}}}, interpolation={self.interpolation!r})"


def constant(value: float) -> Schedule:
    """The same number throughout."""
    return Constant(number(value, "a constant schedule"))


def linear(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """From `initial` to `final` in a straight line; ``linear(0.0, 1.0, end=0.5)`` is 0.5 after a quarter of training.

    Args:
        initial: the value until `start`.
        final: the value from `end` on, and in evaluation.
        start: where it begins to move: a fraction of training (float) or a step (int).
        end: where it arrives.

    Raises:
        RewardDefinitionError: a value is not finite, or a position cannot be one.
    """
    return _ramp(initial, final, start, end, "linear")


def cosine(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """From `initial` to `final` along half a cosine: slow, fast, slow (Loshchilov & Hutter 2017, without restarts).

    Arguments and errors are those of `linear`.
    """
    return _ramp(initial, final, start, end, "cosine")


def _ramp(initial: float, final: float, start: Position, end: Position, shape: Literal["linear", "cosine"]) -> Schedule:
    first, last = checked_position(start, "start"), checked_position(end, "end")
    checked_order(first, last, shape)
    return Ramp(number(initial, "initial"), number(final, "final"), first, last, shape)


def piecewise(
    points: Mapping[Any, float] | Iterable[tuple[Position, float]],
    *,
    interpolation: Literal["linear", "constant"] = "linear",
) -> Schedule:
    """Through `points`: ``piecewise({0.0: 0.1, 0.5: 1.0, 1.0: 0.3})``.

    Args:
        points: position -> value, positions ascending, all fractions or all steps.
        interpolation: ``"linear"`` connects the points, ``"constant"`` holds each value until the next.

    Raises:
        RewardDefinitionError: no points, positions out of order or of both kinds, a value that is not finite.
    """
    pairs = list(points.items() if isinstance(points, Mapping) else points)
    if not pairs:
        raise RewardDefinitionError("piecewise needs at least one point: piecewise({0.0: 0.1, 0.5: 1.0})")
    if interpolation not in ("linear", "constant"):
        raise RewardDefinitionError(f'interpolation is "linear" or "constant", got {shorten(interpolation)}')
    checked = tuple(
        (checked_position(position, "a position"), number(value, "a value of piecewise")) for position, value in pairs
    )
    kinds = {type(position) for position, _ in checked if position != 0}
    if len(kinds) > 1:
        raise RewardDefinitionError("piecewise mixes fractions (float) and steps (int); write all positions alike")
    for (first, _), (second, _) in pairwise(checked):
        if not first < second:
            raise RewardDefinitionError(f"piecewise: positions must ascend, {second} follows {first}")
    return Piecewise(checked, interpolation)
