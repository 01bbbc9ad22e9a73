"""Positions in ascending order with a value each, as ``piecewise`` and ``join`` take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from rewardkit.core.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.core.progress.positions import Position, checked_position


def placed(points: Mapping[Any, Any] | Iterable[tuple[Position, Any]], where: str) -> list[tuple[Position, Any]]:
    """Return what was passed to the schedule called `where` as (position, value) pairs.

    Raises:
        RewardTypeError: they are not pairs.
        RewardDefinitionError: positions are invalid, out of order, or of both kinds.
    """
    try:
        pairs = [(position, value) for position, value in (points.items() if isinstance(points, Mapping) else points)]
    except (TypeError, ValueError):
        raise RewardTypeError(
            f"{where} takes a mapping of positions, {where}({{0.0: 0.1, 0.5: 1.0}}), or (position, value) pairs, "
            f"got {shorten(points)}"
        ) from None
    checked = [(checked_position(position, f"{where}: a position"), value) for position, value in pairs]
    if len({type(position) for position, _ in checked if position != 0}) > 1:
        raise RewardDefinitionError(
            f"{where} mixes fractions (float) and steps (int). Use only fractions or only steps"
        )
    for (first, _), (second, _) in pairwise(checked):
        if not first < second:
            raise RewardDefinitionError(f"{where}: positions must ascend, but {second} comes after {first}. Sort them")
    return checked
