"""Schedules by time: ``linear(0.0, 1.0, start=0.1, end=0.5)`` rises between 10 % and 50 % of training.

A position is a fraction of training (float, 0.0 to 1.0) or an optimizer step (int from 2 on); 0 is both.
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
    """How the value moves between two ends: ``curve(share of the way, initial, final)``."""

    name: ClassVar[str]
    """Of the function that makes a schedule of it."""

    @property
    def options(self) -> dict[str, float]:
        """The arguments of that function that are its own."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def __call__(self, way: float, initial: float, target: float) -> float:
        """The value at `way` (above 0.0, below 1.0)."""


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
    """What is left of the way, to a power: fast at first above 1, slow at first below."""

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
        # In logarithms, because the ratio of both ends may be out of range.
        return math.copysign(math.exp(Straight()(way, math.log(abs(initial)), math.log(abs(target)))), target)


@final
@dataclass(frozen=True)
class Logistic(Curve):
    """Along a logistic curve, stretched so that it begins and ends at both ends exactly."""

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
        if way in (0.0, 1.0):  # both ends are met exactly
            return self.target if way else self.initial
        low, high = self.bounds
        return min(max(self.curve(way, self.initial, self.target), low), high)

    @property
    def text(self) -> str:
        options = self.curve.options
        return call_text(self.curve.name, self.initial, self.target, start=self.start, end=self.end, **options)

    def __repr__(self) -> str:
        return self.expression


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
        following = self.points[after][1]
        low, high = min(value, following), max(value, following)
        return min(max(Straight()(way, value, following), low), high)

    @property
    def text(self) -> str:
        return call_text("piecewise", dict(self.points), interpolation=self.interpolation)

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
    return _ramp("linear", Straight(), initial, final, start, end)


def cosine(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """From `initial` to `final` along half a cosine: slow, fast, slow (Loshchilov & Hutter 2017, without restarts).

    Arguments and errors are those of `linear`.
    """
    return _ramp("cosine", HalfCosine(), initial, final, start, end)


def polynomial(
    initial: float, final: float, *, power: float = 2.0, start: Position = 0.0, end: Position = 1.0
) -> Schedule:
    """``(initial - final) * (1 - way)**power + final``: fast at first, then ever slower.

    ``polynomial(1.0, 0.0)`` is 0.25 half way. It is the polynomial decay of learning rates.

    Args:
        power: above 0; 1 is a straight line, below 1 it starts slowly and ends fast.
        initial, final, start, end: as in `linear`.

    Raises:
        RewardDefinitionError: as in `linear`, or `power` is not above 0.
    """
    checked = number(power, "polynomial: power")
    if checked <= 0.0:
        raise RewardDefinitionError(f"polynomial: power must be above 0, got {checked:g}")
    return _ramp("polynomial", Power(checked), initial, final, start, end, power=(checked, 2.0))


def exponential(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """From `initial` to `final` by equal factors in equal times: ``exponential(1.0, 0.01)`` is 0.1 half way.

    Arguments are those of `linear`.

    Raises:
        RewardDefinitionError: as in `linear`, or an end is zero or of the other sign: no factor leads there.
    """
    first, last = number(initial, "initial"), number(final, "final")
    if not (first > 0.0 and last > 0.0) and not (first < 0.0 and last < 0.0):
        raise RewardDefinitionError(
            f"exponential: no factor leads from {first:g} to {last:g}; both must be above zero, or both below. "
            "Give a small number such as 0.01 for zero"
        )
    return _ramp("exponential", Geometric(), first, last, start, end)


def sigmoid(
    initial: float, final: float, *, steepness: float = 10.0, start: Position = 0.0, end: Position = 1.0
) -> Schedule:
    """From `initial` to `final` along a logistic curve: it stays long at both ends and passes fast between them.

    ``sigmoid(0.0, 1.0)`` is 0.07 after a quarter of the way, 0.5 half way. The curve is stretched to meet both ends.

    Args:
        steepness: of the logistic function over the way, above 0; small ones come near to a straight line.
        initial, final, start, end: as in `linear`.

    Raises:
        RewardDefinitionError: as in `linear`, or `steepness` is not above 0.
    """
    checked = number(steepness, "sigmoid: steepness")
    if checked < 1e-6:
        raise RewardDefinitionError(f"sigmoid: steepness must be above 0 (from 1e-6 on), got {checked:g}")
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
    """From nothing to `weight` until `end`, in a straight line: ``accuracy * warm_up(0.1)``.

    Args:
        end: where it arrives: a fraction of training (float) or a step (int).
        weight: a number or a schedule, which counts in full from `end` on.

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
    """Through `points`: ``piecewise({0.0: 0.1, 0.5: 1.0, 1.0: 0.3})``.

    Args:
        points: position -> value, positions ascending, all fractions or all steps.
        interpolation: ``"linear"`` connects the points, ``"constant"`` holds each value until the next.

    Raises:
        RewardDefinitionError: no points, positions out of order or of both kinds, a value that is not finite.
    """
    pairs = placed(points, "piecewise")
    if not pairs:
        raise RewardDefinitionError("piecewise needs at least one point: piecewise({0.0: 0.1, 0.5: 1.0})")
    if interpolation not in ("linear", "constant"):
        raise RewardDefinitionError(f'interpolation is "linear" or "constant", got {shorten(interpolation)}')
    return Piecewise(
        tuple((position, number(value, "a value of piecewise")) for position, value in pairs), interpolation
    )
