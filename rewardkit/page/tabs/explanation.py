"""The *Explain* tab: the completions for all prompts that caused a jump in a graph in a range of steps."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from rewardkit.analyze.contributions import Change
from rewardkit.page import ui
from rewardkit.page.charts import spec_of
from rewardkit.page.curves import ByStep, Line, Panel, version_marks
from rewardkit.page.escapes import one_line
from rewardkit.page.scores import Integers, key_text, read_key
from rewardkit.page.selection import Selection, columns, format_steps, measured, spoken
from rewardkit.page.style import color_of
from rewardkit.page.tabs.component_scores import format_number, tried_cells, tried_columns
from rewardkit.page.tabs.labeling import label_cells, label_columns
from rewardkit.page.tabs.layout import Page, Tab, empty_state
from rewardkit.page.tabs.tables import PagedTable, in_order
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import excerpts

_COMPARED = "The prompt's mean in the previous steps, or the mean of all completions if the prompt is new"
_AIMS = {"steps": "these steps", "before": "the steps before"}


class Explanation(Tab):
    """The *Explain* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.aim = "steps"
        self.list: Contributions | None = None

    @property
    def selection(self) -> Selection:
        return selection_of(self.page, self.watched)

    async def build(self) -> None:
        if not self.watched.scores.training.any():
            empty_state("No completions yet", "They appear here after the first training step.")
            return
        names = {value: one_line(text, 50) for value, text in columns(self.watched.scores).items()}
        with ui.box("bar-of-tools"):
            ui.Choice(self.selection.by, names, self._by, "What changed")
            self.chips = ui.box("picked")
            ui.box("space")
            self.aims = ui.box("together")
        with ui.box("card graph changes"):
            with ui.box("legend"):
                for name, color in (("the steps before", "var(--soft)"), ("these steps", "var(--accent)")):
                    with ui.box(tag="span"):
                        ui.swatch(color, style="; opacity: 0.4")
                        ui.text(name)
            self.chart = ui.Chart(self._spec())
            self.chart.on("pick", lambda event: self._pick(event.args))
        self.said = ui.box("card verdicts")
        self.said.props["aria-live"] = "polite"
        self.list = Contributions(self.page, self.watched)
        with ui.box("card scroll"):
            self.list.build_table("No completion in these steps has such a score.")
            self.list.table.when("open", self._open)
        self.list.build_pager()
        self._build_aims()
        await self.update()

    async def update(self) -> None:
        if self.list is None:
            await self.page.show(self.page.address)
            return
        selection = self.selection
        self._build_chips(selection)  # right away: an earlier click must not overwrite a later one
        spec = await asyncio.to_thread(self._spec)
        if selection != self.selection:
            return  # the user has selected other steps in the meantime
        self.chart.show(spec)
        await self.list.refresh()
        if selection == self.selection:
            self._say(selection, self.list.change)

    def _spec(self) -> dict[str, Any]:
        selection, scores = self.selection, self.watched.scores
        steps = ByStep(scores.step, scores.training)
        panel = self.watched.cached(f"changes {selection.by}", lambda: _panel(selection.by, self.watched, steps))
        areas = [(*selection.before, "before", "var(--soft)"), (*selection.steps, "these steps", "var(--accent)")]
        first, last = steps.steps[0], steps.steps[-1]
        drawn = [(max(low, first), min(high, last), name, color) for low, high, name, color in areas]
        return spec_of(
            [(self.watched.name, panel)],
            self.watched.components,
            marks=version_marks(scores),
            areas=[area for area in drawn if area[0] <= area[1]],
            extent=(first, last) if first < last else None,
        )

    def _build_chips(self, selection: Selection) -> None:
        self.chips.clear()
        address = self.page.address
        with self.chips:
            if address.get("steps"):
                text = f"{spoken(selection.steps)}  ×"
                ui.button(text, lambda: self._go(steps=None, before=None), "on", "Show the newest steps")
            else:
                ui.text(f"The newest tenth: {spoken(selection.steps)}", "soft")
            text = f"compared with {self._before(selection)}"
            if address.get("before"):
                ui.button(
                    f"{text}  ×", lambda: self._go(before=None), "on", "Compare with the steps immediately before"
                )
            else:
                ui.text(text, "soft")

    def _before(self, selection: Selection) -> str:
        """Return the step range to compare with as text, limited to the run's steps."""
        low, high = selection.before
        first = int(self.watched.scores.step[0])
        return spoken((max(low, first), high)) if high >= first else f"the steps before step {first:,}"

    def _build_aims(self) -> None:
        self.aims.clear()
        with self.aims:
            ui.text("Drag selects", "soft")
            ui.choices(self.aim, _AIMS, self._aim, "The steps that you select by dragging across the graph")

    def _say(self, selection: Selection, change: Change) -> None:
        """Describe the change in words, and show the parts that the completions explain."""
        self.said.clear()
        name = one_line(columns(self.watched.scores).get(selection.by, "Total"), 60)
        with self.said:
            if np.isnan(change.jump):
                which = self._before(selection) if np.isnan(change.before) else spoken(selection.steps)
                ui.text(f"No completion in {which} has this score, so there is nothing to compare.", tag="p")
                return
            self.digits = digits = _digits(
                change.jump, change.total, change.same_prompts, change.new_prompts, change.mix
            )
            verb = "rose" if change.jump > 0 else "fell"
            # A tolerance for rounding: means may be summed in another order.
            movement = f"{verb} by {abs(change.jump):,.{digits}f}" if abs(change.jump) > 1e-12 else "stayed the same"
            ui.text(
                f"{name} {movement}: from {change.before:,.{digits}f} in {self._before(selection)} to "
                f"{change.now:,.{digits}f} in {spoken(selection.steps)}.",
                tag="p",
            )
            with ui.box("facts", "dl"):
                self._fact("Jump", change.jump, "The mean in these steps minus the mean in the previous steps")
                self._fact(
                    "Sum of contributions",
                    change.total,
                    "For each completion: its value minus the prompt's previous mean (or the mean of all "
                    "completions, if the prompt is new), divided by the number of completions",
                )
                self._fact(
                    "Same prompts",
                    change.same_prompts,
                    "The part of the sum from completions whose prompt was seen before",
                    f"{100 * change.paired:.0f}% of the completions",
                )
                self._fact("New prompts", change.new_prompts, "The part of the sum from completions for new prompts")
                self._fact(
                    "Changed mix",
                    change.mix,
                    "The rest of the jump: easier or harder prompts are sampled more often than before",
                )

    def _fact(self, name: str, value: float, about: str, detail: str = "") -> None:
        with ui.box(title=about):
            ui.text(name, tag="dt")
            # "-0.000" would look like a loss.
            ui.text(f"{value if abs(value) > 1e-12 else 0.0:+,.{self.digits}f}", tag="dd")
            if detail:
                ui.text(detail, "soft", "dd")

    async def _go(self, **state: str | None) -> None:
        """Show another selection. The browser's back button returns to the current selection."""
        if self.list is not None:
            self.list.at = 0
        self.page.note(self.page.address.with_state(**state, page=None), step=True)
        await self.update()

    async def _by(self, by: str) -> None:
        await self._go(by=by)

    async def _pick(self, event: dict[str, Any]) -> None:
        low, high = round(float(event["low"])), round(float(event["high"]))
        steps = format_steps((max(low, 0), max(high, low, 0)))
        if (self.aim == "before") != (event["how"] in ("other", "z")):
            await self._go(steps=format_steps(self.selection.steps), before=steps)
        else:
            await self._go(steps=steps, before=self.page.address.get("before"))

    def _aim(self, aim: str) -> None:
        self.aim = aim
        self._build_aims()

    async def _open(self, key: str) -> None:
        """Show a completion in the *Completions* tab, with the same selection."""
        scores, selection = self.watched.scores, self.selection
        row = scores.find(read_key(key))
        if row is None:
            return
        state = {"steps": format_steps(selection.steps), "by": selection.by, "before": self.page.address.get("before")}
        prompt = scores.prompt_ids[scores.prompt[row]]
        await self.page.go(self.page.address.to("completions", prompt=prompt, right=key, **state))


