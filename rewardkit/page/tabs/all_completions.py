"""The table of all completions of a prompt: whole texts, components, a filter, and buttons to compare two of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from rewardkit.page import elements as put
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.filters import Column, Filter
from rewardkit.page.pairs import PromptCompletions
from rewardkit.page.reader import beginnings, completions, texts
from rewardkit.page.rendering import rendered
from rewardkit.page.scores import Floats, Key, Scores, key_text, read_key
from rewardkit.page.search import columns_of, plain
from rewardkit.page.selection import Selection, rows_in
from rewardkit.page.style import color_of
from rewardkit.page.tabs.component_scores import bounds_of, format_number, share_of, tried_cells, tried_columns
from rewardkit.page.tabs.labeling import label_cells, label_columns
from rewardkit.page.tabs.layout import Page
from rewardkit.page.transcript import TONES
from rewardkit.page.watcher import Watched

_ROWS = 16
_EXCERPT = 240
"""The most characters of a text in its row: about two lines."""


class AllCompletions:
    """The lower part of the tab *Completions*."""

    def __init__(self, page: Page, watched: Watched, chosen: Callable[[str, int], Awaitable[None]]) -> None:
        self.page = page
        self.watched = watched
        self.chosen = chosen
        self.words = page.address.get("rows")
        self.sort = page.address.get("order", page.address.get("by", "when"))
        self.descending = page.address.get("rising") != "1"
        self.at = 0
        self.prompt = ""
        self.choice: PromptCompletions | None = None
        self.rows: list[int] = []
        self.sides = (-1, -1)
        self.excerpts: dict[int, str] = {}
        self.open: set[Key] = set()
        self.details: dict[int, dict[str, Any]] = {}

    def build(self) -> None:
        with put.box("card"):
            with put.box("table-head"):
                put.text("All completions of this prompt", tag="h3")
                self.count = put.text("", "soft")
                names = ", ".join(map(one_line, self._columns_of(np.empty(0, dtype=np.int64))))
                put.Field(
                    self.words, self._search, "Filter by words, or " + self._example(), tooltip=f"Columns: {names}"
                )
            self.complaint = put.text("", "complaint", "div")
            with put.box("scroll"):
                self.table = put.Table(self._head(), empty="No completion matches the filter.").classes("cards")
                self.table.when("sort", self._sort).when("press", self._press).when("open", self._open)
            with put.box("pager") as self.pager:
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.where = put.text("")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")

    async def set(self, choice: PromptCompletions, left: int, right: int) -> None:
        """Show the completions of a prompt."""
        prompt = self.page.address.get("prompt")
        if prompt != self.prompt:
            self.at = 0
            self.open = _keys(self.page.address.get("open"))
        self.choice, self.sides, self.prompt = choice, (left, right), prompt
        await self._find()

    async def refresh(self) -> None:
        """Search again, and show the labels."""
        await self._find()

    def mark(self, left: int, right: int) -> None:
        """Mark the two completions that are shown side by side."""
        self.sides = (left, right)
        self._fill()

    def show(self, choice: PromptCompletions | None, rows: list[int]) -> None:
        self.choice, self.rows = choice, rows
        self._fill()

    def _example(self) -> str:
        names = [name for name in self.watched.components if name.replace("_", "").isalnum()]
        return f"{names[0] if names else 'total'}<0.5"

    def _columns_of(self, rows: Any) -> dict[str, Column]:
        return {
            name: values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]
            for name, values in columns_of(self.watched.scores, self.watched.labels).items()
        }

    async def _find(self) -> None:
        wanted = self.choice, self.words, self.sort, self.descending
        rows, complaints = await asyncio.to_thread(self._found)
        if wanted != (self.choice, self.words, self.sort, self.descending):
            return  # the user has changed the query in the meantime
        self.rows = rows
        self.complaint.show(" ".join(complaints))
        self.complaint.set_visibility(bool(complaints))
        await self._read()

    def _found(self) -> tuple[list[int], list[str]]:
        choice = self.choice
        if choice is None:
            return [], []
        columns = self._columns_of(choice.rows)
        asked = plain(Filter.parse(self.words), columns)
        searched = [""] * len(choice.rows)
        if asked.words or any(condition.name not in columns for condition in asked.conditions):
            found = texts(self.watched.run, self.page.address.get("prompt"))
            searched = [found.get(self.watched.scores.key(row), "") for row in choice.rows.tolist()]
        places, complaints = asked.rows(searched, columns)
        selection = Selection.of(self.page.address)
        if selection is not None:
            places = places[np.isin(choice.rows[places], rows_in(self.watched.scores, selection.steps))]
        rows = choice.rows[places]
        values = columns.get(self.sort)
        if isinstance(values, np.ndarray):
            sorted_by = values[places]
            sign = -1.0 if self.descending else 1.0
            rows = rows[np.argsort(np.where(np.isnan(sorted_by), np.inf, sign * sorted_by), kind="stable")]
        elif self.descending:
            rows = rows[::-1]
        return rows.tolist(), complaints

    async def _read(self) -> None:
        """Read the first words of the completions on the current page, and the whole texts of those that are open."""
        pages = max(1, -(-len(self.rows) // _ROWS))
        self.at = min(max(self.at, 0), pages - 1)
        shown = self.rows[self.at * _ROWS : (self.at + 1) * _ROWS]
        scores = self.watched.scores
        keys = {row: scores.key(row) for row in shown}
        prompt = self.page.address.get("prompt")
        found = await asyncio.to_thread(beginnings, self.watched.run, prompt, list(keys.values()), _EXCERPT)
        details = await asyncio.to_thread(self._whole, prompt, [key for key in keys.values() if key in self.open])
        if shown != self.rows[self.at * _ROWS : (self.at + 1) * _ROWS]:
            return
        self.excerpts = {row: found.get(key, "") for row, key in keys.items()}
        self.details = {row: details[key] for row, key in keys.items() if key in details}
        self._fill()

    def _whole(self, prompt: str, keys: list[Key]) -> dict[Key, dict[str, Any]]:
        """Return the whole texts of some completions, as the table shows them below a row."""
        found = completions(self.watched.run, prompt, keys)
        if self.page.address.get("view") == "rendered":
            return {key: {"nodes": rendered(escape(one.text))} for key, one in found.items()}
        return {key: {"detail": escape(one.text) or "(empty)"} for key, one in found.items()}

    def _fill(self) -> None:
        shown = self.rows[self.at * _ROWS : (self.at + 1) * _ROWS]
        self.table.show(
            [self._row(row) for row in shown], sort=self.sort, descending=self.descending, columns=self._head()
        )
        total = len(self.choice.rows) if self.choice is not None else 0
        self.count.show(f"{len(self.rows):,} of {total:,}" if len(self.rows) != total else f"{total:,}")
        self.where.show(
            f"{self.at * _ROWS + min(1, len(shown)):,}–{self.at * _ROWS + len(shown):,} of {len(self.rows):,}"
        )
        self.pager.set_visibility(len(self.rows) > _ROWS)
        for button, disabled in ((self.back, self.at == 0), (self.on, (self.at + 1) * _ROWS >= len(self.rows))):
            button.props["disabled"] = disabled

    def _head(self) -> list[dict[str, Any]]:
        scores, components = self.watched.scores, self.watched.components
        columns: list[dict[str, Any]] = [
            {"name": "show", "label": "", "kind": "buttons"},
            {"name": "when", "label": "Epoch" if scores.by_epoch else "Step", "kind": "number", "sortable": True},
            {"name": "total", "label": "Total", "kind": "bar", "sortable": True, "color": "var(--series-0)"},
            *tried_columns(self.watched),
            *label_columns(self.watched),
            {"name": "text", "label": "Text", "kind": "text"},
            {"name": "advantage", "label": "Advantage", "kind": "number", "sortable": True},
        ]
        columns += [
            {
                "name": name,
                "label": one_line(name, 24),
                "kind": "bar",
                "width": "1px",  # as narrow as its contents
                "sortable": True,
                "color": color_of(name, components),
                "swatch": True,
                "title": one_line(name),
            }
            for name in components
            if name in scores.components
        ]
        if scores.has_turns:
            columns += [
                {"name": "turns", "label": "Turns", "kind": "number", "sortable": True},
                {"name": "calls", "label": "Calls", "kind": "number", "sortable": True},
                {"name": "stop", "label": "Stop", "kind": "badge", "title": "stop: why the completion ended"},
            ]
        columns.append(
            {"name": "length", "label": "Length", "kind": "number", "sortable": True, "title": scores.length_unit}
        )
        return columns

    def _row(self, row: int) -> dict[str, Any]:
        scores, bounds = self.watched.scores, bounds_of(self.watched)
        low, high = self.watched.cached("totals", lambda: _extremes(scores.total))
        when = f"{scores.visit[row]:,} · {scores.step[row]:,}" if scores.by_epoch else f"{scores.step[row]:,}"
        cells: dict[str, Any] = {
            "when": when if scores.training[row] else f"{when} (eval)",
            "total": _bar(float(scores.total[row]), (low, high), "unscorable"),
            "advantage": f"{scores.advantage[row]:+.2f}" if np.isfinite(scores.advantage[row]) else None,
            "length": f"{scores.length[row]:,.0f}" if np.isfinite(scores.length[row]) else None,
            "text": one_line(self.excerpts.get(row, ""), _EXCERPT) or "(empty)",
        }
        if scores.has_turns:
            cells |= {name: f"{one[row]:,.0f}" for name, one in _counts(scores).items() if np.isfinite(one[row])}
            stop = str(scores.stop[row])
            cells["stop"] = {"text": stop, "tone": TONES.get(stop, "")} if stop else None
        for name, values in scores.components.items():
            cells[name] = _bar(float(values[row]), bounds[name], scores.outcome(name, row))
        cells |= tried_cells(self.watched, row)
        cells |= label_cells(self.watched, row)
        is_open = row in self.details
        cells["show"] = [
            [
                "open",
                "▾" if is_open else "▸",
                "Whole text",
                {"expanded": is_open, "label": "Whole text", "kind": "fold"},
            ],
            *(
                [side, side, f"Show on the {side}", {"pressed": row == shown, "kind": "on" if row == shown else ""}]
                for side, shown in zip(("left", "right"), self.sides, strict=True)
            ),
        ]
        name = key_text(scores.key(row))
        return {"key": name, "cells": cells, "selected": row in self.sides, **self.details.get(row, {})}

    async def _search(self, words: str) -> None:
        self.words, self.at = words, 0
        self.page.note(self.page.address.with_state(rows=words))
        await self._find()

    async def _sort(self, name: str) -> None:
        self.descending = not self.descending if self.sort == name else True
        self.sort, self.at = str(name), 0
        rising = None if self.descending else "1"
        self.page.note(self.page.address.with_state(order=self.sort, rising=rising))
        await self._find()

    async def _turn(self, by: int) -> None:
        self.at += by
        await self._read()

    async def _press(self, event: dict[str, Any]) -> None:
        row = self.watched.scores.find(read_key(str(event["key"])))
        if event["name"] == "open":
            await self._open(str(event["key"]))
        elif row is not None and event["name"] in ("left", "right"):
            await self.chosen(str(event["name"]), row)

    async def _open(self, name: str) -> None:
        """Unfold the whole text of a completion below its row, or fold it."""
        key = read_key(name)
        if key is not None:
            self.open ^= {key}
            self.page.note(self.page.address.with_state(open=",".join(map(key_text, sorted(self.open)))))
            await self._read()


def _keys(names: str) -> set[Key]:
    return {key for name in names.split(",") if (key := read_key(name)) is not None}


def _counts(scores: Scores) -> dict[str, Floats]:
    return {"turns": scores.turns, "calls": scores.calls}


def _bar(value: float, bounds: tuple[float, float], outcome: str = "scored") -> dict[str, Any] | None:
    if np.isnan(value):
        return (
            {"text": outcome, "share": None, "tone": "bad" if outcome in ("failed", "errored") else "soft"}
            if outcome
            else None
        )
    return {
        "text": format_number(value),
        "share": share_of(value, bounds),
        "tone": "bad" if outcome == "errored" else "",
    }


def _extremes(values: Floats) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
