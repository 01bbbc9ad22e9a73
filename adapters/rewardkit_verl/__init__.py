"""rewardkit for verl: ``rk.from_verl(compute_score)`` turns a custom reward function of verl into a Reward.

It does not import verl.
"""

from rewardkit_verl.conversion import from_verl

__all__ = ["from_verl"]
