"""Weighted sums and means: ``rk.mean({accuracy: 2.0, style: 1.0})`` is (2 * accuracy + style) / 3.

If a reward abstains, a sum skips it, and a mean is divided by the weights of the other rewards. A geometric or harmonic
mean is high only if all of its rewards are high: ``rk.mean(form, accuracy, kind="geometric")``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final, get_args

import numpy as np

from rewardkit.batch.column import Column, Floats, Rows, Share, weighted_total
from rewardkit.combine.items import listed_rewards, weighted_items
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.schedule import Weight, as_weight, weight_bounds
from rewardkit.tree.algebra import WeightedSum, schedules_of, weighted, weighted_sum_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps, Tunable

Kind = Literal["arithmetic", "geometric", "harmonic"]

SMALLEST = float(np.finfo(np.float64).tiny)
"""The divisor that is used instead of zero."""


@final
@dataclass(frozen=True)
class Mean(Reward):
    """The weighted mean of the rewards that do not abstain. An arithmetic mean is a sum of terms."""

    items: tuple[tuple[Weight, Reward], ...]
    kind: Kind

    def __post_init__(self) -> None:
        for weight, reward in self.items:
            if weight_bounds(weight)[0] < 0.0:
                raise RewardDefinitionError(
                    f"{self.name}: the weight {weight!r} of {reward!r} becomes negative. Use weights that stay at or "
                    "above 0"
                )
            if self.kind != "arithmetic" and not reward.bounds[0] >= 0.0:
                raise RewardDefinitionError(
                    f"{self.name}: {reward!r} can score as low as {reward.bounds[0]:g}, but a {self.kind} mean needs "
                    "scores of at least 0. Use .clip(0, 1), or an arithmetic mean"
                )

    @cached_property
    def facts(self) -> NodeSpec:
        weights = tuple(weight for weight, _ in self.items)
        rewards = tuple(reward for _, reward in self.items)
        limits = [reward.bounds for reward in rewards]
        additive = self.kind == "arithmetic"
        return NodeSpec(
            name="mean" if additive else f"{self.kind}_mean",
            bounds=(min(low for low, _ in limits), max(high for _, high in limits)),
            children=rewards,
            generic=True,
            logged=not additive,
            addends=rewards if additive else None,
            weights=weights if additive else None,
            average=additive,
            schedules=schedules_of(weights),
            tunables=tuple(Tunable("weights", weight, reward) for weight, reward in self.items),
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[tuple[float, Column]] = yield from weighted(self.items, evaluation, rows)
        weights = np.array([np.where(column.contributing, weight, 0.0) for weight, column in columns])
        total = np.add.reduce(weights, axis=0)
        active_columns = [(column, weight != 0.0) for weight, column in columns]
        if self.kind == "arithmetic":
            values = np.divide(weighted_total(columns), total, out=np.zeros_like(total), where=total > 0.0)
        else:
            scores = np.array([np.where(column.contributing, column.values, 1.0) for _, column in columns])
            values = self._power_mean(weights, scores)
        # If all weights are currently zero, there is no mean: the row abstains, unless a reward failed.
        result = Column.combined(active_columns, values, rows)
        result.fill(rows & (total <= 0.0) & result.contributing, Column.abstained(len(rows)))
        if self.kind == "arithmetic":
            # If everything abstained, the weights stay as they are: zero would mean that the rewards are switched off.
            divisor = np.where(total > 0.0, total, 1.0)
            result.shares = tuple(Share(weight / divisor) for weight, _ in columns)
        return result

    def _power_mean(self, weights: Floats, values: Floats) -> Floats:
        """Return the mean for each row (n,), given weights and values of shape (items, n).

        A mean is 0 if a value with a nonzero weight is 0.
        """
        counted = weights > 0.0
        weights = weights / np.maximum(weights.max(axis=0), SMALLEST)  # so that tiny weights do not vanish
        total = np.maximum(weights.sum(axis=0), SMALLEST)
        positive = np.where(counted & (values > 0.0), values, 1.0)
        if self.kind == "geometric":
            mean = np.exp((weights * np.log(positive)).sum(axis=0) / total)
        else:
            with np.errstate(over="ignore"):  # the reciprocal of a tiny number
                mean = total / np.maximum((weights / positive).sum(axis=0), SMALLEST)
        # Rounding errors of logarithms must not leave the declared bounds.
        low = np.where(counted, values, np.inf).min(axis=0)
        high = np.where(counted, values, -np.inf).max(axis=0)
        return np.where((counted & (values <= 0.0)).any(axis=0), 0.0, np.clip(mean, low, high))

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Mean(tuple(zip(numbers, children, strict=True)), self.kind)

    def __repr__(self) -> str:
        kind = "" if self.kind == "arithmetic" else f", kind={self.kind!r}"
        return f"mean({WeightedSum(self.items)!r}{kind})"


def weighted_sum(*items: Any) -> Reward:
    """Return the weighted sum, as in ``0.2 * tags + 0.8 * exact``. Rewards that abstain are ignored.

    ``rk.weighted_sum({"format": 0.2 * tags, "answer": (0.8, exact)})`` also names the two components.

    Args:
        items: rewards, ``(weight, reward)`` pairs in either order, one list of these, or one mapping. The mapping is
            either reward -> weight, or name -> a reward or a pair. A weight is a number or a schedule.

    Raises:
        RewardDefinitionError: there are no items, or a weight is not finite.
        RewardTypeError: an item is neither a weight nor a reward.
    """
    return weighted_sum_of(weighted_items(items, "weighted_sum"))


def mean(*items: Any, weights: Iterable[Weight] | None = None, kind: Kind = "arithmetic") -> Reward:
    """Return the weighted mean of the rewards that do not abstain.

    ``rk.mean(0.7 * a, 0.3 * b)`` is `a` if `b` abstains. ``rk.mean(a, b, kind="geometric")`` is 0.6 if `a` is 0.9 and
    `b` is 0.4. ``rk.mean(precision, recall, kind="harmonic")`` is the F1 score. A mean abstains if all rewards abstain,
    or if all weights are currently zero.

    With weights *w* and scores *x*, the mean is sum(w * x) / sum(w). The geometric mean is exp(sum(w * log(x)) /
    sum(w)), and the harmonic mean is sum(w) / sum(w / x). Both are 0.0 if a reward with a nonzero weight is 0. As in a
    sum, the parts of an arithmetic mean are separate terms of the total. A geometric or harmonic mean is one term.

    Args:
        items: as in ``rk.weighted_sum``. Weights must not be negative.
        weights: a number or a schedule for each item, as an alternative to including weights in `items`.
        kind: ``"arithmetic"``, ``"geometric"``, or ``"harmonic"``. For the last two, the lower bound of each reward
            must be at least 0.

    Raises:
        RewardDefinitionError: there are no items, a weight is negative or becomes negative later, the number of weights
            does not match the number of items, `kind` is unknown, or a reward in a geometric or harmonic mean can be
            negative.
        RewardTypeError: an item is neither a weight nor a reward.
    """
    if kind not in get_args(Kind):
        raise RewardDefinitionError(
            f"mean: kind must be one of {', '.join(map(repr, get_args(Kind)))}, got {shorten(kind)}"
        )
    if weights is None:
        return Mean(tuple(weighted_items(items, "mean")), kind)
    rewards = listed_rewards("mean with weights=", items, least=1)
    factors = tuple(as_weight(weight, "mean: a weight") for weight in weights)
    if len(factors) != len(rewards):
        raise RewardDefinitionError(
            f"mean: got {len(factors)} weights for {len(rewards)} rewards. Pass one weight for each reward"
        )
    return Mean(tuple(weighted_items(tuple(zip(factors, rewards, strict=True)), "mean")), kind)
