"""Progress (where training stands) and Schedule (a number that depends on it).

``linear(0.0, 1.0, end=0.5)(Progress(step=25, max_steps=100))`` is 0.5. A schedule is a pure function of
Progress: it holds no state. In evaluation (``training=False``, or no Progress at all) every schedule stands
at its end value, so that evaluation curves compare across steps.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten

TOLERANCE = 1e-9
"""What comes so near to a threshold, a bound or another value counts as reaching it."""

Bounds = tuple[float, float]
"""Lowest and highest value, both included; infinite where there is no limit."""


@dataclass(frozen=True)
class Progress:
    """Where training stands: ``Progress(step=20, max_steps=100).fraction == 0.2``.

    Args:
        step: optimiser steps done, from 0.
        max_steps: optimiser steps in all, at least 1.
        training: False while evaluating.
        means: component -> mean over the last training batch of all ranks.
        states: state of the schedules that follow performance, by schedule.
    """

    step: int
    max_steps: int
    training: bool = True
    means: Mapping[str, float] = field(default_factory=dict, kw_only=True, hash=False)
    states: Mapping[Any, Any] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        whole = isinstance(self.step, Integral) and isinstance(self.max_steps, Integral)
        if not whole or self.step < 0 or self.max_steps < 1:
            raise RewardDefinitionError(
                "Progress needs whole numbers, step >= 0 and max_steps >= 1, got "
                f"step={self.step}, max_steps={self.max_steps}"
            )
        object.__setattr__(self, "means", MappingProxyType(dict(self.means)))
        object.__setattr__(self, "states", MappingProxyType(dict(self.states)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _progress, (self.step, self.max_steps, self.training, dict(self.means), dict(self.states))

    @property
    def fraction(self) -> float:
        """Share of training done, 0.0 to 1.0."""
        return min(1.0, self.step / self.max_steps)

    def within(self, first: int, last: int) -> Progress:
        """Where a part of training stands that goes from the step `first` to the step `last`."""
        return replace(self, step=max(0, self.step - first), max_steps=max(1, last - first))


def _progress(
    step: int, max_steps: int, training: bool, means: Mapping[str, float], states: Mapping[Any, Any]
) -> Progress:
    return Progress(step, max_steps, training, means=means, states=states)


class Schedule(ABC):
    """A number that depends on training progress. Frozen, hashable, picklable; made by ``rk.schedules``."""

    @property
    @abstractmethod
    def end_value(self) -> float:
        """The value at the end of training, and in evaluation."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """The lowest and highest value it ever takes."""

    @property
    def parts(self) -> tuple[Schedule, ...]:
        """The schedules it is made of."""
        return ()

    @abstractmethod
    def at(self, progress: Progress) -> float:
        """The value at `progress`."""

    @final
    def __call__(self, progress: Progress | None = None) -> float:
        """The value now; the end value in evaluation or without Progress."""
        return self.at(progress) if progress is not None and progress.training else self.end_value

    @final
    def __mul__(self, other: object) -> Any:
        if isinstance(other, Schedule):
            return Multiplied(self, other)
        if not isinstance(other, Real):
            return NotImplemented
        factor = number(other, "a schedule's factor")
        return Scaled(self.schedule, factor * self.factor) if isinstance(self, Scaled) else Scaled(self, factor)

    __rmul__ = __mul__

    @final
    def __add__(self, other: object) -> Schedule:
        if isinstance(other, Real):
            other = Constant(number(other, "a schedule's summand"))
        return Summed(self, other) if isinstance(other, Schedule) else NotImplemented

    __radd__ = __add__

    @final
    def clip(self, low: float = 0.0, high: float = 1.0) -> Schedule:
        """Its value limited to [`low`, `high`]."""
        return Limited(self, number(low, "clip's lower bound"), number(high, "clip's upper bound"))

    @final
    def __neg__(self) -> Schedule:
        negative: Schedule = self * -1.0
        return negative

    @final
    def __sub__(self, other: object) -> Schedule:
        return self + (-other) if isinstance(other, (Real, Schedule)) else NotImplemented

    @final
    def __rsub__(self, other: object) -> Schedule:
        return -self + other


Weight = float | Schedule

State = Mapping[str, Any]
"""What a schedule remembers between batches: numbers, flags and lists of them, as JSON can hold them."""


SQUARES = "\u00b2"
"""Behind a component's name among the means: the mean of its squares."""


class PerformanceSchedule(Schedule):
    """A schedule that follows the mean of a component. It holds no state: who trains keeps it and hands it in.

    ``progress.states[schedule]`` is the state that ``at`` reads; before there is one, ``init`` is.
    """

    component: str
    source: Any
    """The reward that was named by itself, if one was: the component of that name has to be it."""

    @property
    @abstractmethod
    def highest(self) -> float:
        """The highest mean that it waits for; minus infinity if it waits for none."""

    @final
    def describe(self) -> str:
        """What makes it what it is, for fingerprints and checkpoints."""
        return repr(self)

    @final
    @property
    def end_value(self) -> float:
        return self.value(self.settled())

    @abstractmethod
    def init(self) -> State:
        """The state before the first batch."""

    @abstractmethod
    def settled(self) -> State:
        """The state that counts in evaluation: whatever is to be reached is reached."""

    @abstractmethod
    def update(self, state: State, means: Mapping[str, float]) -> State:
        """The state after a training batch with these means of the components over all ranks.

        Besides each mean there is that of the squares, as ``name + SQUARES``. A component that nobody scored in the
        batch has neither: the state then stays as it is.
        """

    @abstractmethod
    def value(self, state: State) -> float:
        """The value in `state`."""

    @final
    def at(self, progress: Progress) -> float:
        return self.value(progress.states.get(self) or self.init())


