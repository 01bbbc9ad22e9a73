"""Schedule: a number that depends on training progress.

``linear(0.0, 1.0, end=0.5)(Progress(step=25, max_steps=100))`` is 0.5. A schedule is a pure function of Progress and
has no state. During evaluation (``training=False`` or no Progress), every schedule has its end value, so that
evaluation results can be compared across steps.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, final

from rewardkit.errors import RewardDefinitionError
from rewardkit.progress.bounds import Bounds, number, scaled_bounds
from rewardkit.progress.progress import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Schedule(ABC):
    """A number that depends on training progress.

    It is frozen, hashable, and picklable, and created with ``rk.schedules``.
    """

    @property
    @abstractmethod
    def end_value(self) -> float:
        """The value at the end of training and during evaluation."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """The lowest and the highest possible value."""

    @final
    @property
    def parts(self) -> tuple[Schedule, ...]:
        """The schedules in this schedule's fields, including schedules inside tuples."""
        return tuple(_schedules_in(tuple(getattr(self, field.name) for field in fields(self))))  # type: ignore[arg-type]

    @abstractmethod
    def at(self, progress: Progress) -> float:
        """Return the value at `progress`."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The code that creates this schedule, with all digits: ``"0.5 * (linear(0.0, 1.0, start=0.0, end=0.3))"``."""

    @abstractmethod
    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        """Return this schedule's parts whose first change comes after the last step, with the step of the change.

        Only a position in steps can be after the last step. A performance-based schedule does not have positions.
        """

    @final
    def late_parts(self, max_steps: int) -> list[tuple[Schedule, int]]:
        """Return the result of `late` for a schedule whose parts have positions in the same training run."""
        return [late_part for part in self.parts for late_part in part.late(max_steps)]

    @final
    def late_at(self, step: int | float, max_steps: int) -> list[tuple[Schedule, int]]:
        """Return the result of `late` for a schedule whose value first changes at the position `step`."""
        return [(self, step)] if isinstance(step, int) and step >= max_steps else []

    @final
    def __call__(self, progress: Progress | None = None) -> float:
        """Return the current value; during evaluation or without Progress, the end value."""
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
        """Return this schedule with its value limited to [`low`, `high`]."""
        return Limited(self, number(low, "clip's lower bound"), number(high, "clip's upper bound"))

    @final
    def plot(self, max_steps: int = 100, *, means: Mapping[str, Sequence[float]] | None = None) -> Figure:
        """Return a figure of this schedule over training.

        The arguments are the same as for ``Reward.plot_schedules``.
        """
        # Imported by name: plots score trees, so their module is in a layer above this one.
        figure: Figure = importlib.import_module("rewardkit.schedules.plots").plot_schedules(
            self, max_steps, means=means
        )
        return figure

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


def _schedules_in(value: object) -> Iterator[Schedule]:
    if isinstance(value, Schedule):
        yield value
    for item in value if isinstance(value, tuple) else ():
        yield from _schedules_in(item)


Weight = float | Schedule

State = Mapping[str, Any]
"""A schedule's state between batches, as JSON: numbers, flags, and lists of both."""


SQUARES = "\u00b2"
"""The suffix for the mean of a component's squared scores among the means."""


class PerformanceSchedule(Schedule):
    """A schedule that follows a component's mean. The trainer stores the schedule's state and passes it in.

    ``at`` reads the state from ``progress.states[schedule]``; before the first batch, it uses ``init``.
    """

    component: str
    source: Any
    """The reward that the component must be equal to, if the user passed a reward instead of a name."""

    @property
    @abstractmethod
    def highest(self) -> float:
        """The highest mean that the schedule waits for; minus infinity if it does not wait for a mean."""

    @final
    def describe(self) -> str:
        """Return a string that identifies the schedule, for fingerprints and checkpoints."""
        return repr(self)

    @final
    @property
    def end_value(self) -> float:
        """The value once every level that the schedule waits for has been reached."""
        return self.value(self.settled())

    @abstractmethod
    def init(self) -> State:
        """Return the state before the first batch."""

    @abstractmethod
    def settled(self) -> State:
        """Return the state for evaluation, in which every level that the schedule waits for is reached."""

    @abstractmethod
    def update(self, state: State, means: Mapping[str, float]) -> State:
        """Return the state after a training batch in which the components had these means over all ranks.

        ``name + SQUARES`` is the mean of a component's squared scores. If a component does not have a score in the
        batch, both means are missing and the state does not change.
        """

    @abstractmethod
    def value(self, state: State) -> float:
        """Return the value for `state`."""

    @final
    def at(self, progress: Progress) -> float:
        return self.value(progress.states.get(self) or self.init())

    @final
    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_parts(max_steps)


def following(schedule: Weight) -> Iterator[PerformanceSchedule]:
    """Yield the performance-based schedules in `schedule`, including `schedule` itself."""
    if isinstance(schedule, PerformanceSchedule):
        yield schedule
    for part in schedule.parts if isinstance(schedule, Schedule) else ():
        yield from following(part)


