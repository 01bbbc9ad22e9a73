"""Why two completions have their advantages: the steps to each number, and the completions of their groups as dots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from rewardkit.viewer import elements as put
from rewardkit.viewer.advantage import Explained
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.watcher import Watched

_SIDES = ("left", "right")


def build_advantages(
    watched: Watched,
    shown: Sequence[Explained],
    by: str,
    lined_up: Callable[[str], Awaitable[None]],
    compare: Callable[[str, str], Awaitable[None]],
) -> None:
    """Show the steps to the advantages of the left and the right completion.

    Args:
        by: the component by which groups are lined up; empty for the total.
        lined_up: called with another component.
        compare: called with the side on which a completion of the group is to be shown, and its key.
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
        for other, one in zip(reversed(_SIDES), shown, strict=True):
            put.Advantage(one.props, other, lambda key, side=other: compare(side, key))