def following(schedule: Weight) -> Iterator[PerformanceSchedule]:
    """The schedules inside `schedule` that follow performance, itself included."""
    if isinstance(schedule, PerformanceSchedule):
        yield schedule
    for part in schedule.parts if isinstance(schedule, Schedule) else ():
        yield from following(part)


@final
@dataclass(frozen=True)
class Constant(Schedule):
    """The same number always."""

    value: float

    @property
    def end_value(self) -> float:
        return self.value

    @property
    def bounds(self) -> Bounds:
        return self.value, self.value

    def at(self, progress: Progress) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"constant({self.value:g})"


@final
@dataclass(frozen=True)
class Scaled(Schedule):
    """A schedule times a number."""

    schedule: Schedule
    factor: float

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return (self.schedule,)

    @property
    def end_value(self) -> float:
        return self.factor * self.schedule.end_value

    @property
    def bounds(self) -> Bounds:
        return scaled_bounds(self.schedule.bounds, (self.factor, self.factor))

    def at(self, progress: Progress) -> float:
        return self.factor * self.schedule.at(progress)

    def __repr__(self) -> str:
        return f"{self.factor:g}*{self.schedule!r}" if self.factor != 1.0 else repr(self.schedule)


@final
@dataclass(frozen=True)
class Multiplied(Schedule):
    """The product of two schedules, as nested scheduled weights make it."""

    first: Schedule
    second: Schedule

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return self.first, self.second

    @property
    def end_value(self) -> float:
        return self.first.end_value * self.second.end_value

    @property
    def bounds(self) -> Bounds:
        return scaled_bounds(self.first.bounds, self.second.bounds)

    def at(self, progress: Progress) -> float:
        return self.first.at(progress) * self.second.at(progress)

    def __repr__(self) -> str:
        return f"{self.first!r}*{self.second!r}"


@final
@dataclass(frozen=True)
class Summed(Schedule):
    """The sum of two schedules."""

    first: Schedule
    second: Schedule

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return self.first, self.second

    @property
    def end_value(self) -> float:
        return self.first.end_value + self.second.end_value

    @property
    def bounds(self) -> Bounds:
        (low, high), (other_low, other_high) = self.first.bounds, self.second.bounds
        return low + other_low, high + other_high

    def at(self, progress: Progress) -> float:
        return self.first.at(progress) + self.second.at(progress)

    def __repr__(self) -> str:
        first, second = self.first, self.second
        if isinstance(second, Constant) and not isinstance(first, Constant):  # 1 - x, as it is mostly written
            first, second = second, first
        shown = f"{first.value:g}" if isinstance(first, Constant) else repr(first)
        if isinstance(second, Scaled) and second.factor < 0.0:
            return f"({shown} - {Scaled(second.schedule, -second.factor)!r})"
        return f"({shown} + {second!r})"


@final
@dataclass(frozen=True)
class Limited(Schedule):
    """A schedule that stays within two numbers."""

    schedule: Schedule
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise RewardDefinitionError(f"clip({self.low:g}, {self.high:g}): the lower bound is above the upper one")

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return (self.schedule,)

    def _limited(self, value: float) -> float:
        return min(max(value, self.low), self.high)

    @property
    def end_value(self) -> float:
        return self._limited(self.schedule.end_value)

    @property
    def bounds(self) -> Bounds:
        low, high = self.schedule.bounds
        return self._limited(low), self._limited(high)

    def at(self, progress: Progress) -> float:
        return self._limited(self.schedule.at(progress))

    def __repr__(self) -> str:
        return f"{grouped(self.schedule)}.clip({self.low:g}, {self.high:g})"


def grouped(schedule: Schedule) -> str:
    """How a schedule prints before a dot: products in parentheses, which sums have already."""
    return f"({schedule!r})" if isinstance(schedule, Scaled | Multiplied) else repr(schedule)


def scaled_bounds(first: Bounds, second: Bounds) -> Bounds:
    """Bounds of a product of two numbers that move within `first` and `second`."""
    corners = [0.0 if 0.0 in (a, b) else a * b for a in first for b in second]
    return min(corners), max(corners)


def number(value: object, what: str) -> float:
    """`value` as a finite float, or an error that names `what`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RewardTypeError(f"{what} must be a number, got {shorten(value)} ({type(value).__name__})")
    result = float(value)
    if not math.isfinite(result):
        raise RewardDefinitionError(f"{what} must be finite, got {result}")
    return result


def as_weight(value: object, what: str = "a weight") -> Weight:
    """A number or a schedule, checked; constant schedules become their number."""
    if isinstance(value, Constant):
        return value.value
    return value if isinstance(value, Schedule) else number(value, what)


def weight_now(weight: Weight, progress: Progress | None) -> float:
    """The weight's number at `progress`."""
    return float(weight(progress)) if isinstance(weight, Schedule) else weight


def weight_bounds(weight: Weight) -> Bounds:
    return weight.bounds if isinstance(weight, Schedule) else (weight, weight)


def multiplied(first: Weight, second: Weight) -> Weight:
    """The product of two weights, either of which may be a schedule; 0.0 stays a number."""
    if 0.0 in (first, second):
        return 0.0
    if isinstance(first, Schedule):
        return Multiplied(first, second) if isinstance(second, Schedule) else first if second == 1 else first * second
    if isinstance(second, Schedule):
        return second if first == 1 else second * first
    return first * second