@final
@dataclass(frozen=True)
class Constant(Schedule):
    """A schedule that always has the same value."""

    value: float

    @property
    def end_value(self) -> float:
        return self.value

    @property
    def bounds(self) -> Bounds:
        return self.value, self.value

    def at(self, progress: Progress) -> float:
        return self.value

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_parts(max_steps)

    @property
    def text(self) -> str:
        return call_text("constant", self.value)

    def __repr__(self) -> str:
        return f"constant({self.value:g})"


@final
@dataclass(frozen=True)
class Scaled(Schedule):
    """A schedule multiplied by a number."""

    schedule: Schedule
    factor: float

    @property
    def end_value(self) -> float:
        return self.factor * self.schedule.end_value

    @property
    def bounds(self) -> Bounds:
        return scaled_bounds(self.schedule.bounds, (self.factor, self.factor))

    def at(self, progress: Progress) -> float:
        return self.factor * self.schedule.at(progress)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_parts(max_steps)

    @property
    def text(self) -> str:
        return f"{self.factor!r} * ({self.schedule.text})"

    def __repr__(self) -> str:
        return f"{self.factor:g}*{self.schedule!r}" if self.factor != 1.0 else repr(self.schedule)


@final
@dataclass(frozen=True)
class Multiplied(Schedule):
    """The product of two schedules, for example, nested scheduled weights."""

    first: Schedule
    second: Schedule

    @property
    def end_value(self) -> float:
        return self.first.end_value * self.second.end_value

    @property
    def bounds(self) -> Bounds:
        return scaled_bounds(self.first.bounds, self.second.bounds)

    def at(self, progress: Progress) -> float:
        return self.first.at(progress) * self.second.at(progress)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_parts(max_steps)

    @property
    def text(self) -> str:
        return f"({self.first.text}) * ({self.second.text})"

    def __repr__(self) -> str:
        return f"{self.first!r}*{self.second!r}"


@final
@dataclass(frozen=True)
class Summed(Schedule):
    """The sum of two schedules."""

    first: Schedule
    second: Schedule

    @property
    def end_value(self) -> float:
        return self.first.end_value + self.second.end_value

    @property
    def bounds(self) -> Bounds:
        (low, high), (other_low, other_high) = self.first.bounds, self.second.bounds
        return low + other_low, high + other_high

    def at(self, progress: Progress) -> float:
        return self.first.at(progress) + self.second.at(progress)

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_parts(max_steps)

    @property
    def text(self) -> str:
        return f"({self.first.text} + {self.second.text})"

    def __repr__(self) -> str:
        first, second = self.first, self.second
        if isinstance(second, Constant) and not isinstance(first, Constant):  # print 1 - x instead of -x + 1
            first, second = second, first
        first_text = f"{first.value:g}" if isinstance(first, Constant) else repr(first)
        if isinstance(second, Scaled) and second.factor < 0.0:
            return f"({first_text} - {Scaled(second.schedule, -second.factor)!r})"
        return f"({first_text} + {second!r})"


@final
@dataclass(frozen=True)
class Limited(Schedule):
    """A schedule limited to [`low`, `high`]."""

    schedule: Schedule
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise RewardDefinitionError(
                f"clip({self.low:g}, {self.high:g}): the lower bound is greater than the upper bound"
            )

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

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        return self.late_parts(max_steps)

    @property
    def text(self) -> str:
        return f"({self.schedule.text}).clip({self.low!r}, {self.high!r})"

    def __repr__(self) -> str:
        return f"{grouped(self.schedule)}.clip({self.low:g}, {self.high:g})"


def grouped(schedule: Schedule) -> str:
    """Return a schedule's repr for use before a dot. Products get parentheses, which sums already have."""
    return f"({schedule!r})" if isinstance(schedule, Scaled | Multiplied) else repr(schedule)


def call_text(name: str, *arguments: object, **options: object) -> str:
    """Return the code that creates a schedule: ``linear(0.0, 1.0, end=0.5)``. Arguments may be schedules."""
    argument_texts = [argument_text(argument) for argument in arguments]
    argument_texts += [f"{option}={argument_text(value)}" for option, value in options.items()]
    return f"{name}({', '.join(argument_texts)})"


def argument_text(value: object) -> str:
    if isinstance(value, Schedule):
        return value.text
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {argument_text(item)}' for key, item in value.items())}}}"
    return repr(value)


def as_weight(value: object, subject: str = "a weight") -> Weight:
    """Return `value` as a checked weight: a number or a schedule. A constant schedule becomes its number."""
    if isinstance(value, Constant):
        return value.value
    return value if isinstance(value, Schedule) else number(value, subject)


def weight_now(weight: Weight, progress: Progress | None) -> float:
    """Return the value of `weight` at `progress`."""
    return weight if isinstance(weight, float) else float(weight(progress))


def weight_bounds(weight: Weight) -> Bounds:
    return weight.bounds if isinstance(weight, Schedule) else (weight, weight)


def multiplied(first: Weight, second: Weight) -> Weight:
    """Return the product of two weights, which are numbers or schedules. If one is 0.0, the product is 0.0."""
    if 0.0 in (first, second):
        return 0.0
    if isinstance(first, Schedule):
        return Multiplied(first, second) if isinstance(second, Schedule) else first if second == 1 else first * second
    if isinstance(second, Schedule):
        return second if first == 1 else second * first
    return number(first * second, "the product of two weights")
