"""A value over a run's steps: windows, changes between windows, and jumps.

``changes(Series(steps, means), starts)`` compares every window with every later window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.alerts.evidence import Integers, ramp, weakest
from rewardkit.batch.column import Floats

WINDOWS = 8
"""The number of windows in a run with enough steps. The number is arbitrary: 8 windows result in 28 pairs to
compare."""
STEPS = 5
"""The minimum number of steps in a window, and the number of steps on either side of a jump. The number is arbitrary:
with fewer steps, noise looks like a jump; with more steps, a jump looks like a slope."""


@dataclass(frozen=True)
class Series:
    """The values (t,) at the ascending steps (t,); steps without a value are absent."""

    steps: Integers
    values: Floats


def mean_by_step(steps: Integers, values: Floats) -> Series:
    """Return the mean of the values (n,) at each step. NaN is ignored, and steps without values are omitted."""
    valid = ~np.isnan(values)
    if not valid.any():
        return Series(np.zeros(0, dtype=np.int64), np.zeros(0))
    distinct, at = np.unique(steps[valid], return_inverse=True)
    return Series(distinct.astype(np.int64), np.bincount(at, values[valid]) / np.bincount(at))


def window_starts(steps: Integers) -> Integers:
    """Split distinct, ascending steps into windows of nearly equal size, and return each window's first step."""
    count = max(1, min(WINDOWS, len(steps) // STEPS))
    return steps[(np.arange(count) * len(steps)) // count] if len(steps) else steps


@dataclass(frozen=True)
class Changes:
    """The comparison of every window with every later window; all arrays are (pairs,).

    Attributes:
        first, last: the first step of the earlier window and the last step of the later window.
        before, after: the means of the two windows.
        error: the standard error of ``after - before``.
    """

    first: Integers
    last: Integers
    before: Floats
    after: Floats
    error: Floats

    @property
    def difference(self) -> Floats:
        return self.after - self.before

    @property
    def z(self) -> Floats:
        """The difference between the two windows, in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            result: Floats = np.nan_to_num(self.difference / self.error, nan=0.0, posinf=1e9, neginf=-1e9)
        return result

    def numbers(self, pair: int, prefix: str = "") -> dict[str, float]:
        """Return one pair's means and their difference in standard errors, for an alert."""
        return {
            f"{prefix}before": float(self.before[pair]),
            f"{prefix}after": float(self.after[pair]),
            f"{prefix}z": float(self.z[pair]),
        }


@dataclass(frozen=True)
class Peak:
    """The pair of windows in which a pattern is strongest.

    Attributes:
        pair: the position of the pair in the arrays of `Changes`.
        strength: above 0, up to 1.
        steps: the first step of the earlier window and the last step of the later window.
    """

    pair: int
    strength: float
    steps: tuple[int, int]


def peak_of(change: Changes, *ramps: Any) -> Peak | None:
    """Return the pair with the greatest strength (the minimum of its `ramps`, (pairs,) each), or None if all are 0."""
    strengths = weakest(*ramps)
    if not strengths.max(initial=0.0) > 0.0:
        return None
    pair = int(np.argmax(strengths))
    return Peak(pair, float(strengths[pair]), (int(change.first[pair]), int(change.last[pair])))


def changes(series: Series, starts: Integers) -> Changes:
    """Compare all pairs of windows. If a window does not have a value, the result for its pairs is NaN.

    The standard error is estimated from the spread of the steps within windows (pooled, so that a trend can only
    increase it). If neighboring steps have the correlation r, the standard error is multiplied by ``sqrt((1 + r) / (1 -
    r))``. If no window has two values, it is estimated from the differences between neighbors.
    """
    count = len(starts)
    window = np.searchsorted(starts, series.steps, side="right") - 1
    is_inside = window >= 0
    window, values = window[is_inside], series.values[is_inside]
    sizes = np.bincount(window, minlength=count).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(window, values, minlength=count) / sizes
    residuals = values - means[window]
    freedom = len(values) - int((sizes > 0).sum())
    if freedom > 0:
        noise = float(np.sqrt((residuals**2).sum() / freedom)) * _widened(residuals)
    else:
        noise = float(np.sqrt((np.diff(values) ** 2).mean() / 2.0)) if len(values) > 1 else np.nan
    # Sums in another order may differ in their last digits, which is not a change.
    noise = max(noise, 1e-9 * float(np.abs(values).max(initial=0.0)))
    earlier, later = np.triu_indices(count, 1)
    lasts = np.append(starts[1:] - 1, series.steps[-1:] if len(series.steps) else starts[-1:])
    with np.errstate(invalid="ignore", divide="ignore"):
        error = noise * np.sqrt(1.0 / sizes[earlier] + 1.0 / sizes[later])
    return Changes(starts[earlier], lasts[later], means[earlier], means[later], error)


def _widened(residuals: Floats) -> float:
    power = float((residuals**2).sum())
    if power <= 0.0 or len(residuals) < 3:
        return 1.0
    # A correlation of 1 would make every error infinite; at 0.95 it grows by a factor of 6.
    correlation = min(0.95, max(0.0, float((residuals[1:] * residuals[:-1]).sum()) / power))
    return float(np.sqrt((1.0 + correlation) / (1.0 - correlation)))


@dataclass(frozen=True)
class Jump:
    """A step at which a series moves to a different level.

    Attributes:
        step: the first step on the new level.
        before, after: the means of the five steps on either side.
        z: the difference in standard errors.
        concentration: the share of the movement around this step that occurs at the step: 1 for a sudden change, less
            for a slope.
        ratio: the difference divided by the largest difference elsewhere in the run.
    """

    step: int
    before: float
    after: float
    z: float
    concentration: float
    ratio: float

    @property
    def difference(self) -> float:
        return self.after - self.before

    @property
    def suddenness(self) -> float:
        """The weakest (0 to 1) of the ramps of z (5 to 12), concentration (0.5 to 0.8), and ratio (1.5 to 3)."""
        return float(
            # z from 5: the maximum over all steps is taken, not over 28 pairs. Concentration from 0.5: a steady slope
            # over the 11 windows around it has 0.09, a sudden step has 1. Ratio from 1.5: a noisy run has other jumps
            # that are nearly as large.
            weakest(ramp(self.z, 5.0, 12.0), ramp(self.concentration, 0.5, 0.8), ramp(self.ratio, 1.5, 3.0)),
        )


def largest_jump(series: Series) -> Jump | None:
    """Return the jump where the means of five steps before and after it differ most; None for fewer than 15 steps."""
    values, size, span = series.values, len(series.values), STEPS
    if size < 3 * span:
        return None
    sums = np.concatenate([[0.0], np.cumsum(values)])
    level = (sums[span:] - sums[:-span]) / span
    difference = level[span:] - level[:-span]
    noise = _typical_noise(values) * np.sqrt(2.0 / span)
    at = int(np.argmax(np.abs(difference)))
    height = abs(float(difference[at]))
    # Even the means of equal values differ by rounding.
    if height <= 1e-9 * float(np.abs(values).max()):
        return None
    # Look at five spans on either side: a slope continues there, a sudden step does not.
    nearby = level[max(0, at - 5 * span) : at + 6 * span + 1]
    elsewhere = np.concatenate([difference[: max(0, at - 2 * span)], difference[at + 2 * span + 1 :]])
    other = max(float(np.abs(elsewhere).max(initial=0.0)), 2.0 * noise)
    return Jump(
        step=int(series.steps[at + span]),
        before=float(level[at]),
        after=float(level[at + span]),
        z=height / noise if noise > 0.0 else np.inf,
        concentration=height / float(nearby.max() - nearby.min()),
        ratio=height / other if other > 0.0 else np.inf,
    )


def _typical_noise(values: Floats) -> float:
    """Return the standard deviation of single steps, estimated from differences between neighboring steps."""
    differences = np.sort(np.abs(np.diff(values)))
    # Drop the largest tenth, because jumps would inflate the noise.
    typical = differences[: max(1, int(0.9 * len(differences)))]
    # The root mean square of the lower nine tenths of |N(0, 1)| is 0.79.
    return float(np.sqrt((typical**2).mean() / 2.0)) / 0.79
