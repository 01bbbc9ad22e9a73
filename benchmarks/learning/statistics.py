"""Statistics over seeds: means with confidence intervals, and how fast a curve rises."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
T_QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
LEVEL = 0.5
WINDOW = 5


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and the half width of its 95 % interval, assuming normally distributed values."""

    mean: float
    margin: float
    count: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + (f" ± {self.margin:.3f}" if math.isfinite(self.margin) else "")


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of one value per seed with its 95 % interval from Student's t."""
    count = len(values)
    if count < 2:
        return Estimate(statistics.fmean(values), math.inf, count)
    quantile = T_QUANTILES[min(count - 1, len(T_QUANTILES)) - 1]
    return Estimate(statistics.fmean(values), quantile * statistics.stdev(values) / math.sqrt(count), count)


def difference(by_seed: Mapping[int, float], reference: Mapping[int, float]) -> Estimate | None:
    """Return the mean difference to `reference`, seed by seed (same warm model); None for fewer than two seeds."""
    common = sorted(by_seed.keys() & reference.keys())
    return estimate([by_seed[seed] - reference[seed] for seed in common]) if len(common) > 1 else None


def area(curve: Sequence[float | None]) -> float:
    """Return the mean over all training steps: 1.0 if every step was right."""
    return statistics.fmean(value or 0.0 for value in curve)


def steps_to(curve: Sequence[float | None], level: float = LEVEL) -> int | None:
    """Return the first step at which the mean over the last WINDOW steps reaches `level`."""
    values = [value or 0.0 for value in curve]
    for step in range(WINDOW, len(values) + 1):
        if statistics.fmean(values[step - WINDOW : step]) >= level:
            return step
    return None
