"""The list of runs, grouped by their components: state, steps, last rewards. Selected runs can be compared."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from rewardkit.core.errors import RewardKitError
from rewardkit.viewer import elements as put
from rewardkit.viewer.addresses import Address, format_names, parse_names
from rewardkit.viewer.charts import series_color, spec_of
from rewardkit.viewer.curves import Panel
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.pages.layout import Page, empty_state, later
from rewardkit.viewer.pages.run_table import Names, columns_of, grouped, in_order, row_of, starts_falling
from rewardkit.viewer.summaries import Summary

_SAMPLE = """import rewardkit as rk

trainer = GRPOTrainer(
    ...,
    reward_funcs=rk.to_trl(reward, record="runs/first"),
)"""


_PAUSE = 0.3
"""The seconds between two updates of the list while it is read: each one sends all rows."""


class Runs:
    """The list of runs at ``/``."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.names: list[str] = []
        self.summaries: dict[str, Summary] = {}
        self.selected = parse_names(page.address.get("show"))
        self.words = page.address.get("q")
        self.sort = page.address.get("sort", "name")
        self.descending = page.address.get("down") == "1"
        self.tables: dict[Names, put.Table] = {}
        self._drawn: object = None
        self._busy = False

    async def build(self) -> None:
        self.names = await asyncio.to_thread(self.page.library.names)
        if not self.names:
            self._build_empty()
            return
        with put.box("bar-of-tools"):
            put.Field(self.words, self._search, "Search runs", main=True).style("width: 280px")
            self.overlay = put.button(
                "Overlay graphs", self._overlay, title="Show the graphs of all selected runs on top of each other"
            )
            self.compare = put.button(
                "Compare prompts", self._compare, title="Compare two selected runs prompt by prompt"
            )
            self.count = put.text("", "soft")
        trials = self.page.watcher.trials
        if trials is not None:
            tried = one_line(trials.name, 120)
            put.text(f"Trying {tried}: open a run to see what it would have paid.", "notice soft", "div")
        self.graph = put.box("card graph").style("margin-bottom: 12px")
        self.nothing = put.text("No run matches the search.", "empty", "div")
        self.frame = put.box("groups")
        self._show()
        later(self.frame, self._refresh())

    async def update(self) -> None:
        names = await asyncio.to_thread(self.page.library.names)
        if bool(names) != bool(self.names):
            await self.page.show(self.page.address)
            return
        if names:
            self.names = names
            await self._refresh()

    async def key(self, key: str, shift: bool) -> None:
        return None

    async def _refresh(self) -> None:
        """Read all runs, and show those that are read every now and then."""
        if self._busy:
            return
        self._busy, shown = True, 0.0
        try:
            for name in list(self.names):
                new = name not in self.summaries
                self.summaries[name] = await asyncio.to_thread(self._summary, name)
                if self.frame.is_deleted:
                    return
                if new and time.monotonic() - shown > _PAUSE:
                    self._show()
                    shown = time.monotonic()
            self._show()
        finally:
            self._busy = False

    def _summary(self, name: str) -> Summary:
        try:
            return self.page.watcher.summaries.of(self.page.library.path(name))
        except RewardKitError as error:
            return Summary(problem=str(error))

    def _show(self) -> None:
        shown = [name for name in self.names if self.words.casefold() in name.casefold()]
        known = [self.summaries[name] for name in shown if name in self.summaries]
        drawn = (shown, known, list(self.selected), self.words, self.sort, self.descending)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        groups = grouped(shown, self.summaries)
        if list(groups) != list(self.tables):
            self._build_tables(groups)
        for components, names in groups.items():
            ordered = in_order(names, self.summaries, self.sort, self.descending)
            rows = [row_of(name, self.summaries.get(name), components, name in self.selected) for name in ordered]
            self.tables[components].show(rows, sort=self.sort, descending=self.descending)
        selected = [name for name in self.selected if name in self.names]
        self.nothing.set_visibility(not shown)
        self.overlay.props["disabled"] = not selected
        self.compare.props["disabled"] = len(selected) not in (1, 2)
        noun = "run" if len(self.names) == 1 else "runs"
        chosen = f", {len(selected)} selected" if selected else ""
        self.count.show(f"{len(shown)} of {len(self.names)} {noun}{chosen}")
        self._draw(selected)

    def _build_tables(self, groups: dict[Names, list[str]]) -> None:
        self.tables = {}
        self.frame.clear()
        with self.frame:
            for components in groups:
                if len(groups) > 1:
                    put.text(one_line(", ".join(components), 120) or "Without components", "section", "h2")
                with put.box("card scroll"):
                    table = put.Table(columns_of(components)).classes("cards")
                    table.when("check", self._select).when("open", self._open).when("sort", self._sort)
                self.tables[components] = table

    def _draw(self, selected: list[str]) -> None:
        """Draw the totals of the selected runs in one graph."""
        lines = [(name, self.summaries[name].total) for name in selected if name in self.summaries]
        plain = [(name, Panel("total", "Total reward", "", [line])) for name, line in lines if line is not None]
        self.graph.clear()
        self.graph.set_visibility(bool(plain))
        if not plain:
            return
        spec = spec_of(plain, [], smoothing=0.6)
        for number, line in enumerate(spec["lines"]):
            line["color"], line["dash"] = series_color(number), "solid"
        with self.graph:
            with put.box("head"):
                put.text("Total reward", tag="h3")
            with put.box("legend"):
                for line in spec["lines"]:
                    with put.box(tag="span"):
                        put.box("swatch line", "i").style(f"background: {line['color']}")
                        put.text(line["name"])
            put.Chart(spec)

    def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        self._show()

    def _sort(self, name: str) -> None:
        self.descending = not self.descending if self.sort == name else starts_falling(name)
        self.sort = str(name)
        self.page.note(self.page.address.with_state(sort=self.sort, down="1" if self.descending else None))
        self._show()

    def _select(self, event: dict[str, Any]) -> None:
        name = str(event["key"])
        self.selected = [one for one in self.selected if one != name] + ([name] if event["on"] else [])
        self.page.note(self.page.address.with_state(show=format_names(self.selected)))
        self._show()

    async def _open(self, name: str) -> None:
        await self.page.go(Address(str(name), "graphs"))

    async def _overlay(self) -> None:
        selected = [name for name in self.selected if name in self.names]
        if selected:
            others = {"with": format_names(selected[1:])} if len(selected) > 1 else {}
            await self.page.go(Address(selected[0], "graphs", others))

    async def _compare(self) -> None:
        selected = [name for name in self.selected if name in self.names]
        if selected:
            await self.page.go(Address(selected[0], "compare", {"with": selected[1]} if len(selected) > 1 else {}))

    def _build_empty(self) -> None:
        folders = ", ".join(str(Path(folder)) for folder in self.page.library.folders)
        message = f"There are no recorded runs in {folders}. Record a training there, and it appears on this page."
        empty_state("No runs yet", message, _SAMPLE)
