"""rewardkit for verifiers: ``rk.from_verifiers(rubric)`` makes a Reward of a rubric, a task or a reward function.

Nothing of verifiers is imported, except ``verifiers.v1`` when a task of verifiers 0.4 scores its first batch.
"""

from rewardkit_verifiers.wrapped import from_verifiers

__all__ = ["from_verifiers"]
