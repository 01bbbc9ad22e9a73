"""rewardkit for TRL: ``GRPOTrainer(reward_funcs=rk.to_trl(reward), ...)``.

`to_trl` makes the list that GRPOTrainer takes, `from_trl` makes a Reward of any TRL reward function, and
`get_config` and `update_config` change the reward of a training that runs. None of them imports TRL or torch.
"""

from rewardkit_trl.functions import to_trl
from rewardkit_trl.updates.face import get_config, update_config
from rewardkit_trl.wrapped import from_trl

__all__ = ["from_trl", "get_config", "to_trl", "update_config"]
