"""What a prompt gives to learn from when only some of its samples are drawn, by exact combinatorics.

Of the totals ``[1, 0, 0, 0]`` two are drawn: in half of the draws they differ, so ``drawn(totals, 2).varies`` is 0.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rewardkit.analysis.signal import EPSILON
from rewardkit.core.batch.column import Floats


def multiplicities(totals: Floats) -> list[int]:
    """How often each distinct total stands in `totals` (n,); NaN is none.

    Neighbors that differ by no more than 1e-4 are alike: GRPO's normalization makes next to nothing of them.
    """
    known = np.sort(totals[~np.isnan(totals)])
    if not known.size:
        return []
    with np.errstate(over="ignore"):
        cuts = np.flatnonzero(np.diff(known) > EPSILON) + 1
    return [len(part) for part in np.split(known, cuts)]


@dataclass(frozen=True)
class Draw:
    """What G completions of one prompt give.

    Attributes:
        varies: the chance that their totals differ, so that there is anything to learn: 0 to 1.
        effective: the share of the G completions that have a total and others to differ from: an estimate of what is
            left of the batch.
    """

    varies: float
    effective: float


def drawn(totals: Floats, num_generations: int) -> Draw:
    """What `num_generations` of the samples of one prompt give, drawn without replacement.

    With n samples, of which u have no total and c_v the total v, G draws do not vary where they hold one total at
    most:

        1 - varies = (sum_v C(c_v + u, G) - (K - 1) C(u, G)) / C(n, G)

    for K distinct totals (draws without any total are in each summand, and counted once). This is the hypergeometric
    distribution, and unbiased for fresh samples, like pass@k, which is built in the same way (Chen et al. 2021,
    arXiv:2107.03374). A completion of total v has an advantage unless the G - 1 others
    hold no other total:

        effective = sum_v c_v / n (1 - C(c_v + u - 1, G - 1) / C(n - 1, G - 1))

    Where there are fewer samples than G, all n are drawn: a lower limit on average, for more draws only vary more.

    Args:
        totals: (n,) of the samples of one prompt, NaN where a completion is unscorable; n is at least 1.
        num_generations: G, at least 1.
    """
    size, counts = len(totals), multiplicities(totals)
    unscorable = size - sum(counts)
    if not counts:
        return Draw(0.0, 0.0)

    draws = min(num_generations, size)

    def chance(part: int, whole: int, number: int) -> float:
        """That `number` draws of the `whole` are all among a `part` of it."""
        return math.comb(part, number) / math.comb(whole, number)

    alike = sum(chance(count + unscorable, size, draws) for count in counts)
    alike -= (len(counts) - 1) * chance(unscorable, size, draws)
    effective = sum(count / size * (1.0 - chance(count + unscorable - 1, size - 1, draws - 1)) for count in counts)
    # Chances of many parts may add up to a hair above 1.
    return Draw(min(1.0, max(0.0, 1.0 - alike)), min(1.0, max(0.0, effective)))
