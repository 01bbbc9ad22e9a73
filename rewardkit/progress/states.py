"""The states of the schedules in a tree, which the trainer stores outside the tree.

``advanced(initial(followers), {"tags": 0.9})`` is the state after a batch in which the tags scored 0.9 on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rewardkit.progress.schedule import SQUARES, PerformanceSchedule, State

States = Mapping[PerformanceSchedule, State]


def initial(followers: Iterable[PerformanceSchedule]) -> States:
    """Return the states before the first batch."""
    return {follower: follower.init() for follower in followers}


def advanced(states: States, means: Mapping[str, float]) -> States:
    """Return the states after a training batch in which the components had these means over all ranks."""
    return {follower: follower.update(state, means) for follower, state in states.items()}


def saved(states: States) -> dict[str, Any]:
    """Return the states as JSON, keyed by each schedule's description."""
    return {follower.describe(): dict(state) for follower, state in states.items()}


def restored(states: States, from_json: Mapping[str, Any]) -> States:
    """Return `states` with the saved states restored. A schedule that was not saved keeps its state."""
    return {follower: from_json.get(follower.describe(), state) for follower, state in states.items()}


def means(names: Iterable[str], summed: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return each scored component's mean and mean of squares, from the sums over all ranks."""
    component_means: dict[str, float] = {}
    for name, (count, total, squares) in zip(names, summed, strict=True):
        if count and math.isfinite(squares):
            component_means[name], component_means[name + SQUARES] = total / count, squares / count
    return component_means
