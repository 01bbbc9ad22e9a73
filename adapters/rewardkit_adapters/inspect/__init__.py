"""rewardkit and inspect_ai: ``rk.from_inspect(match())`` reads a scorer, ``rk.from_inspect_log("run.eval")`` a log.

Neither imports inspect_ai before it is used.
"""

from rewardkit_adapters.inspect.logs import from_inspect_log as from_inspect_log
from rewardkit_adapters.inspect.scorers import from_inspect as from_inspect
