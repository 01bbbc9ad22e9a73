"""Conversion: turn the rewards and plain functions that users pass into Reward objects.

``reward_of(f, "gate: when")`` accepts a reward or a plain function; ``tree_of([f, g], "to_trl")`` also accepts a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rewardkit.errors import RewardDefinitionError, is_factory
from rewardkit.progress.schedule import Schedule
from rewardkit.tree.algebra import weighted_sum_of
from rewardkit.tree.reward import Reward, as_reward

RewardLike = Reward | Callable[..., Any]
"""The argument type for all functions that accept a reward: a Reward, or a plain function that scores completions."""


def is_plain(value: object) -> bool:
    """Return whether `value` is a plain function that scores completions, not a Reward."""
    other = isinstance(value, (Reward, Schedule, type)) or hasattr(value, "derive") or is_factory(value)
    return callable(value) and not other


def reward_of(value: Any, where: str) -> Reward:
    """Return `value`, a reward or a plain function, as a Reward.

    Raises:
        RewardTypeError: `value` is something else; `where` names its purpose.
    """
    if not is_plain(value):
        return as_reward(value, where)
    from rewardkit.tree.trl_function import from_trl

    return from_trl(value)


def tree_of(value: Any, where: str) -> Reward:
    """Return `value` as a tree: a reward, a plain function, or the sum of a list of them.

    Raises:
        RewardDefinitionError: `value` is an empty list.
        RewardTypeError: `value` is something else; `where` names its purpose.
    """
    if not isinstance(value, (list, tuple)):
        return reward_of(value, where)
    if not value:
        raise RewardDefinitionError(f"{where} is an empty list. Pass at least one reward")
    return weighted_sum_of([(1.0, tree_of(item, f"an item of {where}")) for item in value])
