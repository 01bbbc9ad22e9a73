"""The output and errors of reward functions, with what calling each component came to, and their notes by kind."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.addresses import Address
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.pages import log_rates
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.pages.note_tally import NoteTally
from rewardkit.viewer.reader import LogQuery, log_page
from rewardkit.viewer.scores import epoch_of, key_text
from rewardkit.viewer.selection import component as component_of, parse_steps, spoken
from rewardkit.viewer.watcher import Watched

_ROWS = 60
_TONES = {"error": "bad", "warning": "warn"}
_KINDS = ("print", "log", "warning", "fault", "slow")
_LEVELS = ("debug", "info", "warning", "error")
_COLUMNS = [
    {"name": "step", "label": "Step", "kind": "number"},
    {"name": "epoch", "label": "Epoch", "kind": "number", "title": "Counted from 1"},
    {"name": "time", "label": "Time (UTC)", "kind": "number"},
    {"name": "level", "label": "Level", "kind": "badge"},
    {"name": "kind", "label": "Kind", "kind": "soft"},
    {"name": "component", "label": "Component", "kind": "soft"},
    {"name": "message", "label": "Message", "kind": "text"},
    {"name": "count", "label": "Times", "kind": "number"},
    {"name": "seconds", "label": "Seconds", "kind": "number"},
    {"name": "version", "label": "Version", "kind": "soft", "title": "The version of the reward that scored the batch"},
    {"name": "show", "label": "", "kind": "link"},
]


class Logs:
    """The tab *Reward logs*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        address = page.address
        words, component, level, kind = (address.get(name) for name in ("q", "component", "level", "kind"))
        component = component or component_of(address.get("by"), watched.scores)
        self.asked = LogQuery(words, component, level, kind, parse_steps(address.get("steps")))
        self.at = int(address.number("page", 1, 1, 1e6)) - 1
        self.lines: list[dict[str, Any]] = []
        self.open: set[str] = set()

    async def build(self) -> None:
        with put.box("card scroll rates"):
            self.rates = put.Table(log_rates.COLUMNS, empty="No components have been scored yet.")
            self.rates.when("open", self._component)
        self.notes = NoteTally(self.page, self.watched)
        self.notes.build()
        with put.box("bar-of-tools"):
            put.Field(self.asked.words, self._search, "Search messages", main=True).style("width: 300px")
            names = {
                "": "All components",
                "-": "(no component)",
                **{name: one_line(name, 50) for name in self.watched.components},
            }
            put.Choice(self.asked.component, names, self._component, "Component")
            put.Choice(self.asked.level, {"": "All levels", **{one: one for one in _LEVELS}}, self._level, "Level")
            put.Choice(self.asked.kind, {"": "All kinds", **{one: one for one in _KINDS}}, self._kind, "Kind")
            if self.asked.steps is not None:
                put.button(f"{spoken(self.asked.steps)}  ×", self._all_steps, "on", "Show the lines of all steps")
            put.box("space")
            with put.box("together"):
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.count = put.text("", "soft")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")
        with put.box("card scroll"):
            known = not np.isnan(self.watched.scores.epoch).all()
            columns = [column for column in _COLUMNS if known or column["name"] != "epoch"]
            self.table = put.Table(columns, empty="No reward function has printed, logged or raised anything.")
            self.table.classes("cards lines")
            self.table.when("open", self._open)
        await self.update()

    async def update(self) -> None:
        self.rates.show(await asyncio.to_thread(log_rates.rows, self.watched, self.asked.component))
        await self.notes.update()
        await self._show()

    async def key(self, key: str, shift: bool) -> None:
        return None

    async def _show(self) -> None:
        wanted = self.asked, self.at
        total, lines = await asyncio.to_thread(log_page, self.watched.run, self.asked, self.at * _ROWS, _ROWS)
        if wanted != (self.asked, self.at):
            return  # the user has changed the query in the meantime
        self.lines = lines
        first = self.at * _ROWS
        noun = "line" if total == 1 else "lines"
        self.count.show(f"{min(first + 1, total):,}–{min(first + _ROWS, total):,} of {total:,} {noun}, newest first")
        for button, disabled in ((self.back, self.at == 0), (self.on, first + _ROWS >= total)):
            button.props["disabled"] = disabled
        if self.asked != LogQuery():
            self.table.props["empty"] = (
                "No line matches. Search for fewer words, or show all components, levels and kinds."
            )
        self._fill()

    def _fill(self) -> None:
        self.table.show([self._row(number, line) for number, line in enumerate(self.lines)])

    def _row(self, number: int, line: dict[str, Any]) -> dict[str, Any]:
        key = f"{line['attempt']}.{line['rank']}.{line['part']}.{line['row']}.{self.at * _ROWS + number}"
        detail = None
        if key in self.open:
            detail = escape("\n\n".join(filter(None, (line["message"], line["detail"]))))
        cells: dict[str, Any] = {
            "step": f"{line['step']:,}",
            "epoch": f"{epoch_of(line['epoch']):,}" if line["epoch"] is not None else None,
            "time": f"{line['time']:%m-%d %H:%M:%S}" if line["time"] is not None else None,
            "level": {"text": line["level"], "tone": _TONES.get(line["level"], "")},
            "kind": line["kind"],
            "component": one_line(line["component"] or "–", 40),
            "message": one_line(line["message"] or "", 300),
            "count": f"{line['count']:,}" if (line["count"] or 1) > 1 else "",
            "seconds": f"{line['seconds']:.2f}" if line["seconds"] is not None else "",
            "version": (line["version"] or "")[:8],
            "show": {"text": "", "href": ""},
        }
        if line["row"] is not None:
            name = key_text((line["attempt"], line["rank"], line["part"], line["row"]))
            url = Address(self.watched.name, "completions", {"left": name}).url
            cells["show"] = {"text": "completion", "href": url}
        else:
            cells["show"] = None
        return {"key": key, "cells": cells, "detail": detail}

    async def _change(self, **changes: str) -> None:
        state: dict[str, str] = {
            "q": self.asked.words,
            "component": self.asked.component,
            "level": self.asked.level,
            "kind": self.asked.kind,
            **changes,
        }
        self.asked = LogQuery(state["q"], state["component"], state["level"], state["kind"], self.asked.steps)
        self.at = 0
        self.open.clear()
        self.page.note(self.page.address.with_state(**state, page=None))
        await self._show()

    async def _search(self, words: str) -> None:
        await self._change(q=words)

    async def _component(self, name: str) -> None:
        await self.page.go(
            self.page.address.with_state(
                component=None if name == self.asked.component else str(name), by=None, page=None
            )
        )

    async def _all_steps(self) -> None:
        await self.page.go(self.page.address.with_state(steps=None, by=None, before=None, page=None))

    async def _level(self, level: str) -> None:
        await self._change(level=level)

    async def _kind(self, kind: str) -> None:
        await self._change(kind=kind)

    async def _turn(self, by: int) -> None:
        self.at = max(self.at + by, 0)
        self.page.note(self.page.address.with_state(page=str(self.at + 1) if self.at else None))
        await self._show()

    async def _open(self, key: str) -> None:
        self.open ^= {str(key)}
        self._fill()
