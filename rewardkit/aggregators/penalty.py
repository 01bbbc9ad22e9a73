"""Penalties: ``rk.penalty(rk.no_refusal(), 0.5)`` is 0 where all is well and -0.5 where the policy refuses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.bounds import number
from rewardkit.core.tree.algebra import derived
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, as_reward


@final
@dataclass(frozen=True)
class Penalty(Reward):
    """What a reward lacks of its best, as a negative number."""

    reward: Reward
    size: float

    @cached_property
    def facts(self) -> Facts:
        return Facts(
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


def penalty(reward: Reward, size: float = 1.0) -> Reward:
    """A reward as a penalty: 0 at its best, down to -`size` at its worst, so that it only ever takes away.

    ``accuracy + rk.penalty(rk.contains_none(["As an AI"]), 0.3)`` takes 0.3 from a completion that says it. Within a
    plain sum this ranks completions as the reward itself would; it makes a difference behind a gate, where the closed
    rows are paid 0: a passing completion can then score less than a failing one, so keep penalties outside, or below
    what passing earns.

    Args:
        reward: high where all is well; its bounds must be finite.
        size: of the whole penalty, above 0.

    Raises:
        RewardDefinitionError: bounds that are not finite, a size that is not above 0.
    """
    item = as_reward(reward, "penalty")
    checked = number(size, "penalty: size")
    if checked <= 0.0:
        raise RewardDefinitionError(f"penalty: size is a number above 0, got {checked:g}; the sign comes by itself")
    low, high = item.bounds
    if not math.isfinite(high - low) or low == high:
        raise RewardDefinitionError(
            f"penalty: {item!r} has the bounds {item.bounds}; how much it lacks needs two finite ones: declare "
            "them, or use .clip(low, high)"
        )
    return Penalty(item, checked)
