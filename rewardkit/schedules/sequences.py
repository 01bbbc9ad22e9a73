"""Schedules made of other schedules: one after another, repeated, delayed, or the extreme of several.

``join({0.0: linear(0.0, 1.0), 0.5: cosine(1.0, 0.2)})`` rises during the first half of training and falls during the
second. Positions inside each schedule are relative to its own part.
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
    """Schedules one after another, each from its own position."""

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
        if starts[piece] >= progress.max_steps:  # training ends before it starts
            return self.end_value
        return self.pieces[piece][1].at(progress.within(starts[piece], progress.max_steps))

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        # Positions inside the pieces are relative to them.
        low, high = self.pieces[0][1].bounds
        others = [position for position, piece in self.pieces if piece.bounds != (low, high)]
        return self.late_at(others[0], max_steps) if others and low == high else []

    @property
    def text(self) -> str:
        return call_text("join", dict(self.pieces))

    def __repr__(self) -> str:
        return f"join({{{', '.join(f'{position}: {schedule!r}' for position, schedule in self.pieces)}}})"


@final
@dataclass(frozen=True)
class Cycled(Schedule):
    """A schedule that starts again with every period."""

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

    def late(self, max_steps: int) -> list[tuple[Schedule, int]]:
        moving = [schedule for schedule in self.schedules if schedule.bounds[0] != schedule.bounds[1]]
        steps = [found[0][1] for schedule in moving if (found := schedule.late(max_steps))]
        return self.late_at(min(steps), max_steps) if steps and len(steps) == len(moving) else []

    @property
    def text(self) -> str:
        return call_text(self.kind, *self.schedules)

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.schedules))})"


def first_step(place: float) -> int:
    """Return the first whole step at or after `place`."""
    return math.ceil(place - 1e-9)


def join(pieces: Mapping[Any, Any] | Iterable[tuple[Position, Any]]) -> Schedule:
    """Return one schedule after another: ``join({0.0: 1.0, 0.3: linear(1.0, 0.2), 0.8: 0.2})``.

    Args:
        pieces: position -> schedule or number, in ascending order from 0; only fractions or only steps. Positions
            inside each schedule are relative to its own part: 0.0 is its start, 1.0 its end, and steps count from its
            start.

    Raises:
        RewardDefinitionError: there are no pieces, the first one is not at 0, or positions are out of order or of both
            kinds.
        RewardTypeError: `pieces` are not (position, schedule) pairs.
    """
    pairs = placed(pieces, "join")
    if not pairs or pairs[0][0] != 0:
        raise RewardDefinitionError("join needs a schedule at 0, where training starts: join({0.0: 1.0, 0.3: ...})")
    return Joined(tuple((position, _schedule(piece, "join: a piece")) for position, piece in pairs))


def cycle(schedule: Schedule, period: Position) -> Schedule:
    """Return `schedule` repeated: ``cycle(cosine(1.0, 0.1), period=0.25)`` falls four times.

    At the end of training, and in evaluation, it has the value at the end of a period.

    Args:
        schedule: its positions are relative to a period: 0.0 is its start, 1.0 its end.
        period: a fraction of training (float) or a number of steps (int), above 0.

    Raises:
        RewardDefinitionError: `period` is invalid, or zero.
    """
    checked = checked_position(period, "cycle: period")
    if checked == 0:
        raise RewardDefinitionError("cycle: period must be above 0. Pass period=0.25 for four periods in a training")
    return Cycled(_schedule(schedule, "cycle: what is repeated"), checked)


def delay(schedule: Schedule, until: Position, *, before: float | None = None) -> Schedule:
    """Return `schedule` for the part of training after `until`: ``delay(linear(0.0, 1.0), 0.2)``.

    Args:
        schedule: its positions are relative to the part from `until` to the end of training.
        until: where it starts: a fraction of training (float) or a step (int), above 0.
        before: the value until then; by default the first value of `schedule`.

    Raises:
        RewardDefinitionError: `until` is invalid, or 0.
    """
    later, start = _schedule(schedule, "delay: what is delayed"), checked_position(until, "delay: until")
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
        over: how long it takes from 0 to 1; the same kind of number.

    Raises:
        RewardDefinitionError: `position` or `over` is invalid.
    """
    return Passing(checked_position(position, "after: position"), checked_position(over, "after: over"))


def maximum(*schedules: float | Schedule) -> Schedule:
    """Return the highest of several schedules or numbers.

    ``maximum(when_reached("tags"), after(0.7))`` is 1 when the level is reached, at the latest at 70 % of training.

    Raises:
        RewardDefinitionError: there are no schedules.
    """
    return _extreme("maximum", schedules)


def minimum(*schedules: float | Schedule) -> Schedule:
    """Return the lowest of several schedules or numbers.

    ``minimum(when_reached("tags"), after(0.2))`` is 1 when the level is reached, but not before 20 % of training.

    Raises:
        RewardDefinitionError: there are no schedules.
    """
    return _extreme("minimum", schedules)


def _extreme(kind: Literal["maximum", "minimum"], schedules: tuple[float | Schedule, ...]) -> Schedule:
    if not schedules:
        raise RewardDefinitionError(f"{kind} needs at least one schedule")
    return Extreme(kind, tuple(_schedule(schedule, f"{kind}: an item") for schedule in schedules))


def _schedule(value: float | Schedule, what: str) -> Schedule:
    return value if isinstance(value, Schedule) else Constant(number(value, what))
