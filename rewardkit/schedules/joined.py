"""Schedules made of schedules in time: one after another, again and again, later.

``join({0.0: linear(0.0, 1.0), 0.5: cosine(1.0, 0.2)})`` rises during the first half of training and falls during the
second: the positions of each one count within its own part.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.positions import Position, checked_position, steps
from rewardkit.core.progress import Bounds, Constant, Progress, Schedule, number


@final
@dataclass(frozen=True)
class Joined(Schedule):
    """Each schedule from its position on, until that of the next."""

    pieces: tuple[tuple[Position, Schedule], ...]

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return tuple(schedule for _, schedule in self.pieces)

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
        stop = starts[piece + 1] if piece + 1 < len(starts) else max(progress.max_steps, starts[piece] + 1)
        return self.pieces[piece][1].at(progress.within(starts[piece], stop))

    def __repr__(self) -> str:
        return f"join({{{', '.join(f'{position}: {schedule!r}' for position, schedule in self.pieces)}}})"


@final
@dataclass(frozen=True)
class Cycled(Schedule):
    """A schedule that starts anew with every period."""

    schedule: Schedule
    period: Position

    @property
    def parts(self) -> tuple[Schedule, ...]:
        return (self.schedule,)

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

    def __repr__(self) -> str:
        return f"cycle({self.schedule!r}, period={self.period})"


def first_step(place: float) -> int:
    """The first whole step that is not before `place`."""
    return math.ceil(place - 1e-9)


def join(pieces: Mapping[Any, float | Schedule] | Iterable[tuple[Position, float | Schedule]]) -> Schedule:
    """One schedule after another: ``join({0.0: 1.0, 0.3: linear(1.0, 0.2), 0.8: 0.2})``.

    Args:
        pieces: position -> schedule or number, from 0 on, positions ascending, all fractions or all steps. The
            positions inside each schedule count within its own part: 0.0 is where the part starts, 1.0 where it ends,
            and steps count from its start.

    Raises:
        RewardDefinitionError: no pieces, the first is not at 0, positions out of order or of both kinds.
    """
    pairs = list(pieces.items() if isinstance(pieces, Mapping) else pieces)
    checked = tuple((checked_position(position, "a position"), _schedule(piece)) for position, piece in pairs)
    if not checked or checked[0][0] != 0:
        raise RewardDefinitionError("join needs a schedule at 0, where training starts: join({0.0: 1.0, 0.3: ...})")
    if len({type(position) for position, _ in checked if position != 0}) > 1:
        raise RewardDefinitionError("join mixes fractions (float) and steps (int); write all positions alike")
    for (first, _), (second, _) in pairwise(checked):
        if not first < second:
            raise RewardDefinitionError(f"join: positions must ascend, {second} follows {first}")
    return Joined(checked)


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
    return Cycled(_schedule(schedule), checked)


def delay(schedule: Schedule, until: Position, *, before: float | None = None) -> Schedule:
    """`schedule` squeezed into what is left of training after `until`: ``delay(linear(0.0, 1.0), 0.2)``.

    Args:
        schedule: its positions count from `until` to the end of training.
        until: where it starts: a fraction of training (float) or a step (int).
        before: the value until then; by default the one it starts with.

    Raises:
        RewardDefinitionError: `until` is no position, or 0.
    """
    later = _schedule(schedule)
    waiting = later.at(Progress(0, 1)) if before is None else number(before, "delay: before")
    return join([(0, waiting), (until, later)])


def _schedule(value: float | Schedule) -> Schedule:
    return value if isinstance(value, Schedule) else Constant(number(value, "a schedule"))
