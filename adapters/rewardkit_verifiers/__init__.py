"""rewardkit for verifiers: ``rk.from_verifiers(rubric)`` turns a rubric, a task or a reward function into a Reward.

It does not import verifiers, except ``verifiers.v1`` when a task of verifiers 0.4 scores its first batch.
"""

from rewardkit_verifiers.conversion import from_verifiers

__all__ = ["from_verifiers"]
