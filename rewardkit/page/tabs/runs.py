"""The list of runs, grouped by components, with state, steps, and last rewards. Selected runs can be compared."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rewardkit.errors import RewardKitError
from rewardkit.page import ui
from rewardkit.page.addresses import Address, format_names, parse_names
from rewardkit.page.charts import series_color, spec_of
from rewardkit.page.curves import Line, Panel, thinned
from rewardkit.page.escapes import one_line
from rewardkit.page.style import color_of
from rewardkit.page.summaries import LAST, Summary
from rewardkit.page.tabs.component_scores import format_number
from rewardkit.page.tabs.layout import Page, Tab, empty_state, later

# One table for each set of components, so that a column means the same in every row.


Names = tuple[str, ...]

# Arbitrary limits per row: columns for components, and points of the sparkline.
_COMPONENTS = 5
_POINTS = 48
_OF_COMPONENT = "component/"
_FALLING = ("total", "steps", "completions", "seen")
"""The columns that are sorted with the highest value first."""


def grouped(names: Sequence[str], summaries: Mapping[str, Summary]) -> dict[Names, list[str]]:
    """Group the runs by component names. Runs that have no components or have not been read yet come last."""
    groups: dict[Names, list[str]] = {}
    for name in names:
        summary = summaries.get(name)
        components = () if summary is None else tuple(sorted(component for component, _ in summary.components))
        groups.setdefault(components, []).append(name)
    return {components: groups[components] for components in sorted(groups, key=lambda components: not components)}


def starts_falling(column: str) -> bool:
    """Return whether the first click on a column sorts it with the highest value first."""
    return column in _FALLING or column.startswith(_OF_COMPONENT)


def in_order(names: Sequence[str], summaries: Mapping[str, Summary], column: str, descending: bool) -> list[str]:
    """Return the runs sorted by a column. Runs without a value come last, in their previous order."""
    value = _value_of(column)
    valued = [name for name in names if name in summaries and value(name, summaries[name]) is not None]
    valued.sort(key=lambda name: value(name, summaries[name]), reverse=descending)
    return [*valued, *(name for name in names if name not in set(valued))]


def _value_of(column: str) -> Callable[[str, Summary], Any]:
    if column.startswith(_OF_COMPONENT):
        component = column.removeprefix(_OF_COMPONENT)
        return lambda _, summary: _none_if_nan(dict(summary.components).get(component))
    return {
        "state": lambda _, summary: summary.state or "broken",
        "steps": lambda _, summary: summary.last_step,
        "completions": lambda _, summary: summary.completions if not summary.problem else None,
        "total": lambda _, summary: _none_if_nan(summary.last_total),
        "seen": lambda _, summary: summary.written if summary.written != "never" else None,
    }.get(column, lambda name, _: name)


def _none_if_nan(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def columns_of(components: Names) -> list[dict[str, Any]]:
    """Return the columns for the table of runs that have these components."""
    hidden_count = len(components) - _COMPONENTS
    more_title = f"More components: {one_line(', '.join(components[_COMPONENTS:]), 300)}"
    about_steps = "As counted by the trainer. Some trainers start at 0, so a run with 20 steps ends with step 19."
    return [
        ui.column("selected", "", "check", width="30px"),
        ui.column("name", "Run", "link", sortable=True, width="24%"),
        ui.column("state", "State", "badge", sortable=True, width="110px"),
        ui.column("steps", "Last step", sortable=True, width="86px", title=about_steps),
        ui.column("completions", "Completions", sortable=True, width="106px"),
        ui.column("curve", "Total", "spark", title="The total of all training steps"),
        ui.column("total", f"Last {LAST} steps", sortable=True, width="106px", title="The mean total"),
        *(
            ui.column(
                f"{_OF_COMPONENT}{name}",
                one_line(name, 22),
                sortable=True,
                swatch=True,
                color=color_of(name, components),
                title=f"{one_line(name)}: the mean of the last {LAST} steps",
            )
            for name in components[:_COMPONENTS]
        ),
        *([ui.column("more", f"+{hidden_count} more", "soft", title=more_title)] if hidden_count > 0 else []),
        ui.column("seen", "Last written", sortable=True),
    ]


def row_of(name: str, summary: Summary | None, components: Names, selected: bool) -> dict[str, Any]:
    """Return a run's table row."""
    link = {"text": one_line(name, 80), "href": Address(name, "graphs").url}
    if summary is None:
        return {"key": name, "cells": {"selected": selected, "name": link, "state": {"text": "reading …", "tone": ""}}}
    if summary.problem:
        link["sub"] = one_line(summary.problem, 400)
        return {"key": name, "cells": {"selected": False, "name": link, "state": {"text": "broken", "tone": "bad"}}}
    means = dict(summary.components)
    cells = {
        "selected": selected,
        "name": {**link, "sub": one_line(summary.title, 100)},
        "state": {"text": summary.state, "tone": summary.state},
        "steps": None if summary.last_step is None else f"{summary.last_step:,}",
        "completions": f"{summary.completions:,}",
        "curve": None if summary.total is None else _spark(summary.total),
        "total": _format(summary.last_total),
        "seen": summary.written,
        **{f"{_OF_COMPONENT}{component}": _format(means.get(component)) for component in components[:_COMPONENTS]},
        "more": _format_means(means, components[_COMPONENTS:]),
    }
    return {"key": name, "cells": cells}


