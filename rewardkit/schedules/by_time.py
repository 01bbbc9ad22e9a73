"""Schedules by time: ``linear(0.0, 1.0, start=0.1, end=0.5)`` rises between 10 % and 50 % of training.

A position is a fraction of training (float, 0.0 to 1.0) or an optimizer step (int, at least 2); 0 is both.
"""

from __future__ import annotations

import bisect
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, final

from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import Bounds, number
from rewardkit.core.progress.positions import Position, checked_order, checked_position, steps, way_done
from rewardkit.core.progress.progress import Progress
from rewardkit.core.progress.schedule import Constant, Schedule, as_weight, call_text
from rewardkit.schedules.points import placed


class Curve(ABC):
    """How a value moves between two ends: ``curve(way, initial, target)``."""

    name: ClassVar[str]
    """The name of the function that makes a schedule with this curve."""

    @property
    def options(self) -> dict[str, float]:
        """The arguments that only that function has."""
        return {option.name: getattr(self, option.name) for option in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def __call__(self, way: float, initial: float, target: float) -> float:
        """Return the value at `way`, the share of the way (above 0.0, below 1.0)."""


@final
@dataclass(frozen=True)
class Straight(Curve):
    """In a straight line."""

    name: ClassVar[str] = "linear"

    def __call__(self, way: float, initial: float, target: float) -> float:
        return initial * (1.0 - way) + target * way


@final
@dataclass(frozen=True)
class HalfCosine(Curve):
    """Slow, fast, slow."""

    name: ClassVar[str] = "cosine"

    def __call__(self, way: float, initial: float, target: float) -> float:
        return Straight()((1.0 - math.cos(math.pi * way)) / 2.0, initial, target)


@final
@dataclass(frozen=True)
class Power(Curve):
    """The rest of the way to a power: above 1 fast at first, below 1 slow at first."""

    name: ClassVar[str] = "polynomial"

    power: float

    def __call__(self, way: float, initial: float, target: float) -> float:
        return Straight()(1.0 - (1.0 - way) ** self.power, initial, target)


@final
@dataclass(frozen=True)
class Geometric(Curve):
    """By equal factors in equal times."""

    name: ClassVar[str] = "exponential"

    def __call__(self, way: float, initial: float, target: float) -> float:
        # In logarithms, because the ratio of the two ends may be out of range.
        return math.copysign(math.exp(Straight()(way, math.log(abs(initial)), math.log(abs(target)))), target)


@final
@dataclass(frozen=True)
class Logistic(Curve):
    """A logistic curve, stretched so that it meets both ends exactly."""

    name: ClassVar[str] = "sigmoid"

    steepness: float

    def __call__(self, way: float, initial: float, target: float) -> float:
        # tanh is the logistic function between -1 and 1, and does not overflow.
        rise = math.tanh(self.steepness * (way - 0.5) / 2.0) / math.tanh(self.steepness / 4.0)
        return Straight()((1.0 + rise) / 2.0, initial, target)


@final
@dataclass(frozen=True)
class Ramp(Schedule):
    """From one value to another along a curve."""

    initial: float
    target: float
    start: Position
    end: Position
    curve: Curve
    expression: str = field(compare=False)

    @property
    def end_value(self) -> float:
        return self.target

    @property
    def bounds(self) -> Bounds:
        return min(self.initial, self.target), max(self.initial, self.target)

    def at(self, progress: Progress) -> float:
        way = way_done(self.start, self.end, progress)
        if way in (0.0, 1.0):  # exactly at both ends
            return self.target if way else self.initial
        low, high = self.bounds
        return min(max(self.curve(way, self.initial, self.target), low), high)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        first = self.start + (self.start != self.end)
        return self.late_at(first, max_steps) if self.initial != self.target else []

    @property
    def text(self) -> str:
        options = self.curve.options
        return call_text(self.curve.name, self.initial, self.target, start=self.start, end=self.end, **options)

    def __repr__(self) -> str:
        return self.expression


@final
@dataclass(frozen=True)
class Piecewise(Schedule):
    """Passes through points, with steps or lines between them."""

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
        following = self.points[after][1]
        low, high = min(value, following), max(value, following)
        return min(max(Straight()(way, value, following), low), high)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        others = [place for place, (_, value) in enumerate(self.points) if value != self.points[0][1]]
        if not others:
            return []
        jumps = self.interpolation == "constant"
        first = self.points[others[0]][0] if jumps else self.points[others[0] - 1][0] + 1
        return self.late_at(first, max_steps)

    @property
    def text(self) -> str:
        return call_text("piecewise", dict(self.points), interpolation=self.interpolation)

    def __repr__(self) -> str:
        points = ", ".join(f"{position}: {value:g}" for position, value in self.points)
        return f"piecewise({{{points}}}, interpolation={self.interpolation!r})"


def constant(value: float) -> Schedule:
    """Return a schedule that never changes: ``constant(0.5)``."""
    return Constant(number(value, "a constant schedule"))


def linear(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """Return a straight line from `initial` to `final`: ``linear(0.0, 1.0, end=0.5)`` is 0.5 at 25 % of training.

    Args:
        initial: the value until `start`.
        final: the value from `end` on, and in evaluation.
        start: where it starts to move: a fraction of training (float, 0.0 to 1.0) or a step (int, at least 2).
        end: where it arrives at `final`; the same kinds of numbers.

    Raises:
        RewardDefinitionError: a value is not finite, or a position is invalid.
    """
    return _ramp("linear", Straight(), initial, final, start, end)


def cosine(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """Return half a cosine from `initial` to `final`: slow, fast, slow (Loshchilov & Hutter 2017, without restarts).

    Arguments and errors are those of `linear`.
    """
    return _ramp("cosine", HalfCosine(), initial, final, start, end)


def polynomial(
    initial: float, final: float, *, power: float = 2.0, start: Position = 0.0, end: Position = 1.0
) -> Schedule:
    """Return ``(initial - final) * (1 - way)**power + final``: fast at first, then slower.

    ``polynomial(1.0, 0.0)`` is 0.25 halfway. This is the polynomial decay of learning rates. The other arguments are
    those of `linear`.

    Args:
        power: above 0; 1 is a straight line, below 1 it starts slowly and ends fast.

    Raises:
        RewardDefinitionError: as in `linear`, or `power` is not above 0.
    """
    checked = number(power, "polynomial: power")
    if checked <= 0.0:
        raise RewardDefinitionError(f"polynomial: power must be above 0, got {checked:g}")
    return _ramp("polynomial", Power(checked), initial, final, start, end, power=(checked, 2.0))


def exponential(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """Return equal factors in equal times from `initial` to `final`: ``exponential(1.0, 0.01)`` is 0.1 halfway.

    Arguments are those of `linear`.

    Raises:
        RewardDefinitionError: as in `linear`, or one end is zero, or the signs of the ends differ.
    """
    first, last = number(initial, "initial"), number(final, "final")
    if not (first > 0.0 and last > 0.0) and not (first < 0.0 and last < 0.0):
        raise RewardDefinitionError(
            f"exponential: cannot go from {first:g} to {last:g}; both must be above zero, or both below. Use a small "
            "number such as 0.01 instead of zero"
        )
    return _ramp("exponential", Geometric(), first, last, start, end)


def sigmoid(
    initial: float, final: float, *, steepness: float = 10.0, start: Position = 0.0, end: Position = 1.0
) -> Schedule:
    """Return a logistic curve from `initial` to `final`: slow at both ends, fast between them.

    ``sigmoid(0.0, 1.0)`` is 0.07 after a quarter of the way and 0.5 halfway. The curve is stretched to meet both ends.
    The other arguments are those of `linear`.

    Args:
        steepness: of the logistic function, at least 1e-6; a small value is almost a straight line.

    Raises:
        RewardDefinitionError: as in `linear`, or `steepness` is below 1e-6.
    """
    checked = number(steepness, "sigmoid: steepness")
    if checked < 1e-6:
        raise RewardDefinitionError(f"sigmoid: steepness must be above 0 (at least 1e-6), got {checked:g}")
    return _ramp("sigmoid", Logistic(checked), initial, final, start, end, steepness=(checked, 10.0))


def _ramp(
    name: str,
    curve: Curve,
    initial: float,
    final: float,
    start: Position,
    end: Position,
    **options: tuple[float, float],
) -> Schedule:
    first, last = checked_position(start, "start"), checked_position(end, "end")
    checked_order(first, last, name)
    values = number(initial, "initial"), number(final, "final")
    shown = [f"{value:g}" for value in values]
    shown += [f"{option}={value:g}" for option, (value, default) in options.items() if value != default]
    shown += [f"start={first}"] * (first != 0) + [f"end={last}"] * (last != 1.0)
    return Ramp(*values, first, last, curve, f"{name}({', '.join(shown)})")


def warm_up(end: Position, weight: float | Schedule = 1.0) -> Schedule:
    """Return a straight line from 0 to `weight`: ``accuracy * warm_up(0.1)``.

    Args:
        end: where it arrives at `weight`: a fraction of training (float) or a step (int).
        weight: a number or a schedule.

    Raises:
        RewardDefinitionError: as in `linear`.
    """
    rising: Schedule = linear(0.0, 1.0, end=end) * as_weight(weight, "warm_up: weight")
    return rising


def piecewise(
    points: Mapping[Any, float] | Iterable[tuple[Position, float]],
    *,
    interpolation: Literal["linear", "constant"] = "linear",
) -> Schedule:
    """Return a schedule through `points`: ``piecewise({0.0: 0.1, 0.5: 1.0, 1.0: 0.3})``.

    Args:
        points: position -> value, in ascending order; only fractions or only steps.
        interpolation: ``"linear"`` connects the points, ``"constant"`` holds each value until the next.

    Raises:
        RewardDefinitionError: there are no points, positions are out of order or of both kinds, or a value is infinite.
        RewardTypeError: `points` are not (position, value) pairs.
    """
    pairs = placed(points, "piecewise")
    if not pairs:
        raise RewardDefinitionError("piecewise needs at least one point: piecewise({0.0: 0.1, 0.5: 1.0})")
    if interpolation not in ("linear", "constant"):
        raise RewardDefinitionError(
            f'piecewise: interpolation must be "linear" or "constant", got {shorten(interpolation)}'
        )
    return Piecewise(
        tuple((position, number(value, "a value of piecewise")) for position, value in pairs), interpolation
    )
