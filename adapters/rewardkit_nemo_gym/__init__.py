"""rewardkit and NeMo Gym: ``rk.to_nemo_gym(reward)`` is a resources server; `rewardkit serve` answers its paths, too.

Neither imports NeMo Gym before it is needed.
"""

from rewardkit_nemo_gym.functions import to_nemo_gym as to_nemo_gym