def _spark(line: Line) -> dict[str, Any] | None:
    """Return a sparkline: points from 0 to 1, and a description in words."""
    finite = np.isfinite(line.y)
    if finite.sum() < 2:
        return None
    steps, (values,) = thinned(line.x[finite], [line.y[finite]], _POINTS)
    low, high = float(values.min()), float(values.max())
    across = (steps - steps[0]) / max(steps[-1] - steps[0], 1.0)
    up = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    description = f"Total of {len(line.x):,} steps: first {format_number(float(values[0]))}, "
    description += f"last {format_number(float(values[-1]))}, from {format_number(low)} to {format_number(high)}"
    # Four decimals are finer than a pixel.
    return {"points": np.round(np.stack([across, up], axis=1), 4).tolist(), "text": description}


def _format_means(means: Mapping[str, float | None], names: Sequence[str]) -> str:
    """Format names with their means: ``"form 0.120, answer 0.900"``."""
    pairs = [f"{name} {format_number(value)}" for name in names if (value := means.get(name)) is not None]
    return one_line(", ".join(pairs), 80)


def _format(value: float | None) -> str | None:
    return None if value is None else format_number(value)


_SAMPLE = """import rewardkit as rk

trainer = GRPOTrainer(
    ...,
    reward_funcs=rk.to_trl(reward, record="runs/first"),
)"""


_PAUSE = 0.3
"""The minimum seconds between list updates while runs are being read, because each update sends all rows."""


