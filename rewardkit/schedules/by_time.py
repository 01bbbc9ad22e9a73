"""Time-based schedules: ``linear(0.0, 1.0, start=0.1, end=0.5)`` rises between 10% and 50% of training.

A position is a fraction of training (float, 0.0 to 1.0) or an optimizer step (int, at least 2). In both cases, 0 is the
start.
"""

from __future__ import annotations

import bisect
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any, ClassVar, Literal, final

from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.bounds import Bounds, number
from rewardkit.progress.positions import Passing, Position, checked_order, checked_position, steps, way_done
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Constant, Schedule, as_weight, call_text

# Ascending positions, each with a value, for ``piecewise`` and ``join``.


def placed(points: Mapping[Any, Any] | Iterable[tuple[Position, Any]], where: str) -> list[tuple[Position, Any]]:
    """Return `points`, an argument of the function `where`, as checked (position, value) pairs.

    Raises:
        RewardTypeError: `points` are not pairs.
        RewardDefinitionError: positions are invalid, out of order, or of mixed types.
    """
    try:
        pairs = [(position, value) for position, value in (points.items() if isinstance(points, Mapping) else points)]
    except (TypeError, ValueError):
        raise RewardTypeError(
            f"{where} expects a mapping of positions, {where}({{0.0: 0.1, 0.5: 1.0}}), or (position, value) pairs, got "
            f"{shorten(points)}"
        ) from None
    checked = [(checked_position(position, f"{where}: a position"), value) for position, value in pairs]
    if len({type(position) for position, _ in checked if position != 0}) > 1:
        raise RewardDefinitionError(
            f"{where} mixes fractions (float) and steps (int). Use only fractions or only steps"
        )
    for (first, _), (second, _) in pairwise(checked):
        if not first < second:
            raise RewardDefinitionError(
                f"{where}: positions must be in ascending order, but {second} comes after {first}. Sort them"
            )
    return checked


# Schedules made of other schedules: in sequence, repeated, delayed, or the extreme of several.


@final
@dataclass(frozen=True)
class Joined(Schedule):
    """Several schedules in sequence, each starting at its own position."""

    pieces: tuple[tuple[Position, Schedule], ...]

    @property
    def end_value(self) -> float:
        return self.pieces[-1][1].end_value

    @property
    def bounds(self) -> Bounds:
        limits = [schedule.bounds for schedule in self.parts]
        return min(low for low, _ in limits), max(high for _, high in limits)

    def at(self, progress: Progress) -> float:
        starts = [first_step(steps(position, progress)) for position, _ in self.pieces]
        piece = max(0, bisect.bisect_right(starts, progress.step) - 1)
        if piece + 1 < len(starts):
            return self.pieces[piece][1].at(progress.within(starts[piece], starts[piece + 1]))
        if starts[piece] >= progress.max_steps:  # training ends before this piece starts
            return self.end_value
        return self.pieces[piece][1].at(progress.within(starts[piece], progress.max_steps))

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        # Positions inside the pieces are relative to them.
        low, high = self.pieces[0][1].bounds
        changes = [position for position, piece in self.pieces if piece.bounds != (low, high)]
        return self.late_at(changes[0], max_steps) if changes and low == high else []

    @property
    def text(self) -> str:
        return call_text("join", dict(self.pieces))

    def __repr__(self) -> str:
        return f"join({{{', '.join(f'{position}: {schedule!r}' for position, schedule in self.pieces)}}})"


@final
@dataclass(frozen=True)
class Cycled(Schedule):
    """A schedule that restarts in every period."""

    schedule: Schedule
    period: Position

    @property
    def end_value(self) -> float:
        return self.schedule.end_value

    @property
    def bounds(self) -> Bounds:
        return self.schedule.bounds

    def at(self, progress: Progress) -> float:
        if progress.step >= progress.max_steps:
            return self.end_value
        period = steps(self.period, progress)
        # The tolerance keeps the ends of periods exact despite rounding, if the period is a fraction of training.
        cycle_index = math.floor((progress.step + 1e-9) / period)
        first, last = first_step(cycle_index * period), first_step((cycle_index + 1) * period)
        return self.schedule.at(progress.within(first, last))

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return []  # its positions are relative to a period

    @property
    def text(self) -> str:
        return call_text("cycle", self.schedule, period=self.period)

    def __repr__(self) -> str:
        return f"cycle({self.schedule!r}, period={self.period})"


