"""The list of prompts of a run: search, sort, filter, select."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.filters import Column, Filter
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.reader import columns_of
from rewardkit.viewer.scores import Integers
from rewardkit.viewer.search import columns_of as columns_of_scores, prompts_with, split
from rewardkit.viewer.watcher import Watched

_ROWS = 40
_COLUMNS = [
    {
        "name": "index",
        "label": "#",
        "kind": "number",
        "sortable": True,
        "title": "In the order in which the prompts were first seen",
    },
    {"name": "text", "label": "Prompt", "kind": "text", "sortable": True},
    {
        "name": "length",
        "label": "Len",
        "kind": "number",
        "sortable": True,
        "title": "length: the number of characters in the prompt",
    },
    {"name": "epochs", "label": "Epochs", "kind": "number", "sortable": True},
    {
        "name": "completions",
        "label": "N",
        "kind": "number",
        "sortable": True,
        "title": "completions: the number of completions",
    },
    {
        "name": "mean",
        "label": "Mean",
        "kind": "number",
        "sortable": True,
        "title": "mean: the mean total of all completions",
    },
]
_HINT = "Search prompts, or mean<0.5 …"
_TOOLTIP = (
    "Words search prompts and their columns. Conditions compare index, length, epochs, completions, mean, best, last "
    "or an example column: mean<0.5, completions>=16, level=hard, answer:42. To find prompts by their completions, use "
    "total>0.9, a component such as format<1, or completion:sorry. If completions call tools, also calls>3, tool:open, "
    "errors>0, repeated>0, turns>=5, stop=pending."
)
_EMPTY = (
    "No prompt matches. Words search prompts; completion:word finds prompts by the text of their completions, and "
    "total>0.9 (or a component) by the scores of their completions."
)


class PromptList:
    """The left side of the tab *Completions*."""

    def __init__(self, page: Page, watched: Watched, chosen: Callable[[str], Awaitable[None]]) -> None:
        self.page = page
        self.watched = watched
        self.chosen = chosen
        self.words = page.address.get("q")
        self.sort = page.address.get("sort", "index")
        self.descending = page.address.get("down") == "1"
        self.at = 0
        self.order: Integers = np.empty(0, dtype=np.int64)
        self._columns_read: tuple[int, dict[str, Column]] | None = None

    async def build(self) -> None:
        with put.box("card prompts"):
            with put.box("find"):
                put.Field(self.words, self._search, _HINT, tooltip=_TOOLTIP, main=True)
                put.Choice(
                    "",
                    {
                        "": "Filter …",
                        "mean<0.5": "mean below 0.5",
                        "best<1": "best below 1",
                        "epochs>1": "seen more than once",
                        "epochs=1": "seen once",
                        "none": "no filter",
                    },
                    self._filter,
                    "Filter prompts",
                )
            self.complaint = put.text("", "complaint", "div")
            with put.box("scroll"):
                self.table = put.Table(_COLUMNS, empty=_EMPTY)
                self.table.when("sort", self._sort).when("open", self._open)
            with put.box("pager"):
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.count = put.text("")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")
        await self.refresh()

    async def refresh(self) -> None:
        """Search and sort again, and show the page with the selected prompt."""
        wanted = self.words, self.sort, self.descending
        order, complaints = await asyncio.to_thread(self.find)
        if wanted != (self.words, self.sort, self.descending):
            return  # the user has changed the query in the meantime
        self.order = order
        self.complaint.show(" ".join(complaints))
        self.complaint.set_visibility(bool(complaints))
        place = self._place()
        self.at = 0 if place is None else place // _ROWS
        self.show()

    def show(self) -> None:
        """Show the rows of the current page."""
        prompts = self.watched.prompts
        pages = max(1, -(-len(self.order) // _ROWS))
        self.at = min(max(self.at, 0), pages - 1)
        shown = self.order[self.at * _ROWS : (self.at + 1) * _ROWS].tolist()
        chosen = self.page.address.get("prompt")
        rows = []
        for number in shown:
            cells = {name: _format(name, values[number]) for name, values in prompts.numbers.items()}
            cells["text"] = one_line(prompts.texts[number], 150) or "(empty)"
            rows.append({"key": prompts.ids[number], "cells": cells, "selected": prompts.ids[number] == chosen})
        label = "Epochs" if self.watched.scores.by_epoch else "Steps"
        title = f"epochs: the number of {label.lower()} in which the prompt was seen"
        columns = [{**one, "label": label, "title": title} if one["name"] == "epochs" else one for one in _COLUMNS]
        self.table.show(rows, sort=self.sort, descending=self.descending, columns=columns)
        everything = len(prompts.ids)
        self.count.show(
            f"{self.at * _ROWS + min(1, len(shown)):,}–{self.at * _ROWS + len(shown):,} of {len(self.order):,}"
            + (f" ({everything:,} in all)" if len(self.order) != everything else "")
        )
        for button, disabled in ((self.back, self.at == 0), (self.on, self.at == pages - 1)):
            button.props["disabled"] = disabled

    def neighbor(self, by: int) -> str | None:
        """Return the prompt that is `by` places after the selected one."""
        if not len(self.order):
            return None
        place = self._place()
        place = 0 if place is None else min(max(place + by, 0), len(self.order) - 1)
        self.at = place // _ROWS
        return self.watched.prompts.ids[int(self.order[place])]

    def _place(self) -> int | None:
        code = self.watched.scores.code_of.get(self.page.address.get("prompt"))
        if code is None:
            return None
        found = np.flatnonzero(self.order == code)
        return int(found[0]) if len(found) else None

    def find(self) -> tuple[Integers, list[str]]:
        """Return the matching prompts, sorted, and messages about conditions that could not be applied."""
        prompts = self.watched.prompts
        asked = Filter.parse(self.words)
        columns: dict[str, Column] = dict(prompts.numbers)
        if any(condition.name not in columns for condition in asked.conditions):
            columns |= self._examples()
        asked, of_completions = split(asked, columns, columns_of_scores(self.watched.scores))
        rows, complaints = asked.rows(
            prompts.searched if asked.words or _has_unknown_column(asked, columns) else prompts.ids, columns
        )
        if of_completions.conditions:
            with_them, more = prompts_with(self.watched, of_completions)
            rows, complaints = rows[with_them[rows]], [*complaints, *more]
        if self.sort == "text":
            order = sorted(rows.tolist(), key=lambda row: prompts.texts[row])
            rows = np.array(order, dtype=np.int64)
        else:
            values = prompts.numbers.get(self.sort, prompts.numbers["index"])[rows]
            rows = rows[
                np.argsort(np.where(np.isnan(values), np.inf, -values if self.descending else values), kind="stable")
            ]
        return (rows[::-1] if self.sort == "text" and self.descending else rows), complaints

    def _examples(self) -> dict[str, Column]:
        """Return the example columns, as text."""
        if self._columns_read is None or self._columns_read[0] != self.watched.number:
            read = [columns_of(text) for text in self.watched.prompts.columns]
            names = dict.fromkeys(name for row in read for name in row)
            self._columns_read = self.watched.number, {name: [row.get(name, "") for row in read] for name in names}
        return self._columns_read[1]

    async def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        await self.refresh()

    async def _filter(self, condition: str) -> None:
        kept = [word for word in self.words.split() if not any(sign in word for sign in "<>=")]
        words = " ".join([*kept, condition] if condition and condition != "none" else kept)
        await self.page.go(self.page.address.with_state(q=words))

    async def _sort(self, name: str) -> None:
        self.descending = not self.descending if self.sort == name else name in ("length", "epochs", "completions")
        self.sort = str(name)
        self.page.note(self.page.address.with_state(sort=self.sort, down="1" if self.descending else None))
        await self.refresh()
        self.at = 0
        self.show()

    async def _open(self, prompt: str) -> None:
        await self.chosen(str(prompt))

    def _turn(self, by: int) -> None:
        self.at += by
        self.show()


def _has_unknown_column(asked: Filter, columns: dict[str, Column]) -> bool:
    """Return whether a condition does not name a column, so that it is searched as a word."""
    return any(condition.name not in columns for condition in asked.conditions)


def _format(name: str, value: float) -> str | None:
    if np.isnan(value):
        return None
    if name not in ("mean", "best"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.3g}"
