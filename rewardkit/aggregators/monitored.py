"""Monitor: ``accuracy + rk.monitor(length)`` logs the length's score and never trains on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from rewardkit.core.algebra import Reward, as_reward
from rewardkit.core.outcome import ABSTAINED, Column, Rows
from rewardkit.core.progress import Bounds
from rewardkit.core.scoring import Scoring


@final
@dataclass(frozen=True)
class Monitor(Reward):
    """A reward that is evaluated and logged, and abstains."""

    reward: Reward

    @property
    def name(self) -> str:
        return f"monitor({self.reward.name})"

    @property
    def logged(self) -> bool:
        return False

    @property
    def children(self) -> tuple[Reward, ...]:
        return (self.reward,)

    @property
    def addends(self) -> tuple[Reward, ...]:
        return ()

    @property
    def bounds(self) -> Bounds:
        return 0.0, 0.0

    def named(self, name: str) -> Reward:
        return Monitor(self.reward.named(name))

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        await scoring.columns([(self.reward, rows)])
        column = Column.empty(len(rows))
        column.codes[rows] = ABSTAINED
        return column

    def distribute(self, scoring: Scoring, share: object) -> list[object]:  # type: ignore[override]
        return []

    def __repr__(self) -> str:
        return f"monitor({self.reward!r})"


def monitor(reward: Reward) -> Reward:
    """Logs `reward` as a component without any effect on the total: it has no term, and its failures fail nothing."""
    return Monitor(as_reward(reward, "monitor"))
