"""The *Graphs* tab: a run's graphs, optionally with other runs overlaid. The address contains all choices."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from rewardkit.errors import RewardKitError
from rewardkit.page import ui
from rewardkit.page.addresses import format_names, parse_names
from rewardkit.page.charts import Range, extent_of, rows_of, spec_of
from rewardkit.page.curves import SECTIONS, Panel, version_marks
from rewardkit.page.escapes import one_line
from rewardkit.page.exports import csv_of, file_name
from rewardkit.page.selection import columns, format_steps, parse_steps
from rewardkit.page.tabs.layout import Page, Tab, empty_state
from rewardkit.page.watcher import Watched

# Finer steps near 1, where a curve changes most.
_SMOOTHINGS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98)
_USUAL = 0.6
"""The default smoothing, which is the same as in TensorBoard, because users are familiar with its curves."""
_DRAGS = {"zoom": "zoom", "explain": "explain"}
_CLICKED = 50
"""A click selects 1/50 of the visible steps. The number is arbitrary: a click marks only an approximate position."""


class Graphs(Tab):
    """The *Graphs* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        address = page.address
        self.smoothing = address.number("smoothing", _USUAL, 0.0, 0.99)
        self.shown = _range(address.get("steps"))
        self.others = [name for name in parse_names(address.get("with")) if name != watched.name]
        self.words = address.get("q")
        self.drag = "explain" if address.get("drag") == "explain" else "zoom"
        self.all = address.get("all") == "1"
        self.charts: dict[str, _Graph] = {}
        self.sections: dict[str, tuple[ui.element, ui.element]] = {}

    async def build(self) -> None:
        if not len(self.watched.scores):
            empty_state("No graphs yet", "They appear here after the first training step.")
            return
        with ui.box("bar-of-tools"):
            ui.text("Smoothing", "soft", "label")
            nearest = min(range(len(_SMOOTHINGS)), key=lambda at: abs(_SMOOTHINGS[at] - self.smoothing))
            ui.Slider(nearest, len(_SMOOTHINGS) - 1, self._smooth, "Smoothing").style("width: 130px")
            self.smoothing_text = ui.text(f"{self.smoothing:g}", "mono")
            ui.Field(self.words, self._search, "Search graphs", main=True).style("width: 160px")
            self.back = ui.button("All steps", self._all, title="Zoom out to all steps (g, or double-click a graph)")
            await self._build_others()
            self.drags = ui.box("together")
            ui.box("space")
            dashed = " · Dashed: the reward changed" if version_marks(self.watched.scores) else ""
            ui.text(f"Click a line to see why it moved{dashed}", "soft")
        self._build_drags()
        self.problem = ui.box()
        for number, name in enumerate(SECTIONS):
            title = ui.text(name, "section" if number else "section first", "h2")
            self.sections[name] = title, ui.box("graphs")
        self.more = ui.button(
            "", self._show_all, "alone", "Show graphs of metrics that never change or were logged only once"
        )
        self.more.style("margin-top: 12px")
        self.none = ui.text("No graph matches the search.", "empty", "div")
        await self._draw()

    async def update(self) -> None:
        if not self.charts:
            await self.page.show(self.page.address)
            return
        await self._draw()

    async def key(self, key: str, shift: bool) -> None:
        if key == "g":
            await self._all()

    async def _build_others(self) -> None:
        names = [name for name in await asyncio.to_thread(self.page.library.names) if name != self.watched.name]
        available = [name for name in names if name not in self.others]
        if available:
            ui.Choice(
                "",
                {"": "Overlay a run …", **{name: one_line(name, 50) for name in available[:300]}},
                self._overlay,
                "Overlay a run",
            )
        for name in self.others:
            ui.button(f"{one_line(name, 40)}  ×", lambda name=name: self._remove(name), "on", "Remove this run")

    async def _draw(self) -> None:
        """Draw all graphs: create new graphs, and update the data in existing graphs."""
        request = self.smoothing, self.shown
        runs, problems = await asyncio.to_thread(self._runs)
        specs = await asyncio.to_thread(self._specs, runs)
        if request != (self.smoothing, self.shown) or self.problem.is_deleted:
            return  # the user has changed or left the view in the meantime
        self.back.props["disabled"] = self.shown is None
        self.problem.clear()
        with self.problem:
            for problem in problems:
                ui.text(problem, "notice bad", "div")
        wordy = {key: panel for key, (panel, _) in specs.items() if self.words.casefold() in panel.title.casefold()}
        hidden = set() if self.all or self.words else {key for key, panel in wordy.items() if _is_idle(panel)}
        for key, (panel, spec) in specs.items():
            if key in self.charts:
                self.charts[key].show(spec)
            elif key in wordy and key not in hidden:
                with self.sections[panel.section][1]:
                    self.charts[key] = self._build(panel, spec)
        for key, graph in self.charts.items():
            graph.card.set_visibility(key in wordy and key not in hidden)
        visible_sections = {panel.section for key, panel in wordy.items() if key not in hidden}
        for name, elements in self.sections.items():
            for element in elements:
                element.set_visibility(name in visible_sections)
        self.more.show(f"Show {len(hidden)} more that never change")
        self.more.set_visibility(bool(hidden))
        self.none.set_visibility(not wordy)

    def _runs(self) -> tuple[list[Watched], list[str]]:
        runs, problems = [self.watched], []
        for name in self.others:
            try:
                runs.append(self.page.watcher.get(name))
            except RewardKitError as error:
                problems.append(str(error))
        return runs, problems

    def _specs(self, runs: list[Watched]) -> dict[str, tuple[Panel, dict[str, Any]]]:
        components = list(dict.fromkeys(name for run in runs for name in run.components))
        marks = version_marks(self.watched.scores)
        panels_by_key: dict[str, list[tuple[str, Panel]]] = {}
        for run in runs:
            for panel in run.panels:
                panels_by_key.setdefault(panel.key, []).append((run.name, panel))
        self.components, self.found = components, panels_by_key
        extent = extent_of(panel for run in runs for panel in run.panels)
        return {
            key: (
                panels[0][1],
                spec_of(panels, components, smoothing=self.smoothing, zoom=self.shown, extent=extent, marks=marks),
            )
            for key, panels in panels_by_key.items()
        }

    def _build(self, panel: Panel, spec: dict[str, Any]) -> _Graph:
        with ui.box("card graph") as card:
            card.props["data-graph"] = panel.key
            with ui.box("head"):
                ui.text(one_line(panel.title, 80), tag="h3", title=panel.about)
                if panel.unit not in ("", "share"):
                    ui.text(panel.unit, "soft")
                with ui.box("tools"):
                    name = file_name(self.watched.name, panel.key)
                    ui.button("PNG", lambda: chart.run_method("png", f"{name}.png"), "small", "Save as PNG")
                    ui.button("CSV", lambda: self._csv(panel.key, f"{name}.csv"), "small", "Save all points as CSV")
            legend = ui.box("legend")
            chart = ui.Chart(spec)
            chart.on("zoom", lambda event: self._zoom(event.args))
            chart.on("pick", lambda event: self._pick(event.args))
        graph = _Graph(card, chart, legend)
        graph.label(spec)
        return graph

    def _csv(self, key: str, name: str) -> None:
        header, rows = rows_of(self.found[key])
        ui.download.content(csv_of(header, rows).encode(), name, "text/csv")

    async def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        await self._draw()

    async def _show_all(self) -> None:
        self.all = True
        self.page.note(self.page.address.with_state(all="1"))
        await self._draw()

    async def _smooth(self, at: int) -> None:
        self.smoothing = _SMOOTHINGS[min(max(at, 0), len(_SMOOTHINGS) - 1)]
        self.smoothing_text.show(f"{self.smoothing:g}")
        self.page.note(self.page.address.with_state(smoothing=f"{self.smoothing:g}"))
        await self._draw()

    async def _zoom(self, zoom: list[float] | None) -> None:
        self.shown = None if zoom is None else (round(min(zoom)), max(round(max(zoom)), round(min(zoom)) + 1))
        steps = None if self.shown is None else f"{self.shown[0]:g}-{self.shown[1]:g}"
        self.page.note(self.page.address.with_state(steps=steps), step=True)
        await self._draw()

    async def _pick(self, event: dict[str, Any]) -> None:
        """Zoom in on the selected steps, or open the *Explain* tab for these steps."""
        low, high, how = float(event["low"]), float(event["high"]), event["how"]
        if how == "z" or (how in ("drag", "other") and (how == "drag") == (self.drag == "zoom")):
            await self._zoom([low, high])
            return
        first, last = self.watched.scores.step[[0, -1]].tolist()
        if round(low) == round(high) or how == "click":  # from this step on
            zoom = self.shown or (first, last)
            high = low + max((zoom[1] - zoom[0]) / _CLICKED, 1) - 1
        steps = min(max(round(low), first), last), min(max(round(high), first), last)
        by = str(event["by"])
        state = {"steps": format_steps(steps), "by": by if by in columns(self.watched.scores) else "total"}
        await self.page.go(self.page.address.to("explain", **state))

    def _build_drags(self) -> None:
        self.drags.clear()
        with self.drags:
            ui.text("Drag to", "soft")
            ui.choices(
                self.drag, _DRAGS, self._choose_drag, "Dragging across a graph does this. Hold Shift for the other"
            )

    def _choose_drag(self, drag: str) -> None:
        self.drag = drag
        self.page.note(self.page.address.with_state(drag=drag if drag != "zoom" else None))
        self._build_drags()

    async def _all(self) -> None:
        if self.shown is not None:
            await self._zoom(None)

    async def _overlay(self, name: str) -> None:
        if name:
            await self.page.go(self.page.address.with_state(**{"with": format_names([*self.others, name])}))

    async def _remove(self, name: str) -> None:
        other_names = format_names(run_name for run_name in self.others if run_name != name)
        await self.page.go(self.page.address.with_state(**{"with": other_names}))


