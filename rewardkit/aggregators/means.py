"""Weighted sums and means: ``rk.weighted_mean({accuracy: 2.0, style: 1.0})`` is (2 * accuracy + style) / 3.

A sum lets what abstained drop out; a mean renormalises over what did not abstain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rewardkit.aggregators.items import weighted_items
from rewardkit.core.algebra import Reward, WeightedSum, weighted_sum_of
from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.outcome import Column, Floats, Rows, weighted_total
from rewardkit.core.progress import Bounds, Progress, Schedule, Weight, weight_bounds, weight_now
from rewardkit.core.scoring import Scoring, Share, schedules_of, weighted_columns


@final
@dataclass(frozen=True)
class WeightedMean(Reward):
    """The weighted sum divided by the weights of what did not abstain."""

    items: tuple[tuple[Weight, Reward], ...]

    def __post_init__(self) -> None:
        for weight, reward in self.items:
            if weight_bounds(weight)[0] < 0.0:
                raise RewardDefinitionError(f"weighted_mean: the weight {weight!r} of {reward!r} gets negative")

    @property
    def name(self) -> str:
        return "weighted_mean"

    @property
    def generic(self) -> bool:
        return True

    @property
    def logged(self) -> bool:
        return False

    @property
    def children(self) -> tuple[Reward, ...]:
        return tuple(reward for _, reward in self.items)

    @property
    def addends(self) -> tuple[Reward, ...]:
        return self.children

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        return schedules_of(weight for weight, _ in self.items)

    def addend_weights(self, progress: Progress | None) -> tuple[float, ...]:
        weights = [weight_now(weight, progress) for weight, _ in self.items]
        return tuple(weight / (sum(weights) or 1.0) for weight in weights)

    @property
    def bounds(self) -> Bounds:
        limits = [reward.bounds for _, reward in self.items]
        return min(low for low, _ in limits), max(high for _, high in limits)

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        columns = await weighted_columns(scoring, self.items, rows)
        denominator = _denominator(columns)
        # Where all weights are zero now there is no mean of anything: such rows abstain, unless something failed.
        live = [(column, weight != 0.0) for weight, column in columns]
        result = Column.combined(live, _divided(weighted_total(columns), denominator), rows)
        result.fill(rows & (denominator <= 0.0) & result.contributing, Column.abstained(len(rows)))
        return result

    def distribute(self, scoring: Scoring, share: Share) -> Iterator[tuple[Reward, Share]]:
        progress = scoring.batch.progress
        columns = [(weight_now(weight, progress), scoring.column(reward)) for weight, reward in self.items]
        denominator = _denominator(columns)
        # Where everything abstained the weights stay as they are: zero would say that the children are switched off.
        divisor = np.where(denominator > 0.0, denominator, 1.0)
        for (weight, _), (_, reward) in zip(columns, self.items, strict=True):
            yield reward, share.scaled(weight / divisor)

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
