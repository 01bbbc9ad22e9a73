"""Products, minima, maxima, and lexicographic orders: ``rk.product(format, accuracy)`` is high only if both are high.

A combination is not additive: it is one term of the total, and its rewards are logged as components. A product,
minimum, or maximum ignores rewards that abstain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, final

import numpy as np

from rewardkit.batch.column import Column, Floats, Rows
from rewardkit.combine.items import listed_rewards
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import TOLERANCE, Bounds, scaled_bounds
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps

MOST_BITS = 21
"""The number of bits used, out of the 24 bits in a float32. The remaining bits are for sums with other rewards."""


@final
@dataclass(frozen=True)
class Lexicographic(Reward):
    """A lexicographic order, in which each reward only ranks completions that are equal in all rewards before it."""

    rewards: tuple[Reward, ...]
    levels: int

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(name="lexicographic", bounds=(0.0, 1.0), children=self.rewards, generic=True)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[Column] = yield [(reward, rows) for reward in self.rewards]
        # The rewards are the digits of one number, the most significant first.
        total = np.zeros(len(rows))
        for rank, (reward, column) in enumerate(zip(self.rewards, columns, strict=True), 1):
            low, high = reward.bounds
            digit = self.levels * np.clip((column.values - low) / ((high - low) or 1.0), 0.0, 1.0)
            if rank < len(columns):  # the last digit keeps its fraction, as no digit follows
                digit = np.floor(digit + TOLERANCE)
            total += np.where(column.contributing, digit, 0.0) / (self.levels + 1.0) ** rank
        highest = 1.0 - (self.levels + 1.0) ** -len(columns)
        return Column.combined([(column, True) for column in columns], np.minimum(total / highest, 1.0), rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Lexicographic(children, self.levels)

    def __repr__(self) -> str:
        levels = f", levels={self.levels}" * (self.levels != 10)
        return f"lexicographic({', '.join(map(repr, self.rewards))}{levels})"


# The default of ten levels is arbitrary; it leaves bits of a float32 for further rewards.
def lexicographic(*rewards: Any, levels: int = 10) -> Reward:
    """Return a reward that ranks completions by the first reward. Each later reward only breaks ties.

    ``rk.lexicographic(right, short, levels=1)`` ranks every correct completion above every incorrect one. Among equally
    correct completions, shorter ones rank higher. The score is between 0 and 1 and is one term of the total.

    Args:
        rewards: two or more rewards, or one list of rewards, with the most important first. Their bounds must be
            finite. If a reward abstains, its lowest score is used.
        levels: the number of equal steps into which the range of each reward except the last is divided, at least 1.
            Completions within the same step are treated as equal. For rewards that are either 0 or 1, one level is
            enough. One step of the first reward outweighs all later rewards combined, so more levels leave a smaller
            range for the later rewards.

    Raises:
        RewardDefinitionError: there are fewer than two rewards, bounds are not finite, `levels` is below 1, or there
            are more levels and rewards than a float32 can distinguish.
        RewardTypeError: an item is not a reward.
    """
    items = listed_rewards("lexicographic", rewards, least=2)
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
        raise RewardDefinitionError(
            f"lexicographic: levels must be a whole number of at least 1, got {shorten(levels)}"
        )
    for item in items:
        if not math.isfinite(item.bounds[1] - item.bounds[0]):
            raise RewardDefinitionError(
                f"lexicographic: {item!r} has the bounds {item.bounds}, but levels need finite bounds. Declare them, "
                "or use .clip(low, high)"
            )
    if len(items) * math.log2(levels + 1) > MOST_BITS:
        raise RewardDefinitionError(
            f"lexicographic: {len(items)} rewards with {levels} levels need more values than the trainer's float32 "
            "numbers can distinguish. Use fewer levels or fewer rewards"
        )
    return Lexicographic(items, levels)


Operation = Literal["product", "minimum", "maximum"]

_STEPS: dict[Operation, tuple[Callable[[Floats, Floats], Floats], float]] = {
    "product": (np.multiply, 1.0),
    "minimum": (np.minimum, np.inf),
    "maximum": (np.maximum, -np.inf),
}


@final
@dataclass(frozen=True)
class Combination(Reward):
    """The product, minimum, or maximum of several rewards."""

    operation: Operation
    rewards: tuple[Reward, ...]

    @cached_property
    def facts(self) -> NodeSpec:
        return NodeSpec(
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
    """Return the product of several rewards, which is high only if all of them are high.

    ``rk.product(rk.tags("answer"), rk.exact("answer"))`` scores ``<answer>Paris</answer>`` 1.0 if the column "answer"
    is ``Paris``. It scores ``Paris`` without tags 0.0.

    Args:
        rewards: one or more rewards, or one list of rewards. Rewards that abstain are ignored.

    Raises:
        RewardDefinitionError: there are no rewards.
        RewardTypeError: an item is not a reward.
    """
    return _combination("product", rewards)


def minimum(*rewards: Any) -> Reward:
    """Return the minimum of several rewards: a completion is only as good as its worst score.

    ``rk.minimum(a, b)`` is 0.3 if `a` is 0.9 and `b` is 0.3. The arguments and errors are the same as for
    ``rk.product``.
    """
    return _combination("minimum", rewards)


def maximum(*rewards: Any) -> Reward:
    """Return the maximum of several rewards: one good score is enough.

    ``rk.maximum(a, b)`` is 0.9 if `a` is 0.9 and `b` is 0.3. The arguments and errors are the same as for
    ``rk.product``.
    """
    return _combination("maximum", rewards)


def _combination(operation: Operation, rewards: tuple[Any, ...]) -> Reward:
    return Combination(operation, listed_rewards(operation, rewards, least=1))
