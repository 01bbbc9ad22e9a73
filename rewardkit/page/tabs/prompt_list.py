"""A run's prompt list, which can be searched, sorted, and filtered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from rewardkit.page import ui
from rewardkit.page.addresses import format_names, parse_names
from rewardkit.page.escapes import one_line
from rewardkit.page.filters import Column, Filter
from rewardkit.page.label_file import LABELS
from rewardkit.page.labels import Labels
from rewardkit.page.prompts import example_columns, first_visits, numbers_or_texts, ranges
from rewardkit.page.scores import Integers
from rewardkit.page.search import columns_of as columns_of_scores, prompts_with, split
from rewardkit.page.selection import in_steps
from rewardkit.page.tabs.labeling import LabelLine
from rewardkit.page.tabs.layout import Page
from rewardkit.page.tabs.tables import PagedTable, in_order
from rewardkit.page.watcher import Watched

# The columns of the list of prompts, and their cells.


OF_DATA = "column."
"""The prefix for data column names."""
_LOOKED_AT = 200
"""The number of prompts to search for data column names. The number is arbitrary: the prompts in a dataset usually have
the same columns."""
_NUMBERS = {
    "length": ("Len", "length: the number of characters"),
    "tokens": ("Tokens", "tokens: the length of the prompt in tokens, as the trainer tokenizes it"),
    "epochs": ("{Word}", "epochs: the number of {word} in which the prompt was seen"),
    "seen": ("Seen in", "The {word} in which the prompt was seen"),
    "completions": ("N", "completions: the number of completions"),
    "mean": ("Mean", "mean: the mean total of all completions"),
    "best": ("Best", "best: the highest total"),
    "new": ("New", "new: the mean total of the reward on trial"),
    "flips": ("Flips", "flips: completions whose advantage changes its sign with the reward on trial"),
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
_TRIED = {"new": "Mean total of the reward on trial", "flips": "Sign flips"}


def usual(watched: Watched) -> list[str]:
    """Return the default columns, which are shown next to the number and the text."""
    shown_columns = ["epochs", "completions", "mean"] if watched.trial is None else ["mean", *_TRIED]
    return [*shown_columns, *(["labels"] if watched.labels is not None else [])]


def head(watched: Watched, shown_columns: list[str]) -> list[dict[str, Any]]:
    """Return the table's columns: the number, the text, and the columns in `shown_columns`."""
    columns = [
        ui.column("index", "#", title="In the order in which they were first seen"),
        ui.column("text", "Prompt", "text"),
    ]
    for name in shown_columns:
        if name.startswith(OF_DATA):
            label, title = one_line(name[len(OF_DATA) :], 24), "A column of the data"
        elif name in _NUMBERS:
            label, title = (_worded(watched, text) for text in _NUMBERS[name])
        else:
            continue
        kind = "value" if name == "seen" or name.startswith(OF_DATA) else "badge" if name == "labels" else "number"
        columns.append(ui.column(name, label, kind, title=title))
    return [{**column, "sortable": column["name"] != "labels"} for column in columns]


def choices(watched: Watched, shown_columns: list[str]) -> list[tuple[str, str, bool]]:
    """Return the available columns: name, text, and whether the column is in `shown_columns`."""
    titles = {name: _worded(watched, text) for name, text in _CHOICES.items()}
    if watched.labels is None:
        del titles["labels"]
    titles |= {} if watched.trial is None else _TRIED
    rows = map(example_columns, watched.prompts.columns[:_LOOKED_AT])
    of_data = [*(f"{OF_DATA}{name}" for row in rows for name in row), *shown_columns]
    titles |= {name: one_line(name[len(OF_DATA) :], 40) for name in of_data if name.startswith(OF_DATA)}
    return [(name, text, name in shown_columns) for name, text in titles.items()]


def cells(watched: Watched, number: int, shown_columns: list[str]) -> dict[str, Any]:
    """Return a prompt's table cells."""
    prompts, scores = watched.prompts, watched.scores
    cells_by_name: dict[str, Any] = {name: _format(name, values[number]) for name, values in prompts.numbers.items()}
    cells_by_name["text"] = one_line(prompts.questions[number], 300) or "(empty)"
    if "seen" in shown_columns:
        visits = ranges(scores.visit[scores.rows_of(prompts.ids[number])])
        cells_by_name["seen"] = {"text": one_line(visits, 40), "title": one_line(visits, 1_000)}
    if "labels" in shown_columns and watched.labels is not None:
        cells_by_name["labels"] = _chip(watched.labels, scores.rows_of(prompts.ids[number]).tolist()) or ""
    of_data = [name for name in shown_columns if name.startswith(OF_DATA)]
    row = example_columns(prompts.columns[number]) if of_data else {}
    for name in of_data:
        value = row.get(name[len(OF_DATA) :])
        if value is not None:
            cells_by_name[name] = {"text": one_line(value, 120), "title": one_line(value, 1_000)}
    return cells_by_name


