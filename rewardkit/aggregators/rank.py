"""Rewards relative to the group: ``rk.rank_in_group(accuracy)`` is 1.0 for the best completion of a prompt.

A group is all completions of one prompt. If the trainer spreads it over several processes, the adapter collects it
before it is scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.core.batch.column import Column, Floats, Rows
from rewardkit.core.batch.score import ABSTAINED
from rewardkit.core.progress.bounds import TOLERANCE
from rewardkit.core.tree.algebra import derived
from rewardkit.core.tree.conversion import RewardLike, reward_of
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps


@final
@dataclass(frozen=True)
class RankInGroup(Reward):
    """The share of its group that a completion beats; a tie counts half."""

    reward: Reward

    @cached_property
    def facts(self) -> Facts:
        return Facts(
            name=derived(self.reward, "rank"),
            bounds=(0.0, 1.0),
            children=(self.reward,),
            generic=True,
            sees="group",
            together="group",
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (column,) = yield [(self.reward, rows)]
        ranks = np.full(len(rows), np.nan)
        for members in evaluation.batch.members(rows & column.contributing):
            ranks[members] = _ranks(column.values[members])
        result = Column.combined([(column, True)], ranks, rows)
        result.codes[result.contributing < column.contributing] = ABSTAINED  # a single completion has no rank
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return RankInGroup(*children)

    def __repr__(self) -> str:
        return f"rank_in_group({self.reward!r})"


def _ranks(values: Floats) -> Floats:
    """Return the share of the others that each of `values`, (k,), beats; a tie counts half. NaN for a single value."""
    if len(values) < 2:
        return np.full(len(values), np.nan)
    order = np.argsort(values)
    alike = np.zeros(len(values), dtype=np.int64)  # the same number for neighbors within the tolerance
    alike[order[1:]] = np.cumsum(np.diff(values[order]) > TOLERANCE)
    sizes = np.bincount(alike)
    below = np.cumsum(sizes) - sizes
    ranks: Floats = (below + (sizes - 1) / 2.0)[alike] / (len(values) - 1)
    return ranks


def rank_in_group(reward: RewardLike) -> Reward:
    """Return the rank of a completion among those of its prompt: 1.0 for the best, 0.0 for the worst.

    Scores of 0.1, 0.5, 0.5 and 9.0 become 0.0, 0.5, 0.5 and 1.0. Only the order counts, so the scale of a judge or one
    outlier makes no difference. If all scores are equal, each completion gets 0.5, and no advantage. Inside a gate,
    completions for which the gate is closed are ranked, too.

    Args:
        reward: the reward to rank by; scores within 1e-9 are equal. Completions that abstain or fail are not ranked,
            and a completion that is left alone abstains.

    Raises:
        RewardTypeError: `reward` is not a reward.
        BindingError: while scoring: a process got only a part of a group.
    """
    return RankInGroup(reward_of(reward, "rank_in_group"))
