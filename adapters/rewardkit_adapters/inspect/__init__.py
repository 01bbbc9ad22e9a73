"""rewardkit and inspect_ai: ``rk.from_inspect(match())`` wraps a scorer.

``rk.from_inspect_log("run.eval")`` reads a log. Neither function imports inspect_ai before it needs it; logs are read
without it.
"""

from rewardkit_adapters.inspect.logs import from_inspect_log as from_inspect_log
from rewardkit_adapters.inspect.scorers import from_inspect as from_inspect