@final
@dataclass(frozen=True)
class Extreme(Schedule):
    """The maximum or minimum of several schedules."""

    kind: Literal["maximum", "minimum"]
    schedules: tuple[Schedule, ...]

    def _of(self, values: Iterable[float]) -> float:
        return max(values) if self.kind == "maximum" else min(values)

    @property
    def end_value(self) -> float:
        return self._of(schedule.end_value for schedule in self.schedules)

    @property
    def bounds(self) -> Bounds:
        limits = [schedule.bounds for schedule in self.schedules]
        return self._of(low for low, _ in limits), self._of(high for _, high in limits)

    def at(self, progress: Progress) -> float:
        return self._of(schedule.at(progress) for schedule in self.schedules)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        moving = [schedule for schedule in self.schedules if schedule.bounds[0] != schedule.bounds[1]]
        steps = [late_parts[0][1] for schedule in moving if (late_parts := schedule.late(max_steps))]
        return self.late_at(min(steps), max_steps) if steps and len(steps) == len(moving) else []

    @property
    def text(self) -> str:
        return call_text(self.kind, *self.schedules)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.schedules))})"


def first_step(step: float) -> int:
    """Return the first whole step at or after `step`."""
    # A product such as 0.3 * 10 means step 3, not the step after it.
    return math.ceil(step - 1e-9)


def join(pieces: Mapping[Any, Any] | Iterable[tuple[Position, Any]]) -> Schedule:
    """Return a schedule that runs several schedules in sequence: ``join({0.0: 1.0, 0.3: linear(1.0, 0.2), 0.8: 0.2})``.

    Args:
        pieces: position -> schedule or number, in ascending order from 0. All positions must be fractions, or all must
            be steps. Positions inside each schedule are relative to its own part of training: 0.0 is the start of the
            part, 1.0 is the end, and steps are counted from the start.

    Raises:
        RewardDefinitionError: there are no pieces, the first piece is not at 0, or positions are out of order or of
            mixed types.
        RewardTypeError: `pieces` are not (position, schedule) pairs.
    """
    pairs = placed(pieces, "join")
    if not pairs or pairs[0][0] != 0:
        raise RewardDefinitionError("join needs a schedule at 0, where training starts: join({0.0: 1.0, 0.3: ...})")
    return Joined(tuple((position, _schedule(piece, "join: a piece")) for position, piece in pairs))


def cycle(schedule: Schedule, period: Position) -> Schedule:
    """Return a schedule that repeats `schedule`: ``cycle(cosine(1.0, 0.1), period=0.25)`` falls four times.

    At the end of training and during evaluation, the schedule has its end-of-period value.

    Args:
        schedule: the schedule to repeat. Its positions are relative to a period: 0.0 is the start, and 1.0 is the end.
        period: a fraction of training (float) or a number of steps (int), greater than 0.

    Raises:
        RewardDefinitionError: `period` is invalid or zero.
    """
    checked = checked_position(period, "cycle: period")
    if checked == 0:
        raise RewardDefinitionError(
            "cycle: period must be greater than 0. Pass period=0.25 for four periods in a training run"
        )
    return Cycled(_schedule(schedule, "cycle: the repeated value"), checked)


def delay(schedule: Schedule, until: Position, *, before: float | None = None) -> Schedule:
    """Return a schedule that starts `schedule` at `until`: ``delay(linear(0.0, 1.0), 0.2)``.

    Args:
        schedule: the schedule to delay. Its positions are relative to the period from `until` to the end of training.
        until: the start of `schedule`: a fraction of training (float) or a step (int), greater than 0.
        before: the value before `until`. The default is the first value of `schedule`.

    Raises:
        RewardDefinitionError: `until` is invalid or 0.
    """
    later, start = _schedule(schedule, "delay: the delayed value"), checked_position(until, "delay: until")
    if start == 0:
        raise RewardDefinitionError(
            "delay: until=0 is the start of training, so nothing is delayed. Pass a later position"
        )
    waiting = later.at(Progress(0, 1)) if before is None else number(before, "delay: before")
    return join([(0, waiting), (start, later)])


def after(position: Position, *, over: Position = 0) -> Schedule:
    """Return a schedule that is 0 before `position` and 1 after it: ``after(0.3)``.

    Args:
        position: a fraction of training (float) or a step (int).
        over: the duration of the change from 0 to 1, in the same unit as `position`.

    Raises:
        RewardDefinitionError: `position` or `over` is invalid.
    """
    return Passing(checked_position(position, "after: position"), checked_position(over, "after: over"))


def maximum(*schedules: float | Schedule) -> Schedule:
    """Return the maximum of several schedules or numbers.

    ``maximum(when_reached("tags"), after(0.7))`` becomes 1 when the level is reached or at 70% of training, whichever
    comes first.

    Raises:
        RewardDefinitionError: there are no schedules.
    """
    return _extreme("maximum", schedules)


