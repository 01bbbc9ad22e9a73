"""Weighted sums and means: ``rk.weighted_mean({accuracy: 2.0, style: 1.0})`` is (2 * accuracy + style) / 3.

A sum lets what abstained drop out; a mean renormalizes over what did not abstain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.aggregators.items import weighted_items
from rewardkit.core.batch.column import Column, Floats, Rows, Share, weighted_total
from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.schedule import Weight, weight_bounds
from rewardkit.core.tree.algebra import WeightedSum, schedules_of, weighted, weighted_sum_of
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, Tunable


@final
@dataclass(frozen=True)
class WeightedMean(Reward):
    """The weighted sum divided by the weights of what did not abstain."""

    items: tuple[tuple[Weight, Reward], ...]

    def __post_init__(self) -> None:
        for weight, reward in self.items:
            if weight_bounds(weight)[0] < 0.0:
                raise RewardDefinitionError(f"weighted_mean: the weight {weight!r} of {reward!r} gets negative")

    @cached_property
    def facts(self) -> Facts:
        weights = tuple(weight for weight, _ in self.items)
        rewards = tuple(reward for _, reward in self.items)
        limits = [reward.bounds for reward in rewards]
        return Facts(
            name="weighted_mean",
            bounds=(min(low for low, _ in limits), max(high for _, high in limits)),
            children=rewards,
            generic=True,
            logged=False,
            addends=rewards,
            weights=weights,
            average=True,
            schedules=schedules_of(weights),
            tunables=tuple(Tunable("weights", weight, reward) for weight, reward in self.items),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[tuple[float, Column]] = yield from weighted(self.items, evaluation, rows)
        denominator = _denominator(columns)
        # Where all weights are zero now there is no mean of anything: such rows abstain, unless something failed.
        live = [(column, weight != 0.0) for weight, column in columns]
        result = Column.combined(live, _divided(weighted_total(columns), denominator), rows)
        result.fill(rows & (denominator <= 0.0) & result.contributing, Column.abstained(len(rows)))
        # Where everything abstained the weights stay as they are: zero would say that the children are switched off.
        divisor = np.where(denominator > 0.0, denominator, 1.0)
        result.shares = tuple(Share(weight / divisor) for weight, _ in columns)
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return WeightedMean(tuple(zip(numbers, children, strict=True)))

    def __repr__(self) -> str:
        return f"weighted_mean({WeightedSum(self.items)!r})"


def _denominator(columns: Sequence[tuple[float, Column]]) -> Floats:
    """(n,) the weights of what contributes."""
    total = np.zeros(len(columns[0][1].values))
    for weight, column in columns:
        total += np.where(column.contributing, weight, 0.0)
    return total


def _divided(values: Floats, denominator: Floats) -> Floats:
    """`values` / `denominator`, 0 where there is nothing to divide by."""
    return np.divide(values, denominator, out=np.zeros_like(denominator), where=denominator > 0.0)


def weighted_sum(*items: Any) -> Reward:
    """``rk.weighted_sum({"format": 0.2 * tags, "answer": (0.8, exact)})``, the same as the operators build.

    Args:
        items: rewards, ``(weight, reward)`` pairs in either order, one list of those, or one mapping:
            reward -> weight, or name -> reward or pair, which names it.

    Raises:
        RewardDefinitionError: nothing to sum, or a weight that is not finite.
        RewardTypeError: something that is neither a weight nor a reward.
    """
    return weighted_sum_of(weighted_items(items, "weighted_sum"))


def weighted_mean(*items: Any) -> Reward:
    """The weighted mean over what did not abstain; abstains where everything did or all weights are zero now.

    Args:
        items: as for `weighted_sum`; weights must not be negative. ``weighted_mean(0.7 * a, 0.3 * b)`` takes
            the factors as weights.

    Raises:
        RewardDefinitionError: a weight that is negative, at any time.
    """
    return WeightedMean(tuple(weighted_items(items, "weighted_mean")))
