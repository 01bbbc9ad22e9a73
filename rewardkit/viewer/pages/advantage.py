"""Why two completions have their advantages: the steps to each number, and the completions of their groups as dots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from rewardkit.viewer import elements as put
from rewardkit.viewer.advantage import explained
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.watcher import Watched

Compare = Callable[[str, str], Awaitable[None]]


def build_advantages(
    watched: Watched,
    sides: Sequence[tuple[str, int]],
    by: str,
    lined_up: Callable[[str], Awaitable[None]],
    compare: Compare,
) -> None:
    """Show the steps to the advantage of each completion, (side, row).

    Args:
        by: the component by which groups are lined up; empty for the total.
        lined_up: called with another component.
        compare: called with the name of the other side and the key of a completion of the group.
    """
    with put.box("table-head"):
        put.text("Why this advantage", tag="h3")
        put.box("space")
        names = [name for name in watched.components if name in watched.scores.components]
        put.Choice(
            by,
            {"": "group by total", **{name: f"group by {one_line(name, 40)}" for name in names}},
            lined_up,
            "Line up the completions of the group by this number",
        )
    with put.box("both"):
        for side, row in sides:
            _one(watched, side, row, by, compare)


def _one(watched: Watched, side: str, row: int, by: str, compare: Compare) -> None:
    other = "right" if side == "left" else "left"
    put.Advantage(explained(watched, row, by=by).props, other, lambda key: compare(other, key))
