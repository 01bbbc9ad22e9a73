"""Monitor: ``accuracy + rk.monitor(length)`` logs the length's score and never trains on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import ABSTAINED
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, as_reward


@final
@dataclass(frozen=True)
class Monitor(Reward):
    """A reward that is evaluated and logged, and abstains."""

    reward: Reward

    @cached_property
    def facts(self) -> Facts:
        return Facts(
            name=f"monitor({self.reward.name})",
            bounds=(0.0, 0.0),
            children=(self.reward,),
            logged=False,
            addends=(),
            wants="none",
            renamed=lambda name: Monitor(self.reward.named(name)),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        yield [(self.reward, rows)]
        column = Column.empty(len(rows))
        column.codes[rows] = ABSTAINED
        return column

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Monitor(*children)

    def __repr__(self) -> str:
        return f"monitor({self.reward!r})"


def monitor(reward: Reward) -> Reward:
    """Logs `reward` as a component without any effect on the total: it has no term, and its failures fail nothing."""
    return Monitor(as_reward(reward, "monitor"))
