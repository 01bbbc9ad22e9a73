"""The steps that are selected, as a chip that removes them. Several tabs show only the completions of these steps."""

from __future__ import annotations

from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.selection import Selection, carried, columns, spoken
from rewardkit.viewer.watcher import Watched


def build_selected(page: Page, watched: Watched) -> None:
    """Show which steps are selected, with a way back to what changed in them. Nothing if none are."""
    selection = Selection.of(page.address)
    if selection is None:
        return

    async def drop() -> None:
        await page.go(page.address.with_state(steps=None, by=None, before=None))

    with put.box("picked bar-of-tools"):
        put.button(f"{spoken(selection.steps)}  ×", drop, "on", "Show the completions of all steps")
        name = columns(watched.scores).get(selection.by, "Total")
        changes = carried(page.address, page.address.to("explain"))
        put.link(f"What changed {one_line(name, 40)}", changes.url)
