"""Rewards relative to the group: ``rk.rank_in_group(accuracy)`` is 1.0 for the best completion of a prompt.

A group is all completions of one prompt. Where the trainer spreads it over several processes, its adapter brings it
together before anything is scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rewardkit.core.algebra import Derived, Reward, as_reward
from rewardkit.core.batch import Batch
from rewardkit.core.outcome import ABSTAINED, Column, Floats, Rows
from rewardkit.core.progress import TOLERANCE, Bounds
from rewardkit.core.scoring import Scoring, Together


@final
@dataclass(frozen=True)
class RankInGroup(Derived):
    """The share of the rest of its group that a completion beats, ties half."""

    reward: Reward

    @property
    def name(self) -> str:
        return f"{self.reward.name or 'sum'}_rank"

    @property
    def bounds(self) -> Bounds:
        return 0.0, 1.0

    @property
    def together(self) -> Together:
        return "group"

    def reach(self, batch: Batch, rows: Rows) -> Rows:
        return batch.whole_groups(rows)

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        (column,) = await scoring.columns([(self.reward, rows)])
        ranks = np.full(len(rows), np.nan)
        for members in scoring.batch.members(rows & column.contributing):
            ranks[members] = _ranks(column.values[members])
        result = Column.combined([(column, True)], ranks, rows)
        result.codes[result.contributing < column.contributing] = ABSTAINED  # alone, there is no rank
        return result

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
