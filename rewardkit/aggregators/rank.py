"""Rewards relative to the group: ``rk.rank_in_group(accuracy)`` is 1.0 for the best completion of a prompt.

A group is all completions of one prompt. Where the trainer spreads it over several processes, its adapter brings it
together before anything is scored.
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
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, as_reward


@final
@dataclass(frozen=True)
class RankInGroup(Reward):
    """The share of the rest of its group that a completion beats, ties half."""

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
        result.codes[result.contributing < column.contributing] = ABSTAINED  # alone, there is no rank
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return RankInGroup(*children)

    def __repr__(self) -> str:
        return f"rank_in_group({self.reward!r})"


def _ranks(values: Floats) -> Floats:
    """(k,) the share of the others that each value is above, those alike half; NaN for a single one."""
    if len(values) < 2:
        return np.full(len(values), np.nan)
    order = np.argsort(values)
    alike = np.zeros(len(values), dtype=np.int64)  # those that follow one another within the tolerance
    alike[order[1:]] = np.cumsum(np.diff(values[order]) > TOLERANCE)
    sizes = np.bincount(alike)
    below = np.cumsum(sizes) - sizes
    ranks: Floats = (below + (sizes - 1) / 2.0)[alike] / (len(values) - 1)
    return ranks


def rank_in_group(reward: Reward) -> Reward:
    """How a completion does among those of its prompt: 1.0 the best, 0.0 the worst, ties share the middle.

    Only the order counts then, not by how much: a judge's scale, or one outlier, changes nothing. Four completions that
    `reward` gives 0.1, 0.5, 0.5, 9.0 get 0.0, 0.5, 0.5, 1.0; where all are alike each gets 0.5, which carries no
    advantage. Inside a gate the closed completions of a group count among the others.

    Args:
        reward: what ranks them, within 1e-9. What abstained or failed is left out of the ranking; who is left alone
            abstains.

    Raises:
        BindingError: while scoring: a process got part of a group, and cannot bring it together.
    """
    return RankInGroup(as_reward(reward, "rank_in_group"))
