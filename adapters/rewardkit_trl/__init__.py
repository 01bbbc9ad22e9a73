"""rewardkit inside a training with TRL: ``GRPOTrainer(reward_funcs=rk.to_trl(reward), ...)``.

Nothing here imports TRL or torch until a trainer calls.
"""

from rewardkit_trl.functions import RewardFunctions as RewardFunctions, to_trl as to_trl
