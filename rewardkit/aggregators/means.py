"""Weighted sums and means: ``rk.weighted_mean({accuracy: 2.0, style: 1.0})`` is (2 * accuracy + style) / 3.

In a sum, a reward that abstains drops out; a mean divides by the weights of the others.
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
    """The weighted sum, divided by the weights of the rewards that did not abstain."""

    items: tuple[tuple[Weight, Reward], ...]

    def __post_init__(self) -> None:
        for weight, reward in self.items:
            if weight_bounds(weight)[0] < 0.0:
                raise RewardDefinitionError(
                    f"weighted_mean: the weight {weight!r} of {reward!r} becomes negative. Use weights of at least 0"
                )

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
        # If all weights are zero now, there is no mean: the row abstains, unless a reward failed.
        live = [(column, weight != 0.0) for weight, column in columns]
        result = Column.combined(live, _divided(weighted_total(columns), denominator), rows)
        result.fill(rows & (denominator <= 0.0) & result.contributing, Column.abstained(len(rows)))
        # If everything abstained, the weights stay as they are: zero would mean that the rewards are switched off.
        divisor = np.where(denominator > 0.0, denominator, 1.0)
        result.shares = tuple(Share(weight / divisor) for weight, _ in columns)
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return WeightedMean(tuple(zip(numbers, children, strict=True)))

    def __repr__(self) -> str:
        return f"weighted_mean({WeightedSum(self.items)!r})"


def _denominator(columns: Sequence[tuple[float, Column]]) -> Floats:
    """Return the summed weights of the columns that contribute to each row, (n,)."""
    total = np.zeros(len(columns[0][1].values))
    for weight, column in columns:
        total += np.where(column.contributing, weight, 0.0)
    return total


def _divided(values: Floats, denominator: Floats) -> Floats:
    """Return `values` / `denominator`, (n,); 0 if the denominator is 0."""
    return np.divide(values, denominator, out=np.zeros_like(denominator), where=denominator > 0.0)


def weighted_sum(*items: Any) -> Reward:
    """Return the weighted sum, the same as ``0.2 * tags + 0.8 * exact``. A reward that abstains drops out.

    ``rk.weighted_sum({"format": 0.2 * tags, "answer": (0.8, exact)})`` also names the two components.

    Args:
        items: rewards, ``(weight, reward)`` pairs in either order, one list of them, or one mapping: reward -> weight,
            or name -> reward or pair. A weight is a number or a schedule.

    Raises:
        RewardDefinitionError: there are no items, or a weight is not finite.
        RewardTypeError: an item is neither a weight nor a reward.
    """
    return weighted_sum_of(weighted_items(items, "weighted_sum"))


def weighted_mean(*items: Any) -> Reward:
    """Return the weighted mean of the rewards that do not abstain.

    ``rk.weighted_mean(0.7 * a, 0.3 * b)`` is `a` if `b` abstains. It abstains if all of them do, or if all weights are
    zero at the moment.

    Args:
        items: as for ``rk.weighted_sum``. Weights must not be negative.

    Raises:
        RewardDefinitionError: a weight is negative, or becomes negative later.
    """
    return WeightedMean(tuple(weighted_items(items, "weighted_mean")))
