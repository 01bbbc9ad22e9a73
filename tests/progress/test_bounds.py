"""Bounds of numbers."""

from __future__ import annotations

from rewardkit.progress.bounds import scaled_bounds


def test_zero_times_infinity_is_zero() -> None:
    inf = float("inf")
    assert scaled_bounds((0.0, 0.0), (-inf, inf)) == (0.0, 0.0)
    assert scaled_bounds((-1.0, 2.0), (-3.0, 1.0)) == (-6.0, 3.0)
