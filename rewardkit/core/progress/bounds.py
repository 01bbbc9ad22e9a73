"""Bounds of numbers, and the check of numbers that users pass: ``number("0.5", "a weight")`` is an error."""

from __future__ import annotations

import math
from numbers import Real

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten

TOLERANCE = 1e-9
"""What comes so near to a threshold, a bound or another value counts as reaching it."""

Bounds = tuple[float, float]
"""Lowest and highest value, both included; infinite where there is no limit."""


def scaled_bounds(first: Bounds, second: Bounds) -> Bounds:
    """Bounds of a product of two numbers that move within `first` and `second`."""
    corners = [0.0 if 0.0 in (a, b) else a * b for a in first for b in second]
    return min(corners), max(corners)


def number(value: object, what: str) -> float:
    """`value` as a finite float, or an error that names `what`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise RewardTypeError(f"{what} must be a number, got {shorten(value)} ({type(value).__name__})")
    result = float(value)
    if not math.isfinite(result):
        raise RewardDefinitionError(f"{what} must be finite, got {result}")
    return result
