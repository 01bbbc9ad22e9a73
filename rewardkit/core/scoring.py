"""Scoring: one evaluation of a tree over one batch, as the nodes of the tree see it, and what they hand down."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rewardkit.core.outcome import Column, Fault, Floats, Rows

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
