"""Comparison of two runs on the same prompts: how many prompts each run wins, and whether chance explains the
difference.

``paired(np.array([0.2, 0.5]), np.array([0.4, 0.5])).won`` is 1: the right side is better on one prompt.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from rewardkit.batch.column import Floats, Numbers

_FEWEST = 5
"""The minimum number of prompts for a confidence interval; with fewer prompts, it would be a guess. With five or more
prompts, the approximation of Student's quantile is also within 0.3%."""
# The usual confidence level in papers, so that results are comparable.
_LEVEL = 0.95
# Sums in another order differ in their last digits, which does not count as a difference.
_EXACT = 1e-9


@dataclass(frozen=True)
class Pairing:
    """The pairs of prompts that two runs share.

    Attributes:
        left, right: (p,) each pair's prompt numbers on either side.
        by_text: the number of pairs with the same text but different columns.
        only_left, only_right: the number of prompts without a partner on either side.
        ambiguous: the number of prompts without a partner whose text occurs on both sides, but more than once on one
            side.
    """

    left: Numbers
    right: Numbers
    by_text: int
    only_left: int
    only_right: int
    ambiguous: int


def pair(
    left_ids: Sequence[str], left_texts: Sequence[str], right_ids: Sequence[str], right_texts: Sequence[str]
) -> Pairing:
    """Pair prompts by id. Pair the remaining prompts by text if the text is unique among them on both sides.

    Args:
        left_ids, right_ids: distinct ids, one per prompt.
        left_texts, right_texts: the same prompts' texts.
    """
    right_numbers = {name: number for number, name in enumerate(right_ids)}
    pairs = [(number, right_numbers[name]) for number, name in enumerate(left_ids) if name in right_numbers]
    paired_right = {number for _, number in pairs}
    same = set(left_ids) & right_numbers.keys()
    rest_left = [number for number, name in enumerate(left_ids) if name not in same]
    rest_right = [number for number in range(len(right_ids)) if number not in paired_right]
    times_left = Counter(left_texts[number] for number in rest_left)
    times_right = Counter(right_texts[number] for number in rest_right)
    once = {right_texts[number]: number for number in rest_right if times_right[right_texts[number]] == 1}
    by_text = [
        (number, once[text]) for number in rest_left if times_left[text := left_texts[number]] == 1 and text in once
    ]
    shared = {text for text in times_left.keys() & times_right.keys() if times_left[text] * times_right[text] > 1}
    ambiguous = sum(times_left[text] + times_right[text] for text in shared)
    matches = np.array(sorted([*pairs, *by_text]), dtype=np.int64).reshape(-1, 2)
    return Pairing(
        matches[:, 0],
        matches[:, 1],
        len(by_text),
        len(rest_left) - len(by_text),
        len(rest_right) - len(by_text),
        ambiguous,
    )


def prompt_means(prompts: Numbers, values: Floats, size: int) -> Floats:
    """Return the mean value of each prompt's completions (size,), or NaN if no completion has a value.

    Args:
        prompts: (n,) each completion's prompt number.
        values: (n,) each completion's score, or NaN if it does not have one.
    """
    scored = ~np.isnan(values)
    counts = np.bincount(prompts[scored], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = np.bincount(prompts[scored], values[scored], minlength=size) / counts
    return means


@dataclass(frozen=True)
class Paired:
    """The difference between two runs over their common prompts.

    Attributes:
        difference: (p,) right minus left, or NaN if a side does not have a score.
        tolerance: the largest difference that is treated as equal.
        won, lost, equal: the number of prompts on which the right side is better, worse, or neither.
        unscored: the number of prompts that lack a score on one side and therefore do not count.
        left, right: the means over the prompts that count, or None if no prompt counts.
        interval: the 95% confidence interval for the mean difference, by Student's t over prompts; None if fewer than
            five prompts count.
        chance: the probability that wins and losses would be at least this uneven if both sides were equally good (the
            two-sided sign test); 1.0 if no prompt is won or lost.
    """

    difference: Floats = field(repr=False)
    tolerance: float
    won: int
    lost: int
    equal: int
    unscored: int
    left: float | None
    right: float | None
    interval: tuple[float, float] | None
    chance: float

    @property
    def count(self) -> int:
        """The number of prompts that count."""
        return self.won + self.lost + self.equal

    @property
    def mean(self) -> float | None:
        """The mean difference, right minus left, or None if no prompt counts."""
        return None if self.left is None or self.right is None else self.right - self.left

    @property
    def clear(self) -> bool:
        """Whether the difference is unlikely to be due to chance, because 0 is outside the confidence interval."""
        return self.interval is not None and not self.interval[0] <= 0.0 <= self.interval[1]

    @property
    def outcomes(self) -> Numbers:
        """Each prompt's outcome (p,): 1 for won, -1 for lost, 0 for equal or unscored."""
        with np.errstate(invalid="ignore"):
            beyond = np.abs(self.difference) > self.tolerance + _EXACT
        return np.where(beyond, np.sign(np.nan_to_num(self.difference)), 0.0).astype(np.int64)


def paired(left: Floats, right: Floats, tolerance: float = 0.0) -> Paired:
    """Compare the (p,) mean scores of the same prompts in two runs.

    Wins and losses are evaluated with the sign test (Conover 1999, Practical Nonparametric Statistics, 3.4), and the
    mean difference with a confidence interval. Both treat the prompts as a random sample. Neither measures how much the
    result would change with a different training seed.

    Args:
        tolerance: the largest difference that is treated as equal. 1e-9 is added for rounding.
    """
    difference = right - left
    comparable = ~np.isnan(difference)
    counted = difference[comparable]
    beyond = np.abs(counted) > tolerance + _EXACT
    won, lost = int((beyond & (counted > 0)).sum()), int((beyond & (counted < 0)).sum())
    return Paired(
        difference,
        tolerance,
        won,
        lost,
        len(counted) - won - lost,
        int((~comparable).sum()),
        float(left[comparable].mean()) if len(counted) else None,
        float(right[comparable].mean()) if len(counted) else None,
        _interval(counted),
        sign_test(won, lost),
    )


def sign_test(won: int, lost: int) -> float:
    """Return the probability of a split that is at least this uneven if a fair coin decided each win or loss."""
    tosses, fewer = won + lost, min(won, lost)
    if won == lost:
        return 1.0
    chosen = np.arange(1, fewer + 1, dtype=np.float64)
    log_counts = np.concatenate([[0.0], np.cumsum(np.log(tosses - chosen + 1.0) - np.log(chosen))])
    return float(min(1.0, 2.0 * math.exp(np.logaddexp.reduce(log_counts) - tosses * math.log(2.0))))


def _interval(differences: Floats) -> tuple[float, float] | None:
    count = len(differences)
    if count < _FEWEST:
        return None
    reach = _student(count - 1) * float(differences.std(ddof=1)) / math.sqrt(count)
    mean = float(differences.mean())
    return mean - reach, mean + reach


def _student(freedom: int) -> float:
    """Return Student's t quantile (Abramowitz and Stegun 26.7.5; within 0.3% for at least four degrees of freedom)."""
    z = NormalDist().inv_cdf((1.0 + _LEVEL) / 2.0)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + float(sum(term / freedom ** (power + 1) for power, term in enumerate(terms)))
