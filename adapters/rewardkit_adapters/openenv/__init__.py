"""rewardkit and OpenEnv: ``rk.to_openenv`` creates a rubric, and ``rk.from_openenv`` wraps an existing one.

OpenEnv is imported only to create a rubric.
"""

from rewardkit_adapters.openenv.conversion import from_openenv as from_openenv
from rewardkit_adapters.openenv.rewards import to_openenv as to_openenv
