"""rewardkit and inspect_ai: ``rk.from_inspect(match())`` wraps a scorer.

``rk.from_inspect_log("run.eval")`` reads a log without inspect_ai. ``rk.from_inspect`` imports inspect_ai only when
needed.
"""

from rewardkit_adapters.inspect.logs import from_inspect_log as from_inspect_log
from rewardkit_adapters.inspect.scorers import from_inspect as from_inspect
