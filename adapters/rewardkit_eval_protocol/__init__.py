"""rewardkit for eval-protocol: ``rk.from_eval_protocol(function)`` turns a ``@reward_function`` into a Reward.

It does not import eval-protocol.
"""

from rewardkit_eval_protocol.conversion import from_eval_protocol

__all__ = ["from_eval_protocol"]