def _chip(labels: Labels, rows: list[int]) -> dict[str, str] | None:
    """Return a badge with the number of labeled completions in the worst label's color; None if there are no labels."""
    label_counts = Counter(labels.by_row[row].label for row in rows if row in labels.by_row)
    if not label_counts:
        return None
    counts = [(name, label_counts[name]) for name in reversed(LABELS) if label_counts[name]]
    return {
        "text": f"{label_counts.total():,}",
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
    # Larger numbers would not fit into the cell.
    return f"{value:.2f}" if abs(value) < 1e6 else f"{value:.3g}"


_HINT = "Search, or mean<0.5 …"
_TOOLTIP = (
    "Words search prompts and their columns. Conditions compare index, length, tokens, epochs, completions, mean, "
    "best, last, or a data column: mean<0.5, completions>=16, level=hard, answer:42. To find prompts by their "
    "completions, use total>0.9, a component such as format<1, or completion:sorry. If completions call tools, you "
    "can also use calls>3, tool:open, errors>0, repeated>0, turns>=5, stop=pending. If a component and a column have "
    "the same name, < and > compare the component, and = and : compare the column. You can also write "
    "component.answer and column.answer."
)
_FILTERS = {
    "": "Filter …",
    "mean<0.5": "mean below 0.5",
    "best<1": "best below 1",
    "epochs>1": "seen more than once",
    "epochs=1": "seen once",
    "none": "no filter",
}
_EMPTY = (
    "No prompt matches. Words search prompts, completion:word finds prompts by the text of their completions, and "
    "total>0.9 (or a component) by the scores of their completions."
)


class PromptList(PagedTable):
    """The left side of the *Completions* tab."""

    size = 40
    names = ("q", "sort", "down")

    def __init__(self, page: Page, watched: Watched, choose: Callable[[str], Awaitable[None]]) -> None:
        super().__init__(page, "index")
        self.watched = watched
        self.choose = choose
        self.shown = parse_names(page.address.get("columns")) or usual(watched)

    async def build(self) -> None:
        with ui.box("card prompts"):
            with ui.box("find"):
                ui.Field(self.words, self.search, _HINT, tooltip=_TOOLTIP, main=True)
                ui.Choice("", _FILTERS, self._filter, "Filter prompts")
                self.menu = ui.Checks(
                    choices(self.watched, self.shown), self._choose_column, "Columns", "Columns of this table"
                )
            self.build_table(_EMPTY)
            self.table.when("open", self.choose)
            self.build_pager()
            self.labels = LabelLine(self.watched, self._find_other)
        await self.refresh()

    def columns(self) -> list[dict[str, Any]]:
        return head(self.watched, self.shown)

    def rows(self, numbers: list[int]) -> list[dict[str, Any]]:
        ids = self.watched.prompts.ids
        return [{"key": ids[number], "cells": cells(self.watched, number, self.shown)} for number in numbers]

    def selected(self) -> dict[str, str]:
        return {"prompt": self.page.address.get("prompt")}

    def remark(self) -> str:
        everything = len(self.watched.prompts.ids)
        return f" ({everything:,} in all)" if len(self.order) != everything else ""

    def place(self) -> int | None:
        code = self.watched.scores.code_of.get(self.page.address.get("prompt"), -1)
        return next(iter(np.flatnonzero(self.order == code).tolist()), None)

    def falls_first(self, column: str) -> bool:
        return column in ("length", "tokens", "epochs", "completions")

    def neighbor(self, by: int) -> str | None:
        """Return the id of the prompt `by` positions after the selected one."""
        if not len(self.order):
            return None
        position = self.place()
        position = 0 if position is None else min(max(position + by, 0), len(self.order) - 1)
        return self.watched.prompts.ids[int(self.order[position])]

    def find(self) -> tuple[Integers, list[str]]:
        prompts, scores, labels = self.watched.prompts, self.watched.scores, self.watched.labels
        query = Filter.parse(self.words)
        examples = prompts.examples if query.conditions else {}
        parts = split(query, prompts.numbers, examples, scores, labels)
        used = [condition.name for condition in parts.prompts.conditions]
        columns: dict[str, Column] = dict(prompts.numbers)
        columns |= {name: examples[name[len(OF_DATA) :]] for name in used if name.startswith(OF_DATA)}
        searched = prompts.searched if query.words or not set(used) <= columns.keys() else prompts.ids
        rows, complaints = parts.prompts.rows(searched, columns, [*examples, *columns_of_scores(scores, labels)])
        if parts.completions.conditions:
            has_match, more = prompts_with(self.watched, parts.completions)
            rows, complaints = rows[has_match[rows]], [*complaints, *more]
        rows, values = in_steps(rows, scores, self.page.address), self._sorted_by()
        of_rows = values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]
        return in_order(rows, of_rows, descending=self.descending), [*parts.notes, *complaints]

    def _sorted_by(self) -> Column:
        prompts = self.watched.prompts
        if self.sort == "text":
            return prompts.texts
        if self.sort == "seen":
            return first_visits(self.watched.scores)
        if self.sort.startswith(OF_DATA) and (values := prompts.examples.get(self.sort[len(OF_DATA) :])) is not None:
            return numbers_or_texts(values)
        return prompts.numbers.get(self.sort, prompts.numbers["index"])

    async def _choose_column(self, name: str, on: bool) -> None:
        chosen = {*self.shown, name} if on else {*self.shown} - {name}
        self.shown = [option for option, _, _ in choices(self.watched, [*chosen]) if option in chosen]
        column_names = format_names(self.shown) or "none"
        self.note(columns=None if self.shown == usual(self.watched) else column_names)
        self.menu.show(choices(self.watched, self.shown))
        await self.show()

    async def _find_other(self, words: str) -> None:
        await self.page.go(self.page.address.with_state(q=words))

    async def _filter(self, condition: str) -> None:
        other_words = [word for word in self.words.split() if not any(sign in word for sign in "<>=")]
        await self._find_other(
            " ".join([*other_words, condition] if condition and condition != "none" else other_words)
        )
