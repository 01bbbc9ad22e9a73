"""Rules that choose completions by their scores: some of each prompt, or pairs of a better and a worse one.

``Keep(most=1).rows(index)`` is the best completion of each prompt; ``Pairs(gap=0.2).of([0.0, 1.0], [7, 8])`` yields
``(1, 0)``: the second completion is chosen, the first is rejected. The same rules hold for every kind of reward.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.batch import Numbers
from rewardkit.core.batch.column import Floats

ROUNDING = 1e-9
"""Scores that differ by less are equal: 0.8 may have been computed as 0.7999999999999999."""


@final
@dataclass(frozen=True)
class Keep:
    """Keep the best completions of each prompt.

    Attributes:
        most: how many of a prompt, the best first; None for all.
        least: the lowest score that is kept; None for any.
    """

    unit: ClassVar[str] = "completion"

    most: int | None = None
    least: float | None = None

    def __str__(self) -> str:
        best = {None: [], 1: ["best"]}.get(self.most, [f"top:{self.most}"])
        return ",".join([*best, *([] if self.least is None else [f"above:{self.least:g}"])])

    def rows(self, groups: Numbers, scores: Floats) -> NDArray[np.bool_]:
        """(n,) whether each row is kept; of rows with the same score, the first is the better one.

        Args:
            groups: (n,) the number of each row's prompt.
            scores: (n,) NaN if a row has no score: it is never kept.
        """
        kept = ~np.isnan(scores)
        if self.least is not None:
            kept &= scores >= self.least - ROUNDING
        if self.most is not None:
            rows = np.flatnonzero(kept)
            rows = rows[np.lexsort((rows, -scores[rows], groups[rows]))]
            first = np.r_[True, np.diff(groups[rows]) != 0][: len(rows)]
            start = np.maximum.accumulate(np.where(first, np.arange(len(rows)), 0))
            kept[rows[np.arange(len(rows)) - start >= self.most]] = False
        return kept


@final
@dataclass(frozen=True)
class Pairs:
    """Pair completions of a prompt with a better and a worse score, those that differ most first.

    Attributes:
        most: how many pairs of a prompt; None for all.
        gap: the least difference of the scores. Equal scores are never paired.
    """

    unit: ClassVar[str] = "pair"

    most: int | None = 1
    gap: float = 0.0

    def __str__(self) -> str:
        count = {None: "all", 1: "best-worst"}.get(self.most, str(self.most))
        return f"{count}, gap {self.gap:g}" if self.gap else count

    def wide(self, difference: float) -> bool:
        """Whether two scores differ enough to be paired."""
        return difference > ROUNDING and difference >= self.gap - ROUNDING

    def of(self, scores: Sequence[float], texts: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the (chosen, rejected) positions of one prompt; memory grows with the completions, not with the pairs.

        Args:
            scores: (n,) of the completions of the prompt, none of them NaN.
            texts: (n,) equal numbers for equal completions, which are never paired.
        """
        return itertools.islice(self._widest(scores, texts), self.most)

    def _widest(self, scores: Sequence[float], texts: Sequence[int]) -> Iterator[tuple[int, int]]:
        best = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
        worst = sorted(range(len(scores)), key=lambda row: (scores[row], row))

        def candidate(high: int, low: int) -> tuple[float, int, int]:
            return scores[worst[low]] - scores[best[high]], high, low

        # The difference shrinks along both orders, so the next pair is the smallest of one candidate per chosen one.
        heap = [candidate(0, 0)] if scores else []
        while heap:
            difference, high, low = heapq.heappop(heap)
            if not self.wide(-difference):
                return
            chosen, rejected = best[high], worst[low]
            if texts[chosen] != texts[rejected]:
                yield chosen, rejected
            if low == 0 and high + 1 < len(best):
                heapq.heappush(heap, candidate(high + 1, 0))
            if low + 1 < len(worst):
                heapq.heappush(heap, candidate(high, low + 1))


Rule = Keep | Pairs
