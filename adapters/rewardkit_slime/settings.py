"""The command line of slime: which functions it names, and what kind of reward it expects."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from rewardkit.core.errors import RewardDefinitionError

SCORE = "score"
"""The entry of the total, where slime is to read a dictionary."""


def uses(args: Any, setting: str, function: Callable[..., Any]) -> bool:
    """Return whether a setting names this function, or one that wraps it with ``functools.wraps``."""
    module, _, name = (getattr(args, setting, None) or "").rpartition(".")
    if not module:
        return False
    found = getattr(importlib.import_module(module), name, None)
    while found is not None and found != function:
        found = getattr(found, "__wrapped__", None)
    return found is not None


def as_reward(args: Any, total: float, numbers: dict[str, float]) -> float | dict[str, float]:
    """Return what slime expects: a number, or with ``--reward-key score`` a dictionary.

    Raises:
        RewardDefinitionError: slime would read another entry, or one that is not there.
    """
    key, evaluation = getattr(args, "reward_key", None), getattr(args, "eval_reward_key", None)
    if key is None and evaluation is None:
        return total
    if key != SCORE:
        raise RewardDefinitionError(
            f"slime: --reward-key {key} is not the total of the reward. Pass --reward-key {SCORE}"
        )
    entries = {**numbers, SCORE: total}
    if evaluation not in (None, *entries):
        raise RewardDefinitionError(
            f"slime: the reward has no number {evaluation!r} for --eval-reward-key. Numbers: {', '.join(entries)}"
        )
    return entries
