"""Reliability: the meaning of a score as a number. Where to set a threshold, and how often a score of 0.7 is good.

``best_threshold(np.array([0.0, 0.4, 0.9]), np.array([False, False, True]))`` is 0.9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rewardkit.analyze.discrimination import Labels, settled
from rewardkit.batch.column import Floats, Rows
from rewardkit.progress.bounds import TOLERANCE, Bounds


@dataclass(frozen=True)
class Confusion:
    """The confusion table of a threshold: a score of at least `threshold` counts as good.

    Attributes:
        threshold: the threshold, with a tolerance of 1e-9 as in gates.
        true_positives: good completions that reach it.
        false_positives: bad completions that reach it: training would reward them by mistake.
        true_negatives: bad completions that do not reach it.
        false_negatives: good completions that do not reach it.
    """

    threshold: float
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int

    @property
    def accuracy(self) -> float | None:
        """The share of all rows that are on the correct side."""
        right = self.true_positives + self.true_negatives
        return _share(right, right + self.false_positives + self.false_negatives)

    @property
    def precision(self) -> float | None:
        """The share of good completions among those that reach the threshold."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of the good completions that reach the threshold."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def false_positive_rate(self) -> float | None:
        """The share of the bad completions that reach the threshold."""
        return _share(self.false_positives, self.false_positives + self.true_negatives)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def confusion(scores: Floats, labels: Rows, threshold: float) -> Confusion:
    """Return the counts at `threshold`; rows without a score (NaN) are left out."""
    kept = ~np.isnan(scores)
    reached, good = settled(scores[kept]) >= threshold - TOLERANCE, labels[kept]
    return Confusion(
        float(threshold),
        int((reached & good).sum()),
        int((reached & ~good).sum()),
        int((~reached & ~good).sum()),
        int((~reached & good).sum()),
    )


def best_threshold(scores: Floats, labels: Rows) -> float | None:
    """Return the score that separates good from bad best: the highest ``recall - false positive rate``.

    This is Youden's J (Youden 1950, Cancer 3:32), which does not depend on the share of good rows. Ties go to the
    highest accuracy, then to the highest threshold. The result is one of `scores` (n,); None if a class is missing or
    if no threshold is better than calling all rows good.
    """
    kept = ~np.isnan(scores)
    good = labels[kept]
    if not good.any() or good.all():
        return None
    values, ranks = np.unique(settled(scores[kept]), return_inverse=True)
    reaching_good = np.cumsum(np.bincount(ranks, good, len(values))[::-1])[::-1]
    reaching_bad = np.cumsum(np.bincount(ranks, ~good, len(values))[::-1])[::-1]
    # Whole numbers compare exactly: J times both counts, and the number of correct rows minus a constant.
    separation = reaching_good * (~good).sum() - reaching_bad * good.sum()
    best = np.lexsort((values, reaching_good - reaching_bad, separation))[-1]
    return float(values[best]) if separation[best] > 0 else None


@dataclass(frozen=True)
class Bin:
    """The rows whose score lies between `lowest` and `highest`.

    Attributes:
        mean_score: their mean score.
        mean_label: the share of good completions among them (or their mean grade).
        good: the number of good completions; None for grades.
    """

    lowest: float
    highest: float
    count: int
    mean_score: float
    mean_label: float
    good: int | None


def reliability(scores: Floats, labels: Labels, *, bins: int = 10, limits: Bounds | None = None) -> tuple[Bin, ...]:
    """Return the reliability curve: scores in `bins` of equal width, with the share of good completions in each.

    Args:
        scores: (n,), NaN if there is no score.
        labels: (n,) bool, or grades.
        bins: the number of bins.
        limits: the start of the first bin and the end of the last; by default 0 and 1 if all scores lie between them,
            else the lowest and highest score.

    Returns:
        The bins that are not empty (Niculescu-Mizil and Caruana 2005, ICML).
    """
    kept = ~np.isnan(scores)
    if not kept.any():
        return ()
    values, own = settled(scores[kept]), np.asarray(labels)[kept]
    if limits is None:
        limits = (0.0, 1.0) if is_share(values) else (float(values.min()), float(values.max()))
    low, high = limits
    width = high - low
    places = np.floor((values - low) / width * bins + TOLERANCE) if width > 0.0 else np.zeros(len(values))
    numbers = np.clip(places, 0, bins - 1).astype(np.int64)
    found = []
    for number in np.unique(numbers).tolist():
        rows = numbers == number
        found.append(
            Bin(
                lowest=low + width * number / bins,
                highest=low + width * (number + 1) / bins if width > 0.0 else high,
                count=int(rows.sum()),
                mean_score=float(values[rows].mean()),
                mean_label=float(own[rows].mean()),
                good=int(own[rows].sum()) if own.dtype == np.bool_ else None,
            )
        )
    return tuple(found)


def is_share(values: Floats) -> bool:
    """Whether all known `values` (n,) lie between 0 and 1, so that they can be read as probabilities."""
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= -TOLERANCE and known.max() <= 1.0 + TOLERANCE)


def calibration_error(bins: tuple[Bin, ...]) -> float | None:
    """Return the expected calibration error: ``sum(count / n * |mean score - mean label|)`` over the bins.

    0 to 1; None if there are no bins (Naeini, Cooper and Hauskrecht 2015, AAAI; Guo et al. 2017, arXiv:1706.04599).
    """
    total = sum(part.count for part in bins)
    if not total:
        return None
    return sum(part.count * abs(part.mean_score - part.mean_label) for part in bins) / total


@dataclass(frozen=True)
class Saturation:
    """The shares of scored rows at the ends of the scale, where the score does not separate them.

    Attributes:
        lowest, highest: the lowest and highest score that occurs.
        at_lowest, at_highest: the shares of rows with those scores.
        at_lower_bound, at_upper_bound: the shares of rows at the declared bounds; None if no bound is declared.
    """

    lowest: float
    highest: float
    at_lowest: float
    at_highest: float
    at_lower_bound: float | None
    at_upper_bound: float | None


def saturation(scores: Floats, bounds: Bounds | None = None) -> Saturation | None:
    """Return the shares of `scores` (n,) at the ends of the observed and declared range; None if nothing is scored."""
    values = settled(scores[~np.isnan(scores)])
    if not values.size:
        return None
    low, high = float(values.min()), float(values.max())

    def share(of: float) -> float | None:
        return float((np.abs(values - of) <= TOLERANCE).mean()) if np.isfinite(of) else None

    lower, upper = bounds or (-np.inf, np.inf)
    return Saturation(
        low, high, float((values == low).mean()), float((values == high).mean()), share(lower), share(upper)
    )
