"""rewardkit for TRL: ``GRPOTrainer(reward_funcs=rk.to_trl(reward), ...)``.

`to_trl` makes the list that GRPOTrainer takes, `from_trl` makes a Reward of any TRL reward function. Neither
imports TRL or torch.
"""

from rewardkit_trl.functions import to_trl
from rewardkit_trl.wrapped import from_trl

__all__ = ["from_trl", "to_trl"]
