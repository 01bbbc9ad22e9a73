"""The list of prompts of a run: search, sort, filter, select."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from rewardkit.page import elements as put
from rewardkit.page.addresses import format_names, parse_names
from rewardkit.page.escapes import one_line
from rewardkit.page.filters import Column, Filter
from rewardkit.page.label_file import LABELS
from rewardkit.page.labels import Labels
from rewardkit.page.prompts import first_visits, numbers_or_texts, ranges
from rewardkit.page.reader import columns_of
from rewardkit.page.scores import Integers
from rewardkit.page.search import columns_of as columns_of_scores, prompts_with, split
from rewardkit.page.selection import in_steps
from rewardkit.page.tabs.labeling import LabelLine
from rewardkit.page.tabs.layout import Page
from rewardkit.page.watcher import Watched

# The columns of the list of prompts: which ones can be shown, and their cells.


OF_DATA = "column."
"""Begins the name of a column of the data."""
_LOOKED_AT = 200
"""In how many prompts to look for the names of the columns of the data."""
_NUMBERS = {
    "length": ("Len", "length: the number of characters"),
    "tokens": ("Tokens", "tokens: the length of the prompt in tokens, as the trainer tokenizes it"),
    "epochs": ("{Word}", "epochs: the number of {word} in which the prompt was seen"),
    "seen": ("Seen in", "The {word} in which the prompt was seen"),
    "completions": ("N", "completions: the number of completions"),
    "mean": ("Mean", "mean: the mean total of all completions"),
    "best": ("Best", "best: the highest total"),
    "new": ("New", "new: the mean total of the reward that is tried"),
    "flips": ("Flips", "flips: completions whose advantage changes its sign with the reward that is tried"),
    "labels": ("Labels", "The number of labeled completions"),
    "last": ("Last", "last: the last step in which the prompt was seen"),
}
_CHOICES = {
    "length": "Length in characters",
    "tokens": "Length in tokens",
    "epochs": "Number of {word}",
    "seen": "Seen in these {word}",
    "completions": "Number of completions",
    "mean": "Mean total",
    "best": "Best total",
    "last": "Last step",
    "labels": "Labels",
}
_TRIED = {"new": "Mean total of the reward that is tried", "flips": "Sign flips"}


def usual(watched: Watched) -> list[str]:
    """Return the columns that are shown besides number and text, if none are chosen."""
    shown = ["epochs", "completions", "mean"] if watched.trial is None else ["mean", *_TRIED]
    return [*shown, *(["labels"] if watched.labels is not None else [])]


def head(watched: Watched, shown: list[str]) -> list[dict[str, Any]]:
    """Return number, text and the columns in `shown`, for the table."""
    found: list[dict[str, Any]] = [
        {"name": "index", "label": "#", "kind": "number", "title": "In the order in which they were first seen"},
        {"name": "text", "label": "Prompt", "kind": "text"},
    ]
    for name in shown:
        if name.startswith(OF_DATA):
            label, title = one_line(name[len(OF_DATA) :], 24), "A column of the data"
        elif name in _NUMBERS:
            label, title = (_worded(watched, text) for text in _NUMBERS[name])
        else:
            continue
        kind = "value" if name == "seen" or name.startswith(OF_DATA) else "badge" if name == "labels" else "number"
        found.append({"name": name, "label": label, "kind": kind, "title": title})
    return [{**column, "sortable": column["name"] != "labels"} for column in found]


def choices(watched: Watched, shown: list[str]) -> list[tuple[str, str, bool]]:
    """Return the columns that can be shown: name, text, whether it is in `shown`."""
    known = {name: _worded(watched, text) for name, text in _CHOICES.items()}
    if watched.labels is None:
        del known["labels"]
    known |= {} if watched.trial is None else _TRIED
    rows = map(columns_of, watched.prompts.columns[:_LOOKED_AT])
    of_data = [*(f"{OF_DATA}{name}" for row in rows for name in row), *shown]
    known |= {name: one_line(name[len(OF_DATA) :], 40) for name in of_data if name.startswith(OF_DATA)}
    return [(name, text, name in shown) for name, text in known.items()]


def cells(watched: Watched, number: int, shown: list[str]) -> dict[str, Any]:
    """Return the cells of a prompt."""
    prompts, scores = watched.prompts, watched.scores
    found: dict[str, Any] = {name: _format(name, values[number]) for name, values in prompts.numbers.items()}
    found["text"] = one_line(prompts.questions[number], 300) or "(empty)"
    if "seen" in shown:
        seen = ranges(scores.visit[scores.rows_of(prompts.ids[number])])
        found["seen"] = {"text": one_line(seen, 40), "title": one_line(seen, 1_000)}
    if "labels" in shown and watched.labels is not None:
        found["labels"] = _chip(watched.labels, scores.rows_of(prompts.ids[number]).tolist()) or ""
    of_data = [name for name in shown if name.startswith(OF_DATA)]
    row = columns_of(prompts.columns[number]) if of_data else {}
    for name in of_data:
        value = row.get(name[len(OF_DATA) :])
        if value is not None:
            found[name] = {"text": one_line(value, 120), "title": one_line(value, 1_000)}
    return found


def _chip(labels: Labels, rows: list[int]) -> dict[str, str] | None:
    """Return how many completions have a label, in the color of the worst one."""
    found = Counter(labels.by_row[row].label for row in rows if row in labels.by_row)
    if not found:
        return None
    counts = [(name, found[name]) for name in reversed(LABELS) if found[name]]
    return {
        "text": f"{found.total():,}",
        "tone": counts[0][0],
        "title": ", ".join(f"{n:,} {name}" for name, n in counts),
    }


def _worded(watched: Watched, text: str) -> str:
    word = "epochs" if watched.scores.by_epoch else "steps"
    return text.replace("{word}", word).replace("{Word}", word.capitalize())


def _format(name: str, value: float) -> str | None:
    if np.isnan(value):
        return None
    if name not in ("mean", "best", "new"):
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.3g}"


_ROWS = 40
_HINT = "Search, or mean<0.5 …"
_TOOLTIP = (
    "Words search prompts and their columns. Conditions compare index, length, tokens, epochs, completions, mean, "
    "best, last or a column of the data: mean<0.5, completions>=16, level=hard, answer:42. To find prompts by "
    "their completions, use total>0.9, a component such as format<1, or completion:sorry. If completions call "
    "tools, also calls>3, tool:open, errors>0, repeated>0, turns>=5, stop=pending. If a component and a column "
    "have the same name, < and > compare the component, = and : the column; component.answer and column.answer "
    "say which one."
)
_LARGEST_FIRST = ("length", "tokens", "epochs", "completions")
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
        self.columns = parse_names(page.address.get("columns")) or usual(watched)
        self.at = 0
        self.order: Integers = np.empty(0, dtype=np.int64)
        self._columns_read: tuple[int, dict[str, list[str]]] | None = None

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
                self.menu = put.Checks(
                    choices(self.watched, self.columns), self._choose_column, "Columns", "Columns of this table"
                )
            self.complaint = put.text("", "complaint", "div")
            with put.box("scroll"):
                self.table = put.Table(head(self.watched, self.columns), empty=_EMPTY)
                self.table.when("sort", self._sort).when("open", self._open)
            with put.box("pager"):
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.count = put.text("")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")
            self.labels = LabelLine(self.watched, self._query)
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
        rows = [
            {
                "key": prompts.ids[number],
                "cells": cells(self.watched, number, self.columns),
                "selected": prompts.ids[number] == chosen,
            }
            for number in shown
        ]
        self.table.show(rows, sort=self.sort, descending=self.descending, columns=head(self.watched, self.columns))
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
        prompts, scores = self.watched.prompts, self.watched.scores
        asked = Filter.parse(self.words)
        examples = self._examples() if asked.conditions else {}
        parts = split(asked, prompts.numbers, examples, scores, self.watched.labels)
        used = [condition.name for condition in parts.prompts.conditions]
        columns: dict[str, Column] = dict(prompts.numbers)
        columns |= {name: examples[name[len(OF_DATA) :]] for name in used if name.startswith(OF_DATA)}
        searched = prompts.searched if asked.words or not set(used) <= columns.keys() else prompts.ids
        rows, complaints = parts.prompts.rows(
            searched, columns, [*examples, *columns_of_scores(scores, self.watched.labels)]
        )
        if parts.completions.conditions:
            with_them, more = prompts_with(self.watched, parts.completions)
            rows, complaints = rows[with_them[rows]], [*complaints, *more]
        return self._sorted(in_steps(rows, scores, self.page.address)), [*parts.notes, *complaints]

    def _sorted(self, rows: Integers) -> Integers:
        values = self._sorted_by()
        if not isinstance(values, np.ndarray):
            order = np.array(sorted(rows.tolist(), key=values.__getitem__), dtype=np.int64)
            return order[::-1] if self.descending else order
        chosen = values[rows]
        return rows[
            np.argsort(np.where(np.isnan(chosen), np.inf, -chosen if self.descending else chosen), kind="stable")
        ]

    def _sorted_by(self) -> Column:
        prompts = self.watched.prompts
        if self.sort == "text":
            return prompts.texts
        if self.sort == "seen":
            return first_visits(self.watched.scores)
        if self.sort.startswith(OF_DATA):
            values = self._examples().get(self.sort[len(OF_DATA) :])
            return numbers_or_texts(values) if values is not None else prompts.numbers["index"]
        return prompts.numbers.get(self.sort, prompts.numbers["index"])

    def _examples(self) -> dict[str, list[str]]:
        """Return the columns of the data, as text."""
        if self._columns_read is None or self._columns_read[0] != self.watched.number:
            read = [columns_of(text) for text in self.watched.prompts.columns]
            names = dict.fromkeys(name for row in read for name in row)
            self._columns_read = self.watched.number, {name: [row.get(name, "") for row in read] for name in names}
        return self._columns_read[1]

    async def _choose_column(self, name: str, on: bool) -> None:
        chosen = {*self.columns, name} if on else {*self.columns} - {name}
        self.columns = [one for one, _, _ in choices(self.watched, [*chosen]) if one in chosen]
        written = format_names(self.columns) or "none"
        self.page.note(self.page.address.with_state(columns=None if self.columns == usual(self.watched) else written))
        self.menu.show(choices(self.watched, self.columns))
        self.show()

    async def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        await self.refresh()

    async def _query(self, words: str) -> None:
        await self.page.go(self.page.address.with_state(q=words))

    async def _filter(self, condition: str) -> None:
        kept = [word for word in self.words.split() if not any(sign in word for sign in "<>=")]
        words = " ".join([*kept, condition] if condition and condition != "none" else kept)
        await self._query(words)

    async def _sort(self, name: str) -> None:
        self.descending = not self.descending if self.sort == name else name in _LARGEST_FIRST
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
