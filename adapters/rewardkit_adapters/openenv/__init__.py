"""rewardkit and OpenEnv: ``rk.to_openenv(reward, text=...)`` makes a rubric, ``rk.from_openenv(rubric)`` wraps one.

OpenEnv is imported only to make a rubric.
"""

from rewardkit_adapters.openenv.conversion import from_openenv as from_openenv
from rewardkit_adapters.openenv.rewards import to_openenv as to_openenv
