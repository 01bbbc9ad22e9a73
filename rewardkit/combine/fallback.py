"""Fallbacks: ``rk.fallback(judge, similarity)`` uses the second reward if the first reward fails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.batch.column import Column, Rows, Share
from rewardkit.tree.conversion import RewardLike, reward_of
from rewardkit.tree.reward import Evaluation, NodeSpec, Reward, Steps


@final
@dataclass(frozen=True)
class Fallback(Reward):
    """A reward that uses `second` in every group in which `first` failed for any completion, and `first` elsewhere."""

    first: Reward
    second: Reward

    @cached_property
    def facts(self) -> NodeSpec:
        (low, high), (other_low, other_high) = self.first.bounds, self.second.bounds
        return NodeSpec(
            name="fallback",
            bounds=(min(low, other_low), max(high, other_high)),
            children=(self.first, self.second),
            generic=True,
            logged=False,
            addends=(self.first, self.second),
            together="group",
            wants="any",
        )

    def _evaluate(self, evaluation: Evaluation, rows: Rows) -> Steps:
        (first,) = yield [(self.first, rows)]
        failed_rows = rows & first.unscorable
        # Several gates may request parts of one group: rows that already use `second` keep it.
        before = evaluation.column(self).shares
        if before and before[1].reached is not None:
            failed_rows |= before[1].reached
        replaced_rows = rows & evaluation.batch.whole_groups(failed_rows) if failed_rows.any() else failed_rows
        (second,) = yield [(self.second, replaced_rows)]
        result = Column.empty(len(rows))
        result.fill(rows & ~replaced_rows, first)
        result.fill(replaced_rows, second)
        result.parts["second"] = np.where(rows, replaced_rows, np.nan)  # 1.0 if `second` scored the row
        result.shares = (Share(1.0, ~replaced_rows), Share(1.0, replaced_rows))
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Fallback(*children)

    def __repr__(self) -> str:
        return f"fallback({self.first!r}, {self.second!r})"


def fallback(first: RewardLike, second: RewardLike) -> Reward:
    """Return a reward that uses `second` if `first` fails, for example, if a judge is unavailable.

    ``rk.fallback(rk.judge("Is it polite?", model="gpt-5-mini"), rk.similarity("answer"))``

    If `first` fails for one completion, `second` is used for all completions for the prompt, because two scales within
    one group would corrupt the group's advantages. A score of 0 is not a failure. ``second`` is evaluated only for the
    groups that need it.

    Args:
        first: the reward to use if it can be computed.
        second: the reward for groups in which `first` failed.

    Raises:
        RewardTypeError: `first` or `second` is not a reward.
    """
    return Fallback(reward_of(first, "fallback: the first reward"), reward_of(second, "fallback: the second reward"))
