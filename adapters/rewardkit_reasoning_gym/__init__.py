"""rewardkit for reasoning-gym: ``rk.from_reasoning_gym("leg_counting")`` scores a task, and makes its rows.

It imports reasoning-gym when rows are made, and in the worker processes that score.
"""

from rewardkit_reasoning_gym.reward import from_reasoning_gym
from rewardkit_reasoning_gym.rows import reasoning_gym_rows

__all__ = ["from_reasoning_gym", "reasoning_gym_rows"]
