"""Product, minimum and maximum: ``rk.product(format, accuracy)`` is high only if both are high.

They are not additive: each is one term, and its rewards are logged as components. Rewards that abstain are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from rewardkit.aggregators.items import listed_rewards
from rewardkit.core.batch.column import Column, Floats, Rows
from rewardkit.core.progress.bounds import Bounds, scaled_bounds
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps

Operation = Literal["product", "minimum", "maximum"]

_STEPS: dict[Operation, tuple[Callable[[Floats, Floats], Floats], float]] = {
    "product": (np.multiply, 1.0),
    "minimum": (np.minimum, np.inf),
    "maximum": (np.maximum, -np.inf),
}


@final
@dataclass(frozen=True)
class Combination(Reward):
    """The product, minimum or maximum of several rewards."""

    operation: Operation
    rewards: tuple[Reward, ...]

    @cached_property
    def facts(self) -> Facts:
        return Facts(
            name=self.operation,
            bounds=self._bounds(),
            children=self.rewards,
            generic=True,
            wants="any" if self.operation == "maximum" else "all",
        )

    def _bounds(self) -> Bounds:
        # Any of the rewards may abstain, so the bounds must hold for every subset of them.
        limits = [reward.bounds for reward in self.rewards]
        low, high = limits[0]
        for other in limits[1:]:
            reach = [scaled_bounds((low, high), other)] if self.operation == "product" else []
            low = min(low, other[0], *(bound[0] for bound in reach))
            high = max(high, other[1], *(bound[1] for bound in reach))
        return low, high

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[Column] = yield [(reward, rows) for reward in self.rewards]
        step, neutral = _STEPS[self.operation]
        values = np.full(len(rows), neutral)
        for column in columns:
            values = step(values, np.where(column.contributing, column.values, neutral))
        return Column.combined([(column, True) for column in columns], values, rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Combination(self.operation, children)

    def __repr__(self) -> str:
        return f"{self.operation}({', '.join(map(repr, self.rewards))})"


def product(*rewards: Any) -> Reward:
    """Return the product of rewards: high only if all of them are high.

    ``rk.product(rk.tags("answer"), rk.exact("answer"))`` scores ``<answer>Paris</answer>`` 1.0 if the column "answer"
    is ``Paris``, and a bare ``Paris`` 0.0.

    Args:
        rewards: one or more rewards, or one list of them. Rewards that abstain are left out.

    Raises:
        RewardDefinitionError: there are no rewards.
        RewardTypeError: an item is not a reward.
    """
    return _combination("product", rewards)


def minimum(*rewards: Any) -> Reward:
    """Return the lowest of several rewards: a completion is as good as its worst side.

    ``rk.minimum(a, b)`` is 0.3 if `a` is 0.9 and `b` is 0.3. Arguments and errors are those of ``rk.product``.
    """
    return _combination("minimum", rewards)


def maximum(*rewards: Any) -> Reward:
    """Return the highest of several rewards: it is enough to be good in one way.

    ``rk.maximum(a, b)`` is 0.9 if `a` is 0.9 and `b` is 0.3. Arguments and errors are those of ``rk.product``.
    """
    return _combination("maximum", rewards)


def _combination(operation: Operation, rewards: tuple[Any, ...]) -> Reward:
    return Combination(operation, listed_rewards(operation, rewards, least=1))