def minimum(*schedules: float | Schedule) -> Schedule:
    """Return the minimum of several schedules or numbers.

    ``minimum(when_reached("tags"), after(0.2))`` becomes 1 when the level is reached, but not before 20% of training.

    Raises:
        RewardDefinitionError: there are no schedules.
    """
    return _extreme("minimum", schedules)


def _extreme(kind: Literal["maximum", "minimum"], schedules: tuple[float | Schedule, ...]) -> Schedule:
    if not schedules:
        raise RewardDefinitionError(f"{kind} needs at least one schedule")
    return Extreme(kind, tuple(_schedule(schedule, f"{kind}: an item") for schedule in schedules))


def _schedule(value: float | Schedule, subject: str) -> Schedule:
    return value if isinstance(value, Schedule) else Constant(number(value, subject))


class Curve(ABC):
    """The path of a value between two endpoints: ``curve(fraction, initial, target)``."""

    name: ClassVar[str]
    """The name of the public function that creates a schedule with this curve."""

    @property
    def options(self) -> dict[str, float]:
        """The arguments that only this function has."""
        return {option.name: getattr(self, option.name) for option in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def __call__(self, fraction: float, initial: float, target: float) -> float:
        """Return the value at `fraction`, the completed fraction of the change (above 0.0, below 1.0)."""


@final
@dataclass(frozen=True)
class LinearCurve(Curve):
    """A straight line."""

    name: ClassVar[str] = "linear"

    def __call__(self, fraction: float, initial: float, target: float) -> float:
        return initial * (1.0 - fraction) + target * fraction


@final
@dataclass(frozen=True)
class HalfCosine(Curve):
    """Half a cosine, which is slow, then fast, then slow."""

    name: ClassVar[str] = "cosine"

    def __call__(self, fraction: float, initial: float, target: float) -> float:
        return LinearCurve()((1.0 - math.cos(math.pi * fraction)) / 2.0, initial, target)


@final
@dataclass(frozen=True)
class Power(Curve):
    """The remaining fraction raised to a power. Above 1, the curve starts fast; below 1, it starts slowly."""

    name: ClassVar[str] = "polynomial"

    power: float

    def __call__(self, fraction: float, initial: float, target: float) -> float:
        return LinearCurve()(1.0 - (1.0 - fraction) ** self.power, initial, target)


@final
@dataclass(frozen=True)
class Geometric(Curve):
    """A geometric curve, which changes by equal factors over equal periods."""

    name: ClassVar[str] = "exponential"

    def __call__(self, fraction: float, initial: float, target: float) -> float:
        # Use logarithms, because the ratio of the two ends may overflow.
        return math.copysign(math.exp(LinearCurve()(fraction, math.log(abs(initial)), math.log(abs(target)))), target)


@final
@dataclass(frozen=True)
class Logistic(Curve):
    """A logistic curve, scaled to meet both endpoints exactly."""

    name: ClassVar[str] = "sigmoid"

    steepness: float

    def __call__(self, fraction: float, initial: float, target: float) -> float:
        # tanh is the logistic function between -1 and 1, and does not overflow.
        rise = math.tanh(self.steepness * (fraction - 0.5) / 2.0) / math.tanh(self.steepness / 4.0)
        return LinearCurve()((1.0 + rise) / 2.0, initial, target)


@final
@dataclass(frozen=True)
class Ramp(Schedule):
    """A schedule that moves from one value to another along a curve."""

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
        fraction = way_done(self.start, self.end, progress)
        if fraction in (0.0, 1.0):  # exactly at both ends
            return self.target if fraction else self.initial
        low, high = self.bounds
        return min(max(self.curve(fraction, self.initial, self.target), low), high)

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
    """A schedule through given points, with steps or straight lines between the points."""

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
        knots = [steps(position, progress) for position, _ in self.points]
        after = bisect.bisect_right(knots, progress.step)
        if after == 0:
            return self.points[0][1]
        value = self.points[after - 1][1]
        if after == len(self.points) or self.interpolation == "constant":
            return value
        fraction = (progress.step - knots[after - 1]) / (knots[after] - knots[after - 1])
        following = self.points[after][1]
        low, high = min(value, following), max(value, following)
        return min(max(LinearCurve()(fraction, value, following), low), high)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        changes = [index for index, (_, value) in enumerate(self.points) if value != self.points[0][1]]
        if not changes:
            return []
        jumps = self.interpolation == "constant"
        first = self.points[changes[0]][0] if jumps else self.points[changes[0] - 1][0] + 1
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
    """Return a straight line from `initial` to `final`: ``linear(0.0, 1.0, end=0.5)`` is 0.5 at 25% of training.

    Args:
        initial: the value until `start`.
        final: the value at `end` and later, and during evaluation.
        start: the start of the change: a fraction of training (float, 0.0 to 1.0) or a step (int, at least 2).
        end: the position at which the schedule reaches `final`, in the same format as `start`.

    Raises:
        RewardDefinitionError: a value is not finite, or a position is invalid.
    """
    return _ramp("linear", LinearCurve(), initial, final, start, end)


def cosine(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """Return half a cosine from `initial` to `final` (Loshchilov & Hutter 2017, without restarts).

    The change is slow at first, then fast, and slow again at the end. The arguments and errors are the same as for
    `linear`.
    """
    return _ramp("cosine", HalfCosine(), initial, final, start, end)


def polynomial(
    initial: float, final: float, *, power: float = 2.0, start: Position = 0.0, end: Position = 1.0
) -> Schedule:
    """Return ``(initial - final) * (1 - way)**power + final``, which changes fast at first and then more slowly.

    ``polynomial(1.0, 0.0)`` is 0.25 halfway. ``way`` is the fraction of the change that is complete. This polynomial
    decay is also used for learning rates. The other arguments are the same as for `linear`.

    Args:
        power: a number greater than 0. If it is 1, the schedule is a straight line. If it is below 1, the schedule
            starts slowly and ends fast.

    Raises:
        RewardDefinitionError: as for `linear`, or `power` is not greater than 0.
    """
    checked = number(power, "polynomial: power")
    if checked <= 0.0:
        raise RewardDefinitionError(f"polynomial: power must be greater than 0, got {checked:g}")
    return _ramp("polynomial", Power(checked), initial, final, start, end, power=(checked, 2.0))


def exponential(initial: float, final: float, *, start: Position = 0.0, end: Position = 1.0) -> Schedule:
    """Return a geometric change from `initial` to `final`: ``exponential(1.0, 0.01)`` is 0.1 halfway.

    The value changes by equal factors over equal periods. The arguments are the same as for `linear`.

    Raises:
        RewardDefinitionError: as for `linear`, or `initial` or `final` is zero, or their signs differ.
    """
    first, last = number(initial, "initial"), number(final, "final")
    if not (first > 0.0 and last > 0.0) and not (first < 0.0 and last < 0.0):
        raise RewardDefinitionError(
            f"exponential: cannot go from {first:g} to {last:g}. Both values must be positive, or both must be "
            "negative. Use a small number such as 0.01 instead of zero"
        )
    return _ramp("exponential", Geometric(), first, last, start, end)


# The default steepness of 10 brings the unstretched curve within 1% of its limits at both ends.
def sigmoid(
    initial: float, final: float, *, steepness: float = 10.0, start: Position = 0.0, end: Position = 1.0
) -> Schedule:
    """Return a logistic curve from `initial` to `final`, which is slow at both ends and fast in the middle.

    ``sigmoid(0.0, 1.0)`` is 0.07 a quarter of the way through and 0.5 halfway. The curve is scaled to meet both
    endpoints exactly. The other arguments are the same as for `linear`.

    Args:
        steepness: the steepness of the logistic function, at least 1e-6. With a small value, the curve is almost a
            straight line.

    Raises:
        RewardDefinitionError: as for `linear`, or `steepness` is below 1e-6.
    """
    checked = number(steepness, "sigmoid: steepness")
    # Below 1e-6, the curve is a straight line to the last digit; at 0, it would be 0 / 0.
    if checked < 1e-6:
        raise RewardDefinitionError(f"sigmoid: steepness must be greater than 0 (at least 1e-6), got {checked:g}")
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
    argument_texts = [f"{value:g}" for value in values]
    argument_texts += [f"{option}={value:g}" for option, (value, default) in options.items() if value != default]
    argument_texts += [f"start={first}"] * (first != 0) + [f"end={last}"] * (last != 1.0)
    return Ramp(*values, first, last, curve, f"{name}({', '.join(argument_texts)})")


def warm_up(end: Position, weight: float | Schedule = 1.0) -> Schedule:
    """Return a straight line from 0 to `weight`: ``accuracy * warm_up(0.1)``.

    Args:
        end: the position at which the schedule reaches `weight`: a fraction of training (float) or a step (int).
        weight: a number or a schedule.

    Raises:
        RewardDefinitionError: as for `linear`.
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
        points: position -> value, in ascending order. All positions must be fractions, or all must be steps.
        interpolation: ``"linear"`` connects the points with straight lines. ``"constant"`` keeps each value until the
            next point.

    Raises:
        RewardDefinitionError: there are no points, positions are out of order or of mixed types, or a value is
            infinite.
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
