"""The list of runs: state, steps, last rewards. The graphs of selected runs can be overlaid."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.core.errors import RewardKitError
from rewardkit.viewer import elements as put
from rewardkit.viewer.addresses import Address, format_names, parse_names
from rewardkit.viewer.charts import series_color, spec_of
from rewardkit.viewer.curves import Panel
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.pages.component_scores import format_number
from rewardkit.viewer.pages.layout import Page, empty_state, later
from rewardkit.viewer.style import color_of
from rewardkit.viewer.summaries import LAST, Summary

_COMPONENTS = 5
_SAMPLE = """import rewardkit as rk

trainer = GRPOTrainer(
    ...,
    reward_funcs=rk.to_trl(reward, record="runs/first"),
)"""


class Runs:
    """The list of runs at ``/``."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.names: list[str] = []
        self.summaries: dict[str, Summary] = {}
        self.selected = parse_names(page.address.get("show"))
        self.words = page.address.get("q")
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
            self.count = put.text("", "soft")
        self.graph = put.box("card graph").style("margin-bottom: 12px")
        with put.box("card scroll") as self.frame:
            self.table = put.Table(self._columns([]), empty="No run matches the search.")
            self.table.when("check", self._select).when("open", self._open)
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
        """Read all runs, and show each one as soon as it is read."""
        if self._busy:
            return
        self._busy = True
        try:
            for name in list(self.names):
                new = name not in self.summaries
                self.summaries[name] = await asyncio.to_thread(self._summary, name)
                if self.table.is_deleted:
                    return
                if new:
                    self._show()
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
        components = list(dict.fromkeys(one for summary in known for one, _ in summary.components))
        drawn = (shown, known, list(self.selected), self.words)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        rows = [self._row(name, components) for name in shown]
        self.table.show(rows, columns=self._columns(components))
        selected = [name for name in self.selected if name in self.names]
        self.overlay.props["disabled"] = not selected
        noun = "run" if len(self.names) == 1 else "runs"
        chosen = f", {len(selected)} selected" if selected else ""
        self.count.show(f"{len(shown)} of {len(self.names)} {noun}{chosen}")
        self._draw(selected)

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

    def _columns(self, components: list[str]) -> list[dict[str, Any]]:
        left = len(components) - _COMPONENTS
        others = f"More components: {one_line(', '.join(components[_COMPONENTS:]), 300)}"
        return [
            {"name": "selected", "label": "", "kind": "check", "width": "30px"},
            {"name": "name", "label": "Run", "kind": "link"},
            {"name": "state", "label": "State", "kind": "badge"},
            {
                "name": "steps",
                "label": "Last step",
                "kind": "number",
                "title": "As counted by the trainer, which may start at 0. Then a run of 20 steps ends with step 19.",
            },
            {"name": "completions", "label": "Completions", "kind": "number"},
            {"name": "total", "label": f"Total, last {LAST} steps", "kind": "number"},
            *(
                {
                    "name": f"c{number}",
                    "label": one_line(name, 22),
                    "kind": "number",
                    "color": color_of(name, components),
                    "swatch": True,
                    "title": one_line(name),
                }
                for number, name in enumerate(components[:_COMPONENTS])
            ),
            *([{"name": "more", "label": f"+{left} more", "kind": "soft", "title": others}] if left > 0 else []),
            {"name": "seen", "label": "Last written", "kind": "number"},
        ]

    def _row(self, name: str, components: list[str]) -> dict[str, Any]:
        summary = self.summaries.get(name)
        url = Address(name, "graphs").url
        if summary is None:
            cells = {"selected": name in self.selected, "name": {"text": one_line(name, 80), "href": url}}
            return {"key": name, "cells": {**cells, "state": {"text": "reading …", "tone": ""}}}
        if summary.problem:
            link = {"text": one_line(name, 80), "href": url, "sub": one_line(summary.problem, 400)}
            return {"key": name, "cells": {"selected": False, "name": link, "state": {"text": "broken", "tone": "bad"}}}
        means = dict(summary.components)
        cells = {
            "selected": name in self.selected,
            "name": {"text": one_line(name, 80), "href": url, "sub": one_line(summary.title, 100)},
            "state": {"text": summary.state, "tone": summary.state},
            "steps": None if summary.last_step is None else f"{summary.last_step:,}",
            "completions": f"{summary.completions:,}",
            "total": _format(summary.last_total),
            "seen": summary.written,
            **{f"c{number}": _format(means.get(one)) for number, one in enumerate(components[:_COMPONENTS])},
            "more": _format_means(means, components[_COMPONENTS:]),
        }
        return {"key": name, "cells": cells}

    def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
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

    def _build_empty(self) -> None:
        folders = ", ".join(str(Path(folder)) for folder in self.page.library.folders)
        message = f"There are no recorded runs in {folders}. Record a training there, and it appears on this page."
        empty_state("No runs yet", message, _SAMPLE)


def _format_means(means: Mapping[str, float | None], names: Sequence[str]) -> str:
    """Return names with their means: ``"form 0.120, answer 0.900"``."""
    pairs = [f"{name} {format_number(value)}" for name in names if (value := means.get(name)) is not None]
    return one_line(", ".join(pairs), 80)


def _format(value: float | None) -> str | None:
    return None if value is None else format_number(value)