@dataclass
class _Graph:
    """A graph on the page, with its legend."""

    card: ui.element
    chart: ui.Chart
    legend: ui.element
    entries: list[tuple[str, str, str]] = field(default_factory=list)

    def show(self, spec: dict[str, Any]) -> None:
        self.chart.show(spec)
        self.label(spec)

    def label(self, spec: dict[str, Any]) -> None:
        """Fill the legend. For several runs, the legend explains the dashes and colors."""
        entries = [(line["line"], line["color"], line["dash"]) for line in spec["lines"]]
        if any("run" in line for line in spec["lines"]):
            colors = {line["color"]: line["line"] for line in reversed(spec["lines"])}
            dashes = {line["run"]: (line["color"], line["dash"]) for line in spec["lines"]}
            one_each = len(dashes) == len(entries)
            entries = [(run, color if one_each else "var(--series-0)", dash) for run, (color, dash) in dashes.items()]
            entries += [] if one_each else [(name, color, "solid") for color, name in reversed(colors.items())]
        elif len(entries) == 1 and not spec["lines"][0]["named"]:
            entries = []
        if entries == self.entries:
            return
        self.entries = entries
        self.legend.clear()
        with self.legend:
            for name, color, dash in entries:
                with ui.box(tag="span", title=name):
                    ui.swatch(color, f"line {dash}", f"; --c: {color}")
                    ui.text(name)
            if spec["left_out"]:
                ui.text(f"and {spec['left_out']} more in the CSV")


def _is_idle(panel: Panel) -> bool:
    """Return whether `panel` shows a trainer metric that never changes."""
    return panel.section == "Trainer" and panel.still


def _range(text: str) -> Range | None:
    """Parse a range of at least two steps, such as ``"200-400"``; return None for anything else."""
    steps = parse_steps(text)
    return None if steps is None or steps[0] == steps[1] else (float(steps[0]), float(steps[1]))