class Runs(Tab):
    """The list of runs at ``/``."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.names: list[str] = []
        self.summaries: dict[str, Summary] = {}
        self.selected = parse_names(page.address.get("show"))
        self.words = page.address.get("q")
        self.sort = page.address.get("sort", "name")
        self.descending = page.address.get("down") == "1"
        self.tables: dict[Names, ui.Table] = {}
        self._drawn: object = None
        self._busy = False

    async def build(self) -> None:
        self.names = await asyncio.to_thread(self.page.library.names)
        if not self.names:
            self._build_empty()
            return
        with ui.box("bar-of-tools"):
            ui.Field(self.words, self._search, "Search runs", main=True).style("width: 280px")
            self.overlay = ui.button(
                "Overlay graphs", self._overlay, title="Show the graphs of all selected runs on top of each other"
            )
            self.compare = ui.button(
                "Compare prompts", self._compare, title="Compare two selected runs prompt by prompt"
            )
            self.count = ui.text("", "soft")
        trials = self.page.watcher.trials
        if trials is not None:
            reward_name = one_line(trials.name, 120)
            ui.text(f"Trying {reward_name}: open a run to see its scores.", "notice soft", "div")
        self.graph = ui.box("card graph").style("margin-bottom: 12px")
        self.nothing = ui.text("No run matches the search.", "empty", "div")
        self.frame = ui.box("groups")
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

    async def _refresh(self) -> None:
        """Read all runs, and periodically show the progress."""
        if self._busy:
            return
        self._busy, last_shown = True, 0.0
        try:
            for name in list(self.names):
                new = name not in self.summaries
                self.summaries[name] = await asyncio.to_thread(self._summary, name)
                if self.frame.is_deleted:
                    return
                if new and time.monotonic() - last_shown > _PAUSE:
                    self._show()
                    last_shown = time.monotonic()
            self._show()
        finally:
            self._busy = False

    def _summary(self, name: str) -> Summary:
        try:
            return self.page.watcher.summaries.of(self.page.library.path(name))
        except RewardKitError as error:
            return Summary(problem=str(error))

    def _show(self) -> None:
        visible_names = [name for name in self.names if self.words.casefold() in name.casefold()]
        summaries = [self.summaries[name] for name in visible_names if name in self.summaries]
        drawn = (visible_names, summaries, list(self.selected), self.words, self.sort, self.descending)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        groups = grouped(visible_names, self.summaries)
        if list(groups) != list(self.tables):
            self._build_tables(groups)
        for components, names in groups.items():
            ordered = in_order(names, self.summaries, self.sort, self.descending)
            rows = [row_of(name, self.summaries.get(name), components, name in self.selected) for name in ordered]
            self.tables[components].show(rows, sort=self.sort, descending=self.descending)
        selected = [name for name in self.selected if name in self.names]
        self.nothing.set_visibility(not visible_names)
        self.overlay.props["disabled"] = not selected
        self.compare.props["disabled"] = len(selected) not in (1, 2)
        noun = "run" if len(self.names) == 1 else "runs"
        chosen = f", {len(selected)} selected" if selected else ""
        self.count.show(f"{len(visible_names)} of {len(self.names)} {noun}{chosen}")
        self._draw(selected)

    def _build_tables(self, groups: dict[Names, list[str]]) -> None:
        self.tables = {}
        self.frame.clear()
        with self.frame:
            for components in groups:
                if len(groups) > 1:
                    ui.text(one_line(", ".join(components), 120) or "Without components", "section", "h2")
                with ui.box("card scroll"):
                    table = ui.Table(columns_of(components)).classes("cards")
                    table.when("check", self._select).when("open", self._open).when("sort", self._sort)
                self.tables[components] = table

    def _draw(self, selected: list[str]) -> None:
        """Draw the selected runs' totals in one graph."""
        lines = [(name, self.summaries[name].total) for name in selected if name in self.summaries]
        plain = [(name, Panel("total", "Total reward", "", [line])) for name, line in lines if line is not None]
        self.graph.clear()
        self.graph.set_visibility(bool(plain))
        if not plain:
            return
        # The same smoothing as the default of the Graphs tab.
        spec = spec_of(plain, [], smoothing=0.6)
        for number, line in enumerate(spec["lines"]):
            line["color"], line["dash"] = series_color(number), "solid"
        with self.graph:
            with ui.box("head"):
                ui.text("Total reward", tag="h3")
            with ui.box("legend"):
                for line in spec["lines"]:
                    with ui.box(tag="span"):
                        ui.swatch(line["color"], "line")
                        ui.text(line["name"])
            ui.Chart(spec)

    def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        self._show()

    def _sort(self, name: str) -> None:
        self.descending = not self.descending if self.sort == name else starts_falling(name)
        self.sort = name
        self.page.note(self.page.address.with_state(sort=self.sort, down="1" if self.descending else None))
        self._show()

    def _select(self, event: dict[str, Any]) -> None:
        name = str(event["key"])
        self.selected = [selected_name for selected_name in self.selected if selected_name != name] + (
            [name] if event["on"] else []
        )
        self.page.note(self.page.address.with_state(show=format_names(self.selected)))
        self._show()

    async def _open(self, name: str) -> None:
        await self.page.go(Address(name, "graphs"))

    async def _overlay(self) -> None:
        selected = [name for name in self.selected if name in self.names]
        if selected:
            state = {"with": format_names(selected[1:])} if len(selected) > 1 else {}
            await self.page.go(Address(selected[0], "graphs", state))

    async def _compare(self) -> None:
        selected = [name for name in self.selected if name in self.names]
        if selected:
            await self.page.go(Address(selected[0], "compare", {"with": selected[1]} if len(selected) > 1 else {}))

    def _build_empty(self) -> None:
        folders = ", ".join(str(Path(folder)) for folder in self.page.library.folders)
        message = f"There are no recorded runs in {folders}. Record a training run there, and it appears on this page."
        empty_state("No runs yet", message, _SAMPLE)
