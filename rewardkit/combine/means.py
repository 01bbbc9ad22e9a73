"""Weighted sums and means: ``rk.weighted_mean({accuracy: 2.0, style: 1.0})`` is (2 * accuracy + style) / 3.

In a sum, a reward that abstains drops out; a mean divides by the weights of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from rewardkit.batch.column import Column, Floats, Rows, Share, weighted_total
from rewardkit.combine.items import weighted_items
from rewardkit.errors import RewardDefinitionError
from rewardkit.progress.schedule import Weight, weight_bounds
from rewardkit.tree.algebra import WeightedSum, schedules_of, weighted, weighted_sum_of
from rewardkit.tree.reward import Evaluation, Facts, Reward, Steps, Tunable

# Geometric and harmonic means: ``rk.geometric_mean(form, accuracy)`` is high only if both are high.


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
