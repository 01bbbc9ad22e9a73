"""Geometric and harmonic means: ``rk.geometric_mean(form, accuracy)`` is high only if both are high.

They are between a product and an average: one low score costs more than in an average, and two scores of 0.25 make
0.25, not 0.06. They are not additive: each is one term, and its rewards are logged as components. Rewards that abstain
are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from rewardkit.aggregators.items import weighted_items
from rewardkit.core.batch.column import Column, Floats, Rows
from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.schedule import Weight, weight_bounds
from rewardkit.core.tree.algebra import WeightedSum, schedules_of, weighted
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, Tunable

SMALLEST = float(np.finfo(np.float64).tiny)
"""Replaces a divisor of zero."""

Kind = Literal["geometric_mean", "harmonic_mean"]


@final
@dataclass(frozen=True)
class PowerMean(Reward):
    """The weighted geometric or harmonic mean of several rewards."""

    kind: Kind
    items: tuple[tuple[Weight, Reward], ...]

    def __post_init__(self) -> None:
        for weight, reward in self.items:
            if weight_bounds(weight)[0] < 0.0:
                raise RewardDefinitionError(
                    f"{self.kind}: the weight {weight!r} of {reward!r} becomes negative. Use weights of at least 0"
                )
            if not reward.bounds[0] >= 0.0:
                raise RewardDefinitionError(
                    f"{self.kind}: {reward!r} can go down to {reward.bounds[0]:g}, but a "
                    f"{self.kind.replace('_', ' ')} needs scores of at least 0. Use .clip(0, 1), or rk.weighted_mean"
                )

    @cached_property
    def facts(self) -> Facts:
        rewards = tuple(reward for _, reward in self.items)
        limits = [reward.bounds for reward in rewards]
        return Facts(
            name=self.kind,
            bounds=(min(low for low, _ in limits), max(high for _, high in limits)),
            children=rewards,
            generic=True,
            schedules=schedules_of(weight for weight, _ in self.items),
            tunables=tuple(Tunable("weights", weight, reward) for weight, reward in self.items),
        )

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return PowerMean(self.kind, tuple(zip(numbers, children, strict=True)))

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[tuple[float, Column]] = yield from weighted(self.items, evaluation, rows)
        weights = np.array([np.where(column.contributing, weight, 0.0) for weight, column in columns])
        values = np.array([np.where(column.contributing, column.values, 1.0) for _, column in columns])
        result = Column.combined(
            [(column, weight != 0.0) for weight, column in columns], self._mean(weights, values), rows
        )
        # If all weights are zero now, there is no mean.
        result.fill(rows & (weights.sum(axis=0) <= 0.0) & result.contributing, Column.abstained(len(rows)))
        return result

    def _mean(self, weights: Floats, values: Floats) -> Floats:
        """Return the means, (n,), of (items, n) weights and values; 0 if a value with a weight is 0."""
        counted = weights > 0.0
        weights = weights / np.maximum(weights.max(axis=0), SMALLEST)  # so that tiny weights do not vanish
        total = np.maximum(weights.sum(axis=0), SMALLEST)
        positive = np.where(counted & (values > 0.0), values, 1.0)
        if self.kind == "geometric_mean":
            mean = np.exp((weights * np.log(positive)).sum(axis=0) / total)
        else:
            with np.errstate(over="ignore"):  # the reciprocal of a tiny number
                mean = total / np.maximum((weights / positive).sum(axis=0), SMALLEST)
        # Rounding errors of logarithms must not leave the declared bounds.
        low = np.where(counted, values, np.inf).min(axis=0)
        high = np.where(counted, values, -np.inf).max(axis=0)
        return np.where((counted & (values <= 0.0)).any(axis=0), 0.0, np.clip(mean, low, high))

    def __repr__(self) -> str:
        return f"{self.kind}({WeightedSum(self.items)!r})"


def geometric_mean(*items: Any) -> Reward:
    """Return the weighted geometric mean: ``rk.geometric_mean(a, b)`` is 0.6 if `a` is 0.9 and `b` is 0.4.

    The formula is ``exp(sum(w * log(x)) / sum(w))``. It is 0.0 if a reward with a weight is 0.

    Args:
        items: as for ``rk.weighted_mean``. The bounds of every reward must start at 0 or above.

    Raises:
        RewardDefinitionError: a weight or a reward can be negative.
        RewardTypeError: an item is neither a weight nor a reward.
    """
    return _power_mean("geometric_mean", items)


def harmonic_mean(*items: Any) -> Reward:
    """Return the weighted harmonic mean: ``rk.harmonic_mean(precision, recall)`` is the F1 score.

    The formula is ``sum(w) / sum(w / x)``. It is 0.0 if a reward with a weight is 0. Arguments and errors are those of
    ``rk.geometric_mean``.
    """
    return _power_mean("harmonic_mean", items)


def _power_mean(kind: Kind, items: tuple[Any, ...]) -> Reward:
    return PowerMean(kind, tuple(weighted_items(items, kind)))
