"""Scoring: one evaluation of a tree over one batch, as its nodes see it; what they hand down, and how they ask."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.outcome import Column, Fault, Floats, Measured, Rows
from rewardkit.core.progress import Schedule, Weight, weight_now

if TYPE_CHECKING:
    from rewardkit.core.algebra import Reward
    from rewardkit.core.batch import Batch

Together = Literal["sample", "group", "batch"]


@dataclass(frozen=True, slots=True)
class Share:
    """What a node contributes to the total: ``weight`` (n,) times its value, in the rows that ``reached`` (n,) it.

    The weight is a single number as long as it is the same in all rows.
    """

    weight: float | Floats
    reached: Rows

    def scaled(self, factor: float | Floats) -> Share:
        return Share(self.weight * factor, self.reached)

    def within(self, rows: Rows) -> Share:
        return Share(self.weight, self.reached & rows)


class Scoring(Protocol):
    """One evaluation of a tree over one batch, as its nodes see it."""

    @property
    def batch(self) -> Batch: ...

    async def columns(self, requests: Sequence[tuple[Reward, Rows]]) -> list[Column]:
        """Evaluates each reward on its rows, side by side where they wait."""

    def column(self, reward: Reward) -> Column:
        """What has been evaluated so far of `reward`."""

    def gate_passed(self, gate: Reward, reached: Rows, passed: Rows) -> None:
        """Notes which of the rows that reached `gate` it let through."""

    def unrouted(self, reward: Reward, rows: Rows) -> None:
        """Notes the rows in which `reward` does not apply, so that it abstains there."""

    def faulted(self, faults: Sequence[Fault]) -> None:
        """Notes rows that failed or errored."""

    @property
    def strict(self) -> bool:
        """Whether a reward's own bug raises (``rk.score``, checks, the first training batch)."""

    async def turn(self) -> None:
        """Waits until everything that can run in the background has been started."""

    async def background(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Runs a coroutine in the background loop and waits for it."""

    async def finished(self, future: Future[Any]) -> None:
        """Waits until `future` is done, however it ended."""

    def timed(self, reward: Reward, seconds: float) -> None:
        """Notes the time that the function of a leaf took."""

    def measured(self, reward: Reward, found: Measured) -> None:
        """Notes what else was measured of `reward` in this batch: calls, tokens, money."""


def scheduled(weight: Weight, progress: Any, reward: Reward) -> float:
    """The weight of `reward` now, checked to be finite."""
    value = weight_now(weight, progress)
    if not np.isfinite(value):
        raise RewardDefinitionError(f"the schedule {weight!r} of {reward!r} gave {value}, a weight must be finite")
    return value


def wanted(weight: Weight, now: float, reward: Reward) -> bool:
    """Whether to evaluate a child: at weight zero too, for its curve, unless it is always zero or expensive."""
    if now != 0.0:
        return True
    return isinstance(weight, Schedule) and not any(getattr(leaf, "expensive", False) for leaf in leaves(reward))


def schedules_of(weights: Iterable[Weight]) -> tuple[Schedule, ...]:
    """Those of `weights` that move."""
    return tuple(weight for weight in weights if isinstance(weight, Schedule))


def leaves(reward: Reward) -> Iterator[Reward]:
    """The rewards without children below `reward`, from left to right, repeated where they stand repeatedly."""
    if not reward.children:
        yield reward
    for child in reward.children:
        yield from leaves(child)


async def weighted_columns(
    scoring: Scoring, items: Sequence[tuple[Weight, Reward]], rows: Rows
) -> list[tuple[float, Column]]:
    """The weight of this moment and the column of each item, what is not worth it left unevaluated."""
    weights = [scheduled(weight, scoring.batch.progress, reward) for weight, reward in items]
    nobody = np.zeros_like(rows)
    requests = [
        (reward, rows if wanted(weight, now, reward) else nobody)
        for (weight, reward), now in zip(items, weights, strict=True)
    ]
    columns = await scoring.columns(requests)
    # What somebody else asked for does not count here: it may be there or not yet.
    skipped = Column.empty(len(rows))
    return [
        (weight, skipped if asked is nobody else column)
        for weight, (_, asked), column in zip(weights, requests, columns, strict=True)
    ]
