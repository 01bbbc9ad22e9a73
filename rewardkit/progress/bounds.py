"""Bounds of numbers, and a check for numbers that users pass: ``number("0.5", "a weight")`` raises an error."""

from __future__ import annotations

import math
from numbers import Real

from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten

TOLERANCE = 1e-9
"""The tolerance for rounding errors: a value this close to a threshold or bound is treated as reaching it. The value is
arbitrary: larger than float rounding errors, and much smaller than differences that matter."""

Bounds = tuple[float, float]
"""The lowest and the highest value, both inclusive; infinite if there is no limit."""


def scaled_bounds(first: Bounds, second: Bounds) -> Bounds:
    """Return the bounds of the product of two numbers that have the bounds `first` and `second`."""
    corners = [0.0 if 0.0 in (a, b) else a * b for a in first for b in second]
    return min(corners), max(corners)


def number(value: object, subject: str) -> float:
    """Return `value` as a finite float, or raise an error that names `subject`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RewardTypeError(f"{subject} must be a number, got {shorten(value)} ({type(value).__name__})")
    result = float(value)
    if not math.isfinite(result):
        raise RewardDefinitionError(f"{subject} must be finite, got {result}")
    return result