def selection_of(page: Page, watched: Watched) -> Selection:
    """Return the selection in the address or, by default, the newest steps."""
    return Selection.of(page.address) or Selection.latest(watched.scores, page.address.get("by", "total"))


class Contributions(PagedTable):
    """The table of completions in the selected steps, with their contributions.

    Rows are numbered within these steps.
    """

    size = 20
    names = ("", "order", "turned")
    page_name = "page"

    def __init__(self, page: Page, watched: Watched) -> None:
        super().__init__(page, "contribution")
        self.watched = watched
        self.found: tuple[Selection, Integers, Change] | None = None

    @property
    def change(self) -> Change:
        assert self.found is not None
        return self.found[2]

    def find(self) -> tuple[Integers, list[str]]:
        scores, selection = self.watched.scores, selection_of(self.page, self.watched)
        rows, change = selection.changes(scores)
        self.found = selection, rows, change
        # Default order: steps ascending, contributions in the direction of the change, other columns descending.
        if self.sort == "contribution":
            values = change.contributions if change.jump >= 0 else -change.contributions
        elif self.sort == "step":
            values = -scores.step[rows].astype(np.float64)
        elif self.sort in scores.tried:
            values = scores.tried[self.sort][rows]
        else:
            values = (scores.total if self.sort == "total" else measured(scores, selection.by))[rows]
        return in_order(np.arange(len(rows)), values, descending=self.descending), []

    def remark(self) -> str:
        return " completions"

    def _query(self) -> tuple[object, ...]:
        return (*super()._query(), selection_of(self.page, self.watched))

    def rows(self, numbers: list[int]) -> list[dict[str, Any]]:
        assert self.found is not None
        scores, (selection, rows, change) = self.watched.scores, self.found
        of_page = rows[numbers].tolist()
        keys = [(scores.key(row), scores.prompt_ids[scores.prompt[row]]) for row in of_page]
        texts = excerpts(self.watched.run, keys)
        values = measured(scores, selection.by)
        count = int(np.isfinite(change.contributions).sum())
        largest = float(np.nanmax(np.abs(change.contributions), initial=0.0))
        table_rows = []
        for number, row, (key, _) in zip(numbers, of_page, keys, strict=True):
            value, added = float(values[row]), float(change.contributions[number])
            cells: dict[str, Any] = {
                "contribution": _signed(added, largest),
                "total": _number(float(scores.total[row])),
                "value": _number(value),
                "before": _number(value - added * count),
                "step": f"{scores.step[row]:,}",
                "text": one_line(texts.get(key, ""), 240),
                "prompt": one_line(self.watched.prompts.texts[scores.prompt[row]], 160),
            }
            cells |= tried_cells(self.watched, row) | label_cells(self.watched, row)
            table_rows.append({"key": key_text(key), "cells": cells})
        return table_rows

    def columns(self) -> list[dict[str, Any]]:
        by = selection_of(self.page, self.watched).by
        name = one_line(columns(self.watched.scores).get(by, "Total"), 24)
        color = color_of(by.removeprefix("terms/") if by not in ("total", "length") else "", self.watched.components)
        return [
            ui.column("contribution", "Contribution", "bar", sortable=True, color=color),
            ui.column("total", "Total", sortable=True),
            *tried_columns(self.watched),
            *([ui.column("value", name, sortable=True)] if by != "total" else []),
            ui.column("before", "Prompt before", title=_COMPARED),
            ui.column("step", "Step", sortable=True),
            *label_columns(self.watched),
            ui.column("text", "Completion", "text"),
            ui.column("prompt", "Prompt", "text"),
        ]


def _panel(by: str, watched: Watched, steps: ByStep) -> Panel:
    name = columns(watched.scores).get(by, "Total")
    values = steps.mean(measured(watched.scores, by))
    color = "" if by in ("total", "length") else by.removeprefix("terms/")
    return Panel("changes", name, "", [Line(name, steps.steps, values, color, by=by)])


def _digits(*values: float) -> int:
    """Return the number of decimal places that shows three digits of the largest value."""
    largest = max(map(abs, values))
    # At most twelve: further digits of a float are not meaningful.
    return min(max(2 - int(np.floor(np.log10(largest))), 0), 12) if largest > 1e-12 else 3


def _number(value: float) -> str | None:
    return None if np.isnan(value) else format_number(value)


def _signed(value: float, largest: float) -> dict[str, Any] | None:
    """Return a cell with a bar that starts in the middle. The largest contribution determines the decimal places."""
    if np.isnan(value):
        return None
    half = 0.5 * value / largest if largest > 0 else 0.0
    share = (0.5, 0.5 + half) if half > 0 else (0.5 + half, 0.5)
    return {"text": f"{value:+,.{_digits(largest)}f}", "share": share}
