"""The learning signal of a prompt if only some of its samples are drawn, by exact combinatorics.

Two draws from the totals ``[1, 0, 0, 0]`` differ in half of the cases, so ``drawn(totals, 2).varies`` is 0.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rewardkit.analysis.signal import EPSILON
from rewardkit.core.batch.column import Floats


def multiplicities(totals: Floats) -> list[int]:
    """Return how often each distinct total occurs in `totals` (n,); NaN is ignored.

    Neighbors that differ by at most 1e-4 count as equal: GRPO's normalization makes almost nothing of the difference.
    """
    known = np.sort(totals[~np.isnan(totals)])
    if not known.size:
        return []
    with np.errstate(over="ignore"):
        cuts = np.flatnonzero(np.diff(known) > EPSILON) + 1
    return [len(part) for part in np.split(known, cuts)]


@dataclass(frozen=True)
class Draw:
    """The learning signal of G completions of one prompt.

    Attributes:
        varies: the chance, 0 to 1, that their totals differ, so that there is something to learn.
        effective: the expected share of the G completions that have an advantage other than zero.
    """

    varies: float
    effective: float


def drawn(totals: Floats, num_generations: int) -> Draw:
    """Return the learning signal of `num_generations` samples of one prompt, drawn without replacement.

    Of n samples, u have no total and c_v have the total v. G draws do not vary if they have at most one distinct
    total:

        1 - varies = (sum_v C(c_v + u, G) - (K - 1) C(u, G)) / C(n, G)

    for K distinct totals (draws without any total are in each summand, but count once). This is the hypergeometric
    distribution, and like pass@k, which has the same form, it is unbiased for new samples (Chen et al. 2021,
    arXiv:2107.03374). A completion with total v has an advantage unless the G - 1 others have no other total:

        effective = sum_v c_v / n (1 - C(c_v + u - 1, G - 1) / C(n - 1, G - 1))

    If there are fewer samples than G, all n are drawn. This gives a lower limit on average: more draws vary more.

    Args:
        totals: (n,) totals of the samples of one prompt, NaN if a completion is unscorable; n is at least 1.
        num_generations: G, at least 1.
    """
    size, counts = len(totals), multiplicities(totals)
    unscorable = size - sum(counts)
    if not counts:
        return Draw(0.0, 0.0)

    draws = min(num_generations, size)

    def chance(part: int, whole: int, number: int) -> float:
        """Return the chance that `number` draws from `whole` samples are all in a subset of `part` samples."""
        return math.comb(part, number) / math.comb(whole, number)

    constant = sum(chance(count + unscorable, size, draws) for count in counts)
    constant -= (len(counts) - 1) * chance(unscorable, size, draws)
    effective = sum(count / size * (1.0 - chance(count + unscorable - 1, size - 1, draws - 1)) for count in counts)
    # A sum of many chances may be slightly above 1.
    return Draw(min(1.0, max(0.0, 1.0 - constant)), min(1.0, max(0.0, effective)))
