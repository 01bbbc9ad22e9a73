"""The table of all completions for a prompt, with whole texts, components, a filter, and buttons for comparing two."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from rewardkit.page import ui
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.filters import Column, Filter
from rewardkit.page.pairs import PromptCompletions
from rewardkit.page.rendering import rendered
from rewardkit.page.scores import Integers, key_text, read_key
from rewardkit.page.search import columns_of, plain
from rewardkit.page.selection import Selection, rows_in
from rewardkit.page.style import color_of
from rewardkit.page.tabs.component_scores import bar, bounds_of, observed, tried_cells, tried_columns
from rewardkit.page.tabs.labeling import label_cells, label_columns
from rewardkit.page.tabs.layout import Page
from rewardkit.page.tabs.tables import PagedTable, in_order
from rewardkit.page.transcript import TONES
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import completions, excerpts, searchable_texts
from rewardkit.record.schema import Key

_EXCERPT = 240
"""The maximum text length in a row in characters: about two lines."""


class AllCompletions(PagedTable):
    """The lower part of the *Completions* tab.

    Its buttons call `choose` with a side and the row to show on that side.
    """

    size = 16
    names = ("rows", "order", "rising")

    def __init__(self, page: Page, watched: Watched, choose: Callable[[str, int], Awaitable[None]]) -> None:
        super().__init__(page, page.address.get("by", "when"))
        self.watched = watched
        self.choose = choose
        self.prompt = ""
        self.choice: PromptCompletions | None = None
        self.sides: dict[str, str] = {}
        self.open: set[Key] = set()

    def build(self) -> None:
        names = [name for name in self.watched.components if name.replace("_", "").isalnum()]
        hint = f"Filter by words, or {names[0] if names else 'total'}<0.5"
        columns = ", ".join(map(one_line, self._columns_of(np.empty(0, dtype=np.int64))))
        with ui.box("card"):
            with ui.box("table-head"):
                ui.text("All completions of this prompt", tag="h3")
                self.count = ui.text("", "soft")
                ui.Field(self.words, self.search, hint, tooltip=f"Columns: {columns}")
            self.build_table("No completion matches the filter.", "cards")
            self.table.when("press", self._press).when("open", self._open)
            self.build_pager()

    async def set(self, choice: PromptCompletions | None, sides: dict[str, str]) -> None:
        """Show the completions for a prompt; `sides` contains the keys of the two compared completions."""
        prompt = self.page.address.get("prompt")
        if prompt != self.prompt:
            self.at = 0
            keys = map(read_key, self.page.address.get("open").split(","))
            self.open = {key for key in keys if key is not None}
        self.choice, self.sides, self.prompt = choice, sides, prompt
        await self.refresh()

    def mark(self, sides: dict[str, str]) -> None:
        """Highlight the two compared completions."""
        self.sides = sides
        self.table.select(sides)

    def selected(self) -> dict[str, str]:
        return self.sides

    async def show(self) -> None:
        await super().show()
        match_count, total = len(self.order), 0 if self.choice is None else len(self.choice.rows)
        self.count.show(f"{match_count:,} of {total:,}" if match_count != total else f"{total:,}")
        self.pager.frame.set_visibility(match_count > self.size)

    def _columns_of(self, rows: Integers) -> dict[str, Column]:
        return {
            name: values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]
            for name, values in columns_of(self.watched.scores, self.watched.labels).items()
        }

    def _query(self) -> tuple[object, ...]:
        return (*super()._query(), self.choice)

    def find(self) -> tuple[Integers, list[str]]:
        choice, scores = self.choice, self.watched.scores
        if choice is None:
            return np.empty(0, dtype=np.int64), []
        columns = self._columns_of(choice.rows)
        query = plain(Filter.parse(self.words), columns)
        searched = [""] * len(choice.rows)
        if query.words or any(condition.name not in columns for condition in query.conditions):
            texts = searchable_texts(self.watched.run, self.prompt)
            searched = [texts.get(key, "") for key in scores.keys(choice.rows)]
        indices, complaints = query.rows(searched, columns)
        selection = Selection.of(self.page.address)
        if selection is not None:
            indices = indices[np.isin(choice.rows[indices], rows_in(scores, selection.steps))]
        values = columns.get(self.sort)
        by = values[indices] if isinstance(values, np.ndarray) else np.arange(len(indices), dtype=np.float64)
        return in_order(choice.rows[indices], by, descending=self.descending), complaints

    def rows(self, numbers: list[int]) -> list[dict[str, Any]]:
        keys = self.watched.scores.keys(np.array(numbers, dtype=np.int64))
        texts = excerpts(self.watched.run, [(key, self.prompt) for key in keys], _EXCERPT)
        open_completions = completions(self.watched.run, self.prompt, [key for key in keys if key in self.open])
        is_rendered = self.page.address.get("view") == "rendered"
        rows = []
        for number, key in zip(numbers, keys, strict=True):
            cells = {"show": _buttons(key in open_completions), **self._cells(number)}
            cells["text"] = one_line(texts.get(key, ""), _EXCERPT) or "(empty)"
            details: dict[str, Any] = {}
            if key in open_completions:
                text = escape(open_completions[key].text)
                details = {"nodes": rendered(text)} if is_rendered else {"detail": text or "(empty)"}
            rows.append({"key": key_text(key), "cells": cells, **details})
        return rows

    def columns(self) -> list[dict[str, Any]]:
        scores, components = self.watched.scores, self.watched.components
        columns = [
            ui.column("show", "", "buttons"),
            ui.column("when", "Epoch" if scores.by_epoch else "Step", sortable=True),
            ui.column("total", "Total", "bar", sortable=True, color="var(--series-0)"),
            *tried_columns(self.watched),
            *label_columns(self.watched),
            ui.column("text", "Text", "text"),
            ui.column("advantage", "Advantage", sortable=True),
        ]
        # Component columns are only as wide as their content.
        options = {"sortable": True, "swatch": True, "width": "1px"}
        columns += [
            ui.column(
                name, one_line(name, 24), "bar", color=color_of(name, components), title=one_line(name), **options
            )
            for name in components
            if name in scores.components
        ]
        if scores.has_turns:
            columns += [
                ui.column("turns", "Turns", sortable=True),
                ui.column("calls", "Calls", sortable=True),
                ui.column("stop", "Stop", "badge", title="stop: the reason why the completion ended"),
            ]
        return [*columns, ui.column("length", "Length", sortable=True, title=scores.length_unit)]

    def _cells(self, row: int) -> dict[str, Any]:
        scores, bounds = self.watched.scores, bounds_of(self.watched)
        totals = self.watched.cached("totals", lambda: observed(scores.total))
        when = f"{scores.visit[row]:,} · {scores.step[row]:,}" if scores.by_epoch else f"{scores.step[row]:,}"
        cells: dict[str, Any] = {
            "when": when if scores.training[row] else f"{when} (eval)",
            "total": bar(float(scores.total[row]), totals, "unscorable"),
            "advantage": f"{scores.advantage[row]:+.2f}" if np.isfinite(scores.advantage[row]) else None,
            "length": f"{scores.length[row]:,.0f}" if np.isfinite(scores.length[row]) else None,
        }
        if scores.has_turns:
            counts = {"turns": scores.turns[row], "calls": scores.calls[row]}
            cells |= {name: f"{count:,.0f}" for name, count in counts.items() if np.isfinite(count)}
            stop = str(scores.stop[row])
            cells["stop"] = {"text": stop, "tone": TONES.get(stop, "")} if stop else None
        for name, values in scores.components.items():
            cells[name] = bar(float(values[row]), bounds[name], scores.outcome(name, row))
        return cells | tried_cells(self.watched, row) | label_cells(self.watched, row)

    async def _press(self, event: dict[str, Any]) -> None:
        key, button = str(event["key"]), str(event["name"])
        row = self.watched.scores.find(read_key(key))
        if button == "open":
            await self._open(key)
        elif row is not None and button in ("left", "right"):
            await self.choose(button, row)

    async def _open(self, name: str) -> None:
        """Expand or collapse a completion's whole text below its row."""
        key = read_key(name)
        if key is not None:
            self.open ^= {key}
            self.note(open=",".join(map(key_text, sorted(self.open))))
            await self.show()


def _buttons(is_open: bool) -> list[list[Any]]:
    fold = {"expanded": is_open, "label": "Whole text", "kind": "fold"}
    sides = [[side, side, f"Show on the {side}"] for side in ("left", "right")]
    return [["open", "▾" if is_open else "▸", "Whole text", fold], *sides]
