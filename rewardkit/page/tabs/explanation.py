"""From a jump in a graph to the completions that caused it: those of some steps, over all prompts."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from rewardkit.analyze.contributions import Change
from rewardkit.page import elements as put
from rewardkit.page.charts import spec_of
from rewardkit.page.curves import ByStep, Line, Panel, version_marks
from rewardkit.page.escapes import one_line
from rewardkit.page.reader import excerpts
from rewardkit.page.scores import Integers, key_text, read_key
from rewardkit.page.selection import Selection, columns, format_steps, measured, spoken
from rewardkit.page.style import color_of
from rewardkit.page.tabs.component_scores import format_number, tried_cells, tried_columns
from rewardkit.page.tabs.labeling import label_cells, label_columns
from rewardkit.page.tabs.layout import Page, empty_state
from rewardkit.page.watcher import Watched

_ROWS = 20
_COMPARED = "What it is compared with: the mean of its prompt in the steps before; of all, if the prompt is new"
_AIMS = {"steps": "these steps", "before": "the steps before"}


class Explanation:
    """The tab *Explain*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        address = page.address
        self.sort = address.get("order", "contribution")
        self.turned = address.get("turned") == "1"
        self.at = int(address.number("page", 1, 1, 1e6)) - 1
        self.aim = "steps"
        self.rows: Integers = np.empty(0, dtype=np.int64)
        self.order: Integers = np.empty(0, dtype=np.int64)

    @property
    def selection(self) -> Selection:
        """What the address selects, or else the newest steps."""
        chosen = Selection.of(self.page.address)
        return chosen or Selection.latest(self.watched.scores, self.page.address.get("by", "total"))

    async def build(self) -> None:
        if not self.watched.scores.training.any():
            empty_state("No completions yet", "They appear here after the first training step.")
            return
        names = {value: one_line(text, 50) for value, text in columns(self.watched.scores).items()}
        with put.box("bar-of-tools"):
            put.Choice(self.selection.by, names, self._by, "What changed")
            self.chips = put.box("picked")
            put.box("space")
            self.aims = put.box("together")
        with put.box("card graph changes"):
            with put.box("legend"):
                for name, color in (("the steps before", "var(--soft)"), ("these steps", "var(--accent)")):
                    with put.box(tag="span"):
                        put.box("swatch", "i").style(f"background: {color}; opacity: 0.4")
                        put.text(name)
            self.chart = put.Chart(self._spec())
            self.chart.on("pick", lambda event: self._pick(event.args))
        self.said = put.box("card verdicts")
        self.said.props["aria-live"] = "polite"
        with put.box("card scroll"):
            self.table = put.Table(self._head(), empty="No completion of these steps has such a score.")
            self.table.when("sort", self._sorted).when("open", self._open)
        with put.box("pager"):
            self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
            self.where = put.text("")
            self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")
        self._build_aims()
        await self.update()

    async def update(self) -> None:
        if not hasattr(self, "table"):
            await self.page.show(self.page.address)
            return
        wanted = selection = self.selection
        rows, found = await asyncio.to_thread(selection.changes, self.watched.scores)
        if wanted != self.selection:
            return  # the user has selected other steps in the meantime
        self.rows, self.found = rows, found
        self.chart.show(await asyncio.to_thread(self._spec))
        self._build_chips(selection)
        self._say(selection, found)
        await self._fill()

    async def key(self, key: str, shift: bool) -> None:
        return None

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
                put.button(text, lambda: self._go(steps=None, before=None), "on", "Show the newest steps")
            else:
                put.text(f"The newest tenth: {spoken(selection.steps)}", "soft")
            text = f"compared with {self._before(selection)}"
            if address.get("before"):
                put.button(f"{text}  ×", lambda: self._go(before=None), "on", "Compare with the steps just before")
            else:
                put.text(text, "soft")

    def _before(self, selection: Selection) -> str:
        """Return the steps before as text, without those that the run does not have."""
        low, high = selection.before
        first = int(self.watched.scores.step[0])
        return spoken((max(low, first), high)) if high >= first else f"the steps before step {first:,}"

    def _build_aims(self) -> None:
        self.aims.clear()
        with self.aims:
            put.text("Drag selects", "soft")
            put.choices(self.aim, _AIMS, self._aim, "What dragging across the graph selects")

    def _say(self, selection: Selection, found: Change) -> None:
        """State the change, and how much of it the completions explain."""
        self.said.clear()
        name = one_line(columns(self.watched.scores).get(selection.by, "Total"), 60)
        with self.said:
            if np.isnan(found.jump):
                which = self._before(selection) if np.isnan(found.before) else spoken(selection.steps)
                put.text(f"No completion in {which} has this score, so there is nothing to compare.", tag="p")
                return
            self.digits = digits = _digits(found.jump, found.total, found.same_prompts, found.new_prompts, found.mix)
            verb = "rose" if found.jump > 0 else "fell"
            said = f"{verb} by {abs(found.jump):,.{digits}f}" if abs(found.jump) > 1e-12 else "stayed the same"
            put.text(
                f"{name} {said}: from {found.before:,.{digits}f} in {self._before(selection)} to "
                f"{found.now:,.{digits}f} in {spoken(selection.steps)}.",
                tag="p",
            )
            with put.box("facts", "dl"):
                self._fact("Jump", found.jump, "The mean of these steps minus the mean of the steps before")
                self._fact(
                    "Sum of contributions",
                    found.total,
                    "Of each completion: its value minus the mean of its prompt before (or the mean of all, if the "
                    "prompt is new), divided by the number of completions",
                )
                self._fact(
                    "Same prompts",
                    found.same_prompts,
                    "The part of the sum from completions whose prompt was seen before",
                    f"{100 * found.paired:.0f}% of the completions",
                )
                self._fact("New prompts", found.new_prompts, "The part of the sum from completions of new prompts")
                self._fact(
                    "Changed mix",
                    found.mix,
                    "The rest of the jump: easier or harder prompts are drawn more often than before",
                )

    def _fact(self, name: str, value: float, about: str, detail: str = "") -> None:
        with put.box(title=about):
            put.text(name, tag="dt")
            put.text(f"{value if abs(value) > 1e-12 else 0.0:+,.{self.digits}f}", tag="dd")
            if detail:
                put.text(detail, "soft", "dd")

    def _sort_key(self, rows: Integers) -> Any:
        scores = self.watched.scores
        if self.sort == "contribution":
            direction = 1.0 if self.found.jump >= 0 else -1.0
            return -direction * self.found.contributions
        if self.sort in scores.tried:
            return -scores.tried[self.sort][rows]
        if self.sort == "step":
            return scores.step[rows].astype(np.float64)
        return -(scores.total if self.sort == "total" else measured(scores, self.selection.by))[rows]

    async def _fill(self) -> None:
        """Show the rows of the current page."""
        keys = self._sort_key(self.rows) * (-1.0 if self.turned else 1.0)
        self.order = np.argsort(np.where(np.isnan(keys), np.inf, keys), kind="stable")
        pages = max(1, -(-len(self.order) // _ROWS))
        self.at = min(max(self.at, 0), pages - 1)
        places = self.order[self.at * _ROWS : (self.at + 1) * _ROWS]
        scores = self.watched.scores
        shown = [(scores.key(row), scores.prompt_ids[scores.prompt[row]]) for row in self.rows[places].tolist()]
        texts = await asyncio.to_thread(excerpts, self.watched.run, shown)
        if places.tolist() != self.order[self.at * _ROWS : (self.at + 1) * _ROWS].tolist():
            return
        largest = float(np.nanmax(np.abs(self.found.contributions), initial=0.0))
        rows = [
            self._row(place, texts.get(key, ""), largest)
            for place, (key, _) in zip(places.tolist(), shown, strict=True)
        ]
        self.table.show(rows, sort=self.sort, descending=not self.turned, columns=self._head())
        first = self.at * _ROWS
        self.where.show(f"{first + min(1, len(rows)):,}–{first + len(rows):,} of {len(self.order):,} completions")
        for button, disabled in ((self.back, self.at == 0), (self.on, self.at == pages - 1)):
            button.props["disabled"] = disabled

    def _head(self) -> list[dict[str, Any]]:
        by = self.selection.by
        name = one_line(columns(self.watched.scores).get(by, "Total"), 24)
        color = color_of(by.removeprefix("terms/") if by not in ("total", "length") else "", self.watched.components)
        head: list[dict[str, Any]] = [
            {"name": "contribution", "label": "Contribution", "kind": "bar", "sortable": True, "color": color},
            {"name": "total", "label": "Total", "kind": "number", "sortable": True},
            *tried_columns(self.watched),
            {"name": "value", "label": name, "kind": "number", "sortable": True},
            {"name": "before", "label": "Prompt before", "kind": "number", "title": _COMPARED},
            {"name": "step", "label": "Step", "kind": "number", "sortable": True},
            *label_columns(self.watched),
            {"name": "text", "label": "Completion", "kind": "text"},
            {"name": "prompt", "label": "Prompt", "kind": "text"},
        ]
        return [one for one in head if one["name"] != "value" or by != "total"]

    def _row(self, place: int, text: str, largest: float) -> dict[str, Any]:
        scores, row = self.watched.scores, int(self.rows[place])
        value = float(measured(scores, self.selection.by)[row])
        added = float(self.found.contributions[place])
        compared = value - added * int(np.isfinite(self.found.contributions).sum())
        cells: dict[str, Any] = {
            "contribution": _signed(added, largest),
            "total": _number(float(scores.total[row])),
            "value": _number(value),
            "before": _number(compared),
            "step": f"{scores.step[row]:,}",
            "text": one_line(text, 240),
            "prompt": one_line(self.watched.prompts.texts[scores.prompt[row]], 160),
        }
        return {
            "key": key_text(scores.key(row)),
            "cells": {**cells, **tried_cells(self.watched, row), **label_cells(self.watched, row)},
        }

    async def _go(self, **state: str | None) -> None:
        """Show another selection. The browser's back button returns to this one."""
        self.at = 0
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

    async def _sorted(self, name: str) -> None:
        self.turned = not self.turned if self.sort == name else False
        self.sort, self.at = str(name), 0
        self.page.note(self.page.address.with_state(order=self.sort, turned="1" if self.turned else None, page=None))
        await self._fill()

    async def _turn(self, by: int) -> None:
        self.at += by
        self.page.note(self.page.address.with_state(page=str(self.at + 1) if self.at > 0 else None))
        await self._fill()

    async def _open(self, key: str) -> None:
        """Show a completion in the tab *Completions*, with the same selection."""
        scores, selection = self.watched.scores, self.selection
        row = scores.find(read_key(str(key)))
        if row is None:
            return
        state = {"steps": format_steps(selection.steps), "by": selection.by, "before": self.page.address.get("before")}
        prompt = scores.prompt_ids[scores.prompt[row]]
        await self.page.go(self.page.address.to("completions", prompt=prompt, right=str(key), **state))


def _panel(by: str, watched: Watched, steps: ByStep) -> Panel:
    name = columns(watched.scores).get(by, "Total")
    values = steps.mean(measured(watched.scores, by))
    color = "" if by in ("total", "length") else by.removeprefix("terms/")
    return Panel("changes", name, "", [Line(name, steps.steps, values, color, by=by)])


def _digits(*values: float) -> int:
    """Return how many decimals show three digits of the largest of some numbers."""
    largest = max(map(abs, values))
    return min(max(2 - int(np.floor(np.log10(largest))), 0), 12) if largest > 1e-12 else 3


def _number(value: float) -> str | None:
    return None if np.isnan(value) else format_number(value)


def _signed(value: float, largest: float) -> dict[str, Any] | None:
    """Return a bar that starts in the middle, with as many digits as the largest contribution needs."""
    if np.isnan(value):
        return None
    half = 0.5 * value / largest if largest > 0 else 0.0
    share = (0.5, 0.5 + half) if half > 0 else (0.5 + half, 0.5)
    return {"text": f"{value:+,.{_digits(largest)}f}", "share": share}
