"""Monitors: ``accuracy + rk.monitor(length)`` logs the length reward without training on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from rewardkit.batch.column import Column, Rows
from rewardkit.batch.score import ABSTAINED
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps


@final
@dataclass(frozen=True)
class Monitor(Reward):
    """A reward that is scored and logged, but always abstains."""

    reward: Reward

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(
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


def monitor(reward: RewardLike) -> Reward:
    """Return a reward that logs `reward` as a component, but does not change the total.

    ``accuracy + rk.monitor(rk.repetition_penalty())`` trains on accuracy only. A monitor does not add a term to the
    total. If `reward` fails, the completion is still scored.

    Args:
        reward: the reward to log.

    Raises:
        RewardTypeError: `reward` is not a reward.
    """
    return Monitor(reward_of(reward, "monitor"))
