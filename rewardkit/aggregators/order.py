"""Rewards in order: the first decides (`lexicographic`), or the first that is good enough is taken (`best_of`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.aggregators.items import listed_rewards
from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.batch.score import ABSTAINED, FAILED, SCORED
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import TOLERANCE
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps

MOST_BITS = 21
"""Of the 24 that a float32 has: what is left is for sums with other rewards."""


@final
@dataclass(frozen=True)
class Lexicographic(Reward):
    """Each reward counts only between completions that are alike in all before it."""

    rewards: tuple[Reward, ...]
    levels: int

    @cached_property
    def facts(self) -> Facts:
        return Facts(name="lexicographic", bounds=(0.0, 1.0), children=self.rewards, generic=True)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        columns: list[Column] = yield [(reward, rows) for reward in self.rewards]
        # Digits of a number: as long as one is the same, the next decides.
        total = np.zeros(len(rows))
        for place, (reward, column) in enumerate(zip(self.rewards, columns, strict=True), 1):
            low, high = reward.bounds
            digit = self.levels * np.clip((column.values - low) / ((high - low) or 1.0), 0.0, 1.0)
            if place < len(columns):  # nothing comes after the last: it may differ by any amount
                digit = np.floor(digit + TOLERANCE)
            total += np.where(column.contributing, digit, 0.0) / (self.levels + 1.0) ** place
        highest = 1.0 - (self.levels + 1.0) ** -len(columns)
        return Column.combined([(column, True) for column in columns], np.minimum(total / highest, 1.0), rows)

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Lexicographic(children, self.levels)

    def __repr__(self) -> str:
        levels = f", levels={self.levels}" * (self.levels != 10)
        return f"lexicographic({', '.join(map(repr, self.rewards))}{levels})"


@final
@dataclass(frozen=True)
class BestOf(Reward):
    """The highest of several, evaluated in order until nothing later could beat it."""

    rewards: tuple[Reward, ...]

    @cached_property
    def facts(self) -> Facts:
        limits = [reward.bounds for reward in self.rewards]
        bounds = min(low for low, _ in limits), max(high for _, high in limits)
        return Facts(name="best_of", bounds=bounds, children=self.rewards, generic=True, wants="any")

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return BestOf(children)

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        result = Column.empty(len(rows), ABSTAINED)
        open_rows = rows.copy()
        for place, reward in enumerate(self.rewards):
            (column,) = yield [(reward, open_rows)]
            failed = open_rows & column.unscorable
            result.codes[failed], result.values[failed] = FAILED, np.nan
            for row in np.flatnonzero(failed).tolist():
                result.notes.pop(row, None)
            better = open_rows & ~failed & column.contributing & ~(result.values >= column.values)
            for row in np.flatnonzero(better).tolist():
                result.notes.pop(row, None)
            result.notes.update((row, note) for row, note in column.notes.items() if better[row])
            result.values[better], result.codes[better] = column.values[better], SCORED
            best_to_come = max((later.bounds[1] for later in self.rewards[place + 1 :]), default=math.inf)
            open_rows = open_rows & ~failed & ~(result.values >= best_to_come - TOLERANCE)
        return result

    def __repr__(self) -> str:
        return f"best_of({', '.join(map(repr, self.rewards))})"


def lexicographic(*rewards: Any, levels: int = 10) -> Reward:
    """The first reward decides; each later one only between completions that are alike in all before it.

    ``rk.lexicographic(right, short, levels=1)`` ranks every right completion above every wrong one, and among them the
    shorter above the longer. 0 to 1, one term.

    Args:
        rewards: the most important first, two or more, or one list of them. Their bounds must be finite. What abstains
            counts as its lowest.
        levels: steps into which each reward but the last is cut between its bounds: two completions within one step
            are alike. 1 is enough for a reward of 0 and 1. A step of the first is worth more than all that follows,
            so more levels and more rewards leave less for the later ones.

    Raises:
        RewardDefinitionError: fewer than two rewards, one without finite bounds, levels that are no count from 1 on,
            or more levels and rewards than a float can tell apart.
    """
    items = listed_rewards("lexicographic", rewards, least=2)
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
        raise RewardDefinitionError(f"lexicographic: levels is a number of steps from 1 on, got {shorten(levels)}")
    for item in items:
        if not math.isfinite(item.bounds[1] - item.bounds[0]):
            raise RewardDefinitionError(
                f"lexicographic: {item!r} has the bounds {item.bounds}; steps between them need finite ones: declare "
                "them, or use .clip(low, high)"
            )
    if len(items) * math.log2(levels + 1) > MOST_BITS:
        raise RewardDefinitionError(
            f"lexicographic: {len(items)} rewards of {levels} levels are more than the trainer's float32 can tell "
            "apart; take fewer levels, or fewer rewards"
        )
    return Lexicographic(items, levels)


def best_of(*rewards: Any) -> Reward:
    """The highest of several rewards, the cheap ones first: what cannot be beaten any more is not compared further.

    ``rk.best_of(rk.exact("answer"), rk.math_equal("answer"))`` asks the second only where the first gives less than 1.
    The note is that of the winner. It is one term; its rewards are logged as components.

    Args:
        rewards: two or more, or one list of them, in the order in which they are evaluated. What abstains is left out;
            where one fails before the best is sure, the sample failed.

    Raises:
        RewardDefinitionError: fewer than two rewards.
    """
    return BestOf(listed_rewards("best_of", rewards, least=2))
