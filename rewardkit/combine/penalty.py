"""Penalties: ``rk.penalty(rk.contains(none=rk.REFUSALS), 0.5)`` is -0.5 if the policy refuses; otherwise, 0."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from rewardkit.batch.column import Column, Rows
from rewardkit.errors import RewardDefinitionError
from rewardkit.progress.bounds import number
from rewardkit.tree.algebra import derived
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps


@final
@dataclass(frozen=True)
class Penalty(Reward):
    """A reward minus its highest score, scaled to `size`."""

    reward: Reward
    size: float

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(
            name=derived(self.reward, "penalty"),
            bounds=(-self.size, 0.0),
            children=(self.reward,),
            generic=True,
            wants="none",
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (column,) = yield [(self.reward, rows)]
        low, high = self.reward.bounds
        return Column.combined([(column, True)], self.size * ((column.values - high) / (high - low)), rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        (reward,) = children
        return penalty(reward, self.size)

    def __repr__(self) -> str:
        return f"penalty({self.reward!r}{f', {self.size:g}' * (self.size != 1.0)})"


def penalty(reward: RewardLike, size: float = 1.0) -> Reward:
    """Turn a reward into a penalty: 0 at the reward's highest score, and ``-size`` at its lowest.

    ``accuracy + rk.penalty(rk.contains(none="As an AI"), 0.3)`` subtracts 0.3 from a completion that contains "As an
    AI". In a plain sum, a penalty ranks completions the same way as `reward` itself. Behind a gate, the ranking
    differs: a completion that fails the gate scores 0, but a completion that passes the gate can score less than 0.
    Therefore, put penalties outside gates, or keep them smaller than the reward for passing the gate.

    Args:
        reward: a reward with finite bounds that is high for good completions.
        size: the largest penalty, greater than 0.

    Raises:
        RewardDefinitionError: the bounds are not finite, or `size` is not greater than 0.
        RewardTypeError: `reward` is not a reward.
    """
    item = reward_of(reward, "penalty")
    checked = number(size, "penalty: size")
    if checked <= 0.0:
        raise RewardDefinitionError(
            f"penalty: size must be greater than 0, got {checked:g}. Write it without a sign: a penalty is always "
            "subtracted"
        )
    low, high = item.bounds
    if not math.isfinite(high - low) or low == high:
        raise RewardDefinitionError(
            f"penalty: {item!r} has the bounds {item.bounds}, but a penalty needs two different finite bounds. Declare "
            "them, or use .clip(low, high)"
        )
    return Penalty(item, checked)
