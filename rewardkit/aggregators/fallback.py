"""Fallback: ``rk.fallback(judge, similarity)`` takes the second where the first could not be computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rewardkit.core.batch.column import Column, Rows, Share
from rewardkit.core.tree.reward import Evaluation, Facts, Reward, Steps, as_reward


@final
@dataclass(frozen=True)
class Fallback(Reward):
    """`first`, or for whole groups in which it failed anywhere, `second`."""

    first: Reward
    second: Reward

    @cached_property
    def facts(self) -> Facts:
        (low, high), (other_low, other_high) = self.first.bounds, self.second.bounds
        return Facts(
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
        failed = rows & first.unscorable
        # Several gates may ask for parts of a group: what took the second before keeps it.
        before = evaluation.column(self).shares
        if before and before[1].reached is not None:
            failed |= before[1].reached
        replaced = rows & evaluation.batch.whole_groups(failed) if failed.any() else failed
        (second,) = yield [(self.second, replaced)]
        result = Column.empty(len(rows))
        result.fill(rows & ~replaced, first)
        result.fill(replaced, second)
        result.parts["second"] = np.where(rows, replaced, np.nan)  # 1.0 where the second scored the row
        result.shares = (Share(1.0, ~replaced), Share(1.0, replaced))
        return result

    def _rebuilt(self, children: tuple[Reward, ...], numbers: tuple[Any, ...]) -> Reward:
        return Fallback(*children)

    def __repr__(self) -> str:
        return f"fallback({self.first!r}, {self.second!r})"


def fallback(first: Reward, second: Reward) -> Reward:
    """`first`; where it failed (a judge is down), `second` for the whole group at once.

    Two scales within one group would corrupt its advantages, so all generations of a prompt switch together. `second`
    is evaluated only on the groups that need it.
    """
    return Fallback(as_reward(first, "fallback: the first reward"), as_reward(second, "fallback: the second reward"))
