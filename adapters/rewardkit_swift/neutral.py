"""Rows without a score get numbers that are no learning signal: ms-swift would count them as 0.

A row gets the means of the scored completions of its prompt, so its advantage is 0 and the mean of the others stays.
If no completion of a prompt has a score, all of them get the same numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rewardkit.core.batch.column import Floats

Flags = NDArray[np.bool_]


def neutral(terms: Floats, scored: Flags, size: int, *, each: bool) -> Floats:
    """Return (n, t) the terms of all rows, without a learning signal for those that are not `scored`.

    Args:
        terms: (n, t) NaN where a term abstained.
        scored: (n,) the rows that have a total.
        size: completions per group; they follow each other.
        each: every term is normalized by itself over the rows that have it (GDPO); else their sum is, in which a
            missing term is a 0.
    """
    filled = terms.copy()
    everywhere = _means(terms[scored], each) if scored.any() else np.zeros(terms.shape[1])
    for start in range(0, len(terms), size):
        rows = slice(start, start + size)
        known, group = scored[rows], terms[rows]
        if not known.all():
            filled[rows][~known] = _means(group[known], each) if known.any() else everywhere
    return filled


def _means(terms: Floats, each: bool) -> Floats:
    """Return (t,) the mean of each term over scored rows; NaN for a term that no row has."""
    present = ~np.isnan(terms)
    counts = present.sum(axis=0)
    sums = np.where(present, terms, 0.0).sum(axis=0)
    divisors = counts if each else np.full_like(counts, len(terms))
    return np.where(counts > 0, sums / np.maximum(divisors, 1), np.nan)
