"""Discrimination: how often the better completion scores higher, on any scale.

``pairs(np.array([0.9, 0.2, 0.2]), np.array([True, True, False]), groups)`` counts ``Pairs(right=1, tied=1, wrong=0)``
if all three completions are in one group. GRPO does not learn anything from a tie, and it learns the wrong thing from a
pair in the wrong order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewardkit.batch.column import Floats, Rows

Numbers = NDArray[np.int64]
Labels = Rows | Floats
"""Labels (n,): bool, with True for a good completion; or grades, with higher numbers for better completions."""

_DECIMALS = 8  # coarser than the tolerance of thresholds, so that distinct scores stay distinct


def round_scores(scores: Floats) -> Floats:
    """Round `scores` to eight decimal places, so that ``0.1 + 0.2`` and ``0.3`` are tied."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(scores, _DECIMALS)
    return np.where(np.isfinite(rounded), rounded, scores) + 0.0  # -0.0 becomes 0.0


@dataclass(frozen=True)
class Pairs:
    """The number of pairs of a better and a worse completion, by the order of their scores.

    Attributes:
        right: the number of pairs in which the better completion scores higher.
        tied: the number of pairs in which both scores are equal.
        wrong: the number of pairs in which the worse completion scores higher.
    """

    right: int
    tied: int
    wrong: int

    @property
    def count(self) -> int:
        return self.right + self.tied + self.wrong

    @property
    def accuracy(self) -> float | None:
        """The share of pairs in the correct order, or None if there are no pairs."""
        return self.right / self.count if self.count else None

    @property
    def ties(self) -> float | None:
        """The share of pairs that are tied."""
        return self.tied / self.count if self.count else None

    @property
    def inversions(self) -> float | None:
        """The share of pairs in the wrong order."""
        return self.wrong / self.count if self.count else None

    @property
    def auc(self) -> float | None:
        """``(right + tied / 2) / count``: the area under the ROC curve, or None if a class is missing.

        This is the Mann-Whitney statistic (Hanley and McNeil 1982, Radiology 143:29). For grades, it is Harrell's C
        (Harrell et al. 1982, JAMA 247:2543), which generalizes the statistic to more than two grades.
        """
        return (self.right + self.tied / 2.0) / self.count if self.count else None


def pairs(scores: Floats, labels: Labels, groups: Numbers | None = None) -> Pairs:
    """Count how often the better of two completions scores higher, over all pairs with different labels.

    Args:
        scores: (n,), or NaN if there is no score. These rows are excluded.
        labels: (n,) bool, or grades.
        groups: (n,) the groups within which to count pairs; None to count all pairs.
    """
    scored = ~np.isnan(scores)
    scored_labels = np.asarray(labels)[scored]
    if not scored_labels.size:
        return Pairs(0, 0, 0)
    values, ranks = np.unique(round_scores(scores[scored]), return_inverse=True)
    _, numbers = np.unique(np.zeros(len(scored_labels)) if groups is None else groups[scored], return_inverse=True)
    # Each group has its own range of keys, in the order of the scores, so that a search never leaves the group.
    starts = numbers * len(values)
    keys = starts + ranks
    right = tied = wrong = 0
    for label in np.unique(scored_labels)[1:]:
        better = scored_labels == label
        worse = np.sort(keys[scored_labels < label])
        first, last = np.searchsorted(worse, starts[better]), np.searchsorted(worse, starts[better] + len(values))
        below = np.searchsorted(worse, keys[better])
        upto = np.searchsorted(worse, keys[better], side="right")
        right += int((below - first).sum())
        tied += int((upto - below).sum())
        wrong += int((last - upto).sum())
    return Pairs(right, tied, wrong)


def mean_ranks(values: Floats) -> Floats:
    """Return ranks (n,), counted from 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2.0)[inverse]
    return ranks


def centered_ranks(values: Floats, groups: Numbers) -> Floats:
    """Return the values' ranks (n,) in their groups, minus the mean rank. Tied values share a rank; NaN stays NaN.

    ``centered_ranks([5, 9, 9], [0, 0, 0])`` is ``[-1, 0.5, 0.5]``.
    """
    result = np.full(len(values), np.nan)
    known_rows = np.flatnonzero(~np.isnan(values))
    if not known_rows.size:
        return result
    # Equal scores that were summed in another order may differ in their last digits, but must be ties.
    rounded = np.round(values[known_rows], 9)
    order = known_rows[np.lexsort((rounded, groups[known_rows]))]
    group, value = groups[order], np.round(values[order], 9)
    position = np.arange(len(order), dtype=np.float64)

    def mean_place(fresh: NDArray[Any]) -> Floats:
        number = np.cumsum(np.concatenate([[0], fresh.astype(np.int64)]))
        means: Floats = (np.bincount(number, position) / np.bincount(number))[number]
        return means

    other_group = group[1:] != group[:-1]
    result[order] = mean_place(other_group | (value[1:] != value[:-1])) - mean_place(other_group)
    return result


def spearman(scores: Floats, labels: Labels) -> float | None:
    """Return the rank correlation of scores (n,) and labels (n,): Pearson's r of their mean ranks (corrected for ties).

    The result is between -1 and 1, or None if all scores or all labels are the same (Spearman 1904, American Journal of
    Psychology 15:72).
    """
    scored = ~np.isnan(scores)
    if not scored.any():
        return None
    first = mean_ranks(round_scores(scores[scored]))
    second = mean_ranks(np.asarray(labels, dtype=np.float64)[scored])
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first * first).sum() * (second * second).sum())
    return float(np.clip((first * second).sum() / scale, -1.0, 1.0)) if scale > 0.0 else None


def auc_interval(
    scores: Floats,
    labels: Rows,
    groups: Numbers | None = None,
    *,
    # The usual confidence level in papers.
    level: float = 0.95,
    # 1,000 resamples: the ends of a 95% interval then rest on 25 of them each.
    replicates: int = 1000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return a confidence interval for the AUC, from a bootstrap that draws whole groups with replacement.

    Whole groups are drawn because completions for the same prompt are not independent (the cluster bootstrap: Field and
    Welsh 2007, Journal of the Royal Statistical Society B 69:369). The interval consists of percentiles.

    Args:
        scores: (n,), or NaN if there is no score.
        labels: (n,) bool.
        groups: (n,), or None if each row is a separate group.
        level: the confidence level, 0 to 1.
        replicates: the number of samples to draw; samples that lack one of the two classes are excluded.
        seed: the random seed; the same seed results in the same interval.

    Returns:
        The lower and upper end; None if a class is missing, there are fewer than two groups, or `replicates` is below
        1.
    """
    scored = ~np.isnan(scores)
    good = labels[scored]
    if replicates < 1 or not good.any() or good.all():
        return None
    values, ranks = np.unique(round_scores(scores[scored]), return_inverse=True)
    _, numbers = np.unique(np.arange(len(good)) if groups is None else groups[scored], return_inverse=True)
    count = int(numbers.max()) + 1
    if count < 2:
        return None
    random = np.random.default_rng(seed)
    areas = []
    for _ in range(replicates):
        weights = np.bincount(random.integers(count, size=count), minlength=count)[numbers].astype(np.float64)
        positives = np.bincount(ranks, weights * good, len(values))
        negatives = np.bincount(ranks, weights * ~good, len(values))
        pair_weight = positives.sum() * negatives.sum()
        if pair_weight > 0.0:
            areas.append(float((positives * (np.cumsum(negatives) - negatives / 2.0)).sum() / pair_weight))
    if not areas:
        return None
    low, high = np.quantile(areas, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)
