"""rewardkit for inspect_ai: ``rk.from_inspect_log("run.eval")`` reads the samples of a log as rows with completions.

It does not import inspect_ai.
"""

from rewardkit_inspect.logs import from_inspect_log

__all__ = ["from_inspect_log"]
