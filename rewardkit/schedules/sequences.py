"""Schedules made of schedules in time: one after another, again and again, later.

``join({0.0: linear(0.0, 1.0), 0.5: cosine(1.0, 0.2)})`` rises during the first half of training and falls during the
second: the positions of each one count within its own part.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.bounds import Bounds, number
from rewardkit.core.progress.positions import Passing, Position, checked_position, steps
from rewardkit.core.progress.progress import Progress
from rewardkit.core.progress.schedule import Constant, Schedule, call_text
from rewardkit.schedules.points import placed


@final
@dataclass(frozen=True)
class Joined(Schedule):
    """Each schedule from its position on, until that of the next."""

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
        if starts[piece] >= progress.max_steps:  # training leaves no time for it
            return self.end_value
        return self.pieces[piece][1].at(progress.within(starts[piece], progress.max_steps))

    @property
    def text(self) -> str:
        return call_text("join", dict(self.pieces))

    def __repr__(self) -> str:
        return f"join({{{', '.join(f'{position}: {schedule!r}' for position, schedule in self.pieces)}}})"


@final
@dataclass(frozen=True)
class Cycled(Schedule):
    """A schedule that starts anew with every period."""

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
        done = math.floor((progress.step + 1e-9) / period)
        first, last = first_step(done * period), first_step((done + 1) * period)
        return self.schedule.at(progress.within(first, last))

    @property
    def text(self) -> str:
        return call_text("cycle", self.schedule, period=self.period)

    def __repr__(self) -> str:
        return f"cycle({self.schedule!r}, period={self.period})"


@final
@dataclass(frozen=True)
class Extreme(Schedule):
    """The highest or the lowest of several schedules."""

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

    @property
    def text(self) -> str:
        return call_text(self.kind, *self.schedules)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.schedules))})"


def first_step(place: float) -> int:
    """The first whole step that is not before `place`."""
    return math.ceil(place - 1e-9)


def join(pieces: Mapping[Any, Any] | Iterable[tuple[Position, Any]]) -> Schedule:
    """One schedule after another: ``join({0.0: 1.0, 0.3: linear(1.0, 0.2), 0.8: 0.2})``.

    Args:
        pieces: position -> schedule or number, from 0 on, positions ascending, all fractions or all steps. The
            positions inside each schedule count within its own part: 0.0 is where the part starts, 1.0 where it ends,
            and steps count from its start.

    Raises:
        RewardDefinitionError: no pieces, the first is not at 0, positions out of order or of both kinds.
    """
    pairs = placed(pieces, "join")
    if not pairs or pairs[0][0] != 0:
        raise RewardDefinitionError("join needs a schedule at 0, where training starts: join({0.0: 1.0, 0.3: ...})")
    return Joined(tuple((position, _schedule(piece, "join: a piece")) for position, piece in pairs))


def cycle(schedule: Schedule, period: Position) -> Schedule:
    """`schedule` again and again: ``cycle(cosine(1.0, 0.1), period=0.25)`` falls four times.

    Args:
        schedule: its positions count within a period: 0.0 is where one starts, 1.0 where it ends.
        period: a fraction of training (float) or a number of steps (int), above 0.

    At the end of training, and in evaluation, it stands at the end of a period.

    Raises:
        RewardDefinitionError: `period` is no position, or zero.
    """
    checked = checked_position(period, "cycle: period")
    if checked == 0:
        raise RewardDefinitionError("cycle: a period takes some time; period=0.25 makes four in a training")
    return Cycled(_schedule(schedule, "cycle: what is repeated"), checked)


def delay(schedule: Schedule, until: Position, *, before: float | None = None) -> Schedule:
    """`schedule` squeezed into what is left of training after `until`: ``delay(linear(0.0, 1.0), 0.2)``.

    Args:
        schedule: its positions count from `until` to the end of training.
        until: where it starts: a fraction of training (float) or a step (int).
        before: the value until then; by default the one it starts with.

    Raises:
        RewardDefinitionError: `until` is no position, or 0.
    """
    later, start = _schedule(schedule, "delay: what is delayed"), checked_position(until, "delay: until")
    if start == 0:
        raise RewardDefinitionError("delay: until=0 is where training starts, which delays nothing")
    waiting = later.at(Progress(0, 1)) if before is None else number(before, "delay: before")
    return join([(0, waiting), (start, later)])


def after(position: Position, *, over: Position = 0) -> Schedule:
    """0 before `position`, 1 after it: ``after(0.3)``; with `over` it takes that long from 0 to 1.

    Raises:
        RewardDefinitionError: `position` or `over` is none.
    """
    return Passing(checked_position(position, "after: position"), checked_position(over, "after: over"))


def maximum(*schedules: float | Schedule) -> Schedule:
    """The highest of schedules: ``maximum(when_reached("tags"), after(0.7))`` is 1 when reached, at the latest at 70 %.

    Raises:
        RewardDefinitionError: there are none.
    """
    return _extreme("maximum", schedules)


def minimum(*schedules: float | Schedule) -> Schedule:
    """The lowest of schedules: ``minimum(when_reached("tags"), after(0.2))`` is 1 when reached, but not before 20 %.

    Raises:
        RewardDefinitionError: there are none.
    """
    return _extreme("minimum", schedules)


def _extreme(kind: Literal["maximum", "minimum"], schedules: tuple[float | Schedule, ...]) -> Schedule:
    if not schedules:
        raise RewardDefinitionError(f"{kind} needs at least one schedule")
    return Extreme(kind, tuple(_schedule(schedule, f"{kind}: an item") for schedule in schedules))


def _schedule(value: float | Schedule, what: str) -> Schedule:
    return value if isinstance(value, Schedule) else Constant(number(value, what))
