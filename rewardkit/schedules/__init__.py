"""Numbers that depend on training progress: ``rk.schedules.linear(0.0, 1.0, end=0.3)``.

Their type is `Schedule`. ``__all__`` contains only the functions that create schedules.
"""

from rewardkit.progress.schedule import Schedule as Schedule
from rewardkit.schedules.by_performance import track, when_reached
from rewardkit.schedules.by_time import (
    after,
    constant,
    cosine,
    cycle,
    delay,
    exponential,
    join,
    linear,
    maximum,
    minimum,
    piecewise,
    polynomial,
    sigmoid,
    warm_up,
)

__all__ = [
    "after",
    "constant",
    "cosine",
    "cycle",
    "delay",
    "exponential",
    "join",
    "linear",
    "maximum",
    "minimum",
    "piecewise",
    "polynomial",
    "sigmoid",
    "track",
    "warm_up",
    "when_reached",
]
