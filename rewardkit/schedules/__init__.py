"""Numbers that depend on training progress: ``rk.schedules.linear(0.0, 1.0, end=0.3)``."""

from rewardkit.schedules.by_time import constant, cosine, linear, piecewise

__all__ = ["constant", "cosine", "linear", "piecewise"]
