"""Numbers that depend on training progress: ``rk.schedules.linear(0.0, 1.0, end=0.3)``."""

from rewardkit.schedules.by_performance import track, when_reached
from rewardkit.schedules.by_time import (
    constant,
    cosine,
    exponential,
    linear,
    piecewise,
    polynomial,
    sigmoid,
    warm_up,
)
from rewardkit.schedules.joined import cycle, delay, join

__all__ = [
    "constant",
    "cosine",
    "cycle",
    "delay",
    "exponential",
    "join",
    "linear",
    "piecewise",
    "polynomial",
    "sigmoid",
    "track",
    "warm_up",
    "when_reached",
]
