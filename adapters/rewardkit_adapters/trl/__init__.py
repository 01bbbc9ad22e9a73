"""Train with TRL: ``GRPOTrainer(reward_funcs=rk.to_trl(reward), ...)``.

TRL and torch are not imported before a trainer calls.
"""

from rewardkit_adapters.trl.functions import RewardFunctions as RewardFunctions, to_trl as to_trl
