"""Fallback: ``rk.fallback(judge, similarity)`` takes the second where the first could not be computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from rewardkit.core.algebra import Reward, as_reward
from rewardkit.core.outcome import Column, Rows
from rewardkit.core.progress import Bounds
from rewardkit.core.scoring import Scoring, Share, Together

_TAKEN = "second"
"""The part that says of each row whether the second reward scored it: 1.0 or 0.0."""


@final
@dataclass(frozen=True)
class Fallback(Reward):
    """`first`, or for whole groups in which it failed anywhere, `second`."""

    first: Reward
    second: Reward

    @property
    def name(self) -> str:
        return "fallback"

    @property
    def generic(self) -> bool:
        return True

    @property
    def logged(self) -> bool:
        return False

    @property
    def children(self) -> tuple[Reward, ...]:
        return self.first, self.second

    @property
    def addends(self) -> tuple[Reward, ...]:
        return self.children

    @property
    def together(self) -> Together:
        return "group"

    @property
    def bounds(self) -> Bounds:
        (low, high), (other_low, other_high) = self.first.bounds, self.second.bounds
        return min(low, other_low), max(high, other_high)

    def _replaced(self, scoring: Scoring) -> Rows:
        """(n,) the rows that took the second so far."""
        taken = scoring.column(self).parts.get(_TAKEN)
        return np.zeros(len(scoring.batch), dtype=np.bool_) if taken is None else taken == 1.0

    async def evaluate(self, scoring: Scoring, rows: Rows) -> Column:
        (first,) = await scoring.columns([(self.first, rows)])
        failed = (rows & first.unscorable) | self._replaced(scoring)
        replaced = rows & scoring.batch.whole_groups(failed) if failed.any() else failed
        (second,) = await scoring.columns([(self.second, replaced)])
        result = Column.empty(len(rows))
        result.fill(rows & ~replaced, first)
        result.fill(replaced, second)
        # Kept beside the value: several gates may ask for parts of a group, and the terms must tell the same story.
        result.parts[_TAKEN] = np.where(rows, replaced, np.nan)
        return result

    def distribute(self, scoring: Scoring, share: Share) -> Iterator[tuple[Reward, Share]]:
        replaced = self._replaced(scoring)
        yield self.first, share.within(~replaced)
        yield self.second, share.within(replaced)

    def __repr__(self) -> str:
        return f"fallback({self.first!r}, {self.second!r})"


def fallback(first: Reward, second: Reward) -> Reward:
    """`first`; where it failed (a judge is down), `second` for the whole group at once.

    Two scales within one group would corrupt its advantages, so all generations of a prompt switch together. `second`
    is evaluated only on the groups that need it.
    """
    return Fallback(as_reward(first, "fallback: the first reward"), as_reward(second, "fallback: the second reward"))
