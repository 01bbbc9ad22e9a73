"""Train with TRL: ``GRPOTrainer(reward_funcs=rk.to_trl(reward), ...)``.

TRL and torch are imported only when a trainer calls a reward function.
"""

from rewardkit_adapters.trl.functions import RewardFunctions as RewardFunctions, to_trl as to_trl
