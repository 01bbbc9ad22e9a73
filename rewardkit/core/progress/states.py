"""States: what the schedules of a tree remember, kept outside of it by whoever trains.

``advanced(initial(followers), {"tags": 0.9})`` is the state after a batch in which the tags scored 0.9 on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rewardkit.core.progress.schedule import SQUARES, PerformanceSchedule, State

States = Mapping[PerformanceSchedule, State]


def initial(followers: Iterable[PerformanceSchedule]) -> States:
    """Before the first batch."""
    return {follower: follower.init() for follower in followers}


def advanced(states: States, means: Mapping[str, float]) -> States:
    """After a training batch with these means of the components, over all ranks."""
    return {follower: follower.update(state, means) for follower, state in states.items()}


def saved(states: States) -> dict[str, Any]:
    """As JSON can hold it, by all that makes a schedule what it is."""
    return {follower.describe(): dict(state) for follower, state in states.items()}


def restored(states: States, from_json: Mapping[str, Any]) -> States:
    """`states` with what was saved of them; a schedule that was not saved keeps its own."""
    return {follower: from_json.get(follower.describe(), state) for follower, state in states.items()}


def means(names: Iterable[str], summed: Sequence[Sequence[float]]) -> dict[str, float]:
    """Each component's mean, and that of its squares, from the sums of all ranks; neither without any finite one."""
    found: dict[str, float] = {}
    for name, (count, total, squares) in zip(names, summed, strict=True):
        if count and math.isfinite(squares):
            found[name], found[name + SQUARES] = total / count, squares / count
    return found
