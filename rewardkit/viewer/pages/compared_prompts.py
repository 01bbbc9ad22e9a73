"""The prompts of two runs, sorted by their difference: search, filter, select."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from rewardkit.analysis.paired import Paired
from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.filters import Column, Filter
from rewardkit.viewer.pages.component_scores import format_number
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.reader import columns_of
from rewardkit.viewer.scores import Floats, Integers
from rewardkit.viewer.two_runs import TwoRuns

_ROWS = 40
_OUTCOMES = {"": "All", "won": "Won", "lost": "Lost", "equal": "Equal"}
_NAMES = {1: "won", -1: "lost", 0: "equal"}
_TOOLTIP = (
    "Words search prompts and their columns. Conditions compare left, right, difference, completions (the fewer of "
    "both sides), result or an example column: difference<-0.5, left=0, result=won, level=hard."
)


class ComparedPrompts:
    """The left side of the tab *Compare*."""

    def __init__(self, page: Page, chosen: Callable[[str], Awaitable[None]]) -> None:
        self.page = page
        self.choose = chosen
        self.words = page.address.get("q")
        self.sort = page.address.get("sort", "difference")
        self.rising = page.address.get("rising") == "1"
        self.at = 0
        self.order: Integers = np.empty(0, dtype=np.int64)
        self.two: TwoRuns | None = None

    def build(self) -> None:
        with put.box("card prompts"):
            with put.box("find"):
                put.Field(self.words, self._search, "Search prompts, or difference<0 …", tooltip=_TOOLTIP, main=True)
            self.chips = put.box("chips")
            self.complaint = put.text("", "complaint", "div")
            with put.box("scroll"):
                self.table = put.Table(self._columns(), empty="No prompt matches.")
                self.table.when("sort", self._sort).when("open", self._open)
            with put.box("pager"):
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.count = put.text("")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")

    async def show(self, two: TwoRuns, name: str, found: Paired) -> None:
        """Show the prompts of a comparison."""
        self.two, self.name, self.found = two, name, found
        self.left, self.right = two.means(name)
        self._build_chips()
        await self._find()

    def chosen(self, two: TwoRuns) -> tuple[int, int] | None:
        """Return the numbers of the selected prompt on both sides; by default, of the first one in the list."""
        place = self._selected()
        if place is None:
            return None
        pair = two.seen[place]
        return int(two.pairing.left[pair]), int(two.pairing.right[pair])

    def neighbor(self, by: int) -> str | None:
        """Return the prompt that is `by` places after the selected one."""
        if not len(self.order) or self.two is None:
            return None
        here = np.flatnonzero(self.order == self._selected())
        at = min(max((int(here[0]) if len(here) else -1) + by, 0), len(self.order) - 1)
        self.at = at // _ROWS
        return self._id(int(self.order[at]))

    def fill(self) -> None:
        """Show the rows of the current page."""
        if self.two is None:
            return
        pages = max(1, -(-len(self.order) // _ROWS))
        self.at = min(max(self.at, 0), pages - 1)
        shown = self.order[self.at * _ROWS : (self.at + 1) * _ROWS].tolist()
        selected = self._selected()
        rows = [self._row(one, one == selected) for one in shown]
        self.table.show(rows, sort=self.sort, descending=not self.rising, columns=self._columns())
        start = self.at * _ROWS
        everything = "" if len(self.order) == len(self.left) else f" ({len(self.left):,} in all)"
        self.count.show(f"{start + min(1, len(shown)):,}–{start + len(shown):,} of {len(self.order):,}{everything}")
        self.back.props["disabled"], self.on.props["disabled"] = self.at == 0, self.at == pages - 1

    def find(self) -> tuple[Integers, list[str]]:
        """Return the matching prompts, sorted, as places in `two.seen`, and messages about conditions."""
        two = self.two
        assert two is not None
        asked, only = Filter.parse(self.words), self.page.address.get("only")
        outcomes = self.found.outcomes
        prompts, codes = two.left.prompts, two.pairing.left[two.seen].tolist()
        columns: dict[str, Column] = {
            "left": self.left,
            "right": self.right,
            "difference": self.found.difference,
            "completions": self._completions(two),
            "result": [_NAMES[outcome] for outcome in outcomes.tolist()],
        }
        if any(condition.name not in columns for condition in asked.conditions):
            columns |= _examples([prompts.columns[code] for code in codes], columns)
        texts = [prompts.searched[code] for code in codes] if asked.words or asked.conditions else [""] * len(codes)
        rows, complaints = asked.rows(texts, columns)
        if only in _NAMES.values():
            kept = outcomes[rows] == {name: sign for sign, name in _NAMES.items()}[only]
            rows = rows[kept & ~np.isnan(self.found.difference[rows])]
        if self.sort == "text":
            order = sorted(rows.tolist(), key=lambda place: prompts.texts[codes[place]], reverse=not self.rising)
            return np.array(order, dtype=np.int64), complaints
        values = columns.get(self.sort, self.found.difference)
        numbers = np.asarray(values if isinstance(values, np.ndarray) else self.found.difference)[rows]
        sign = 1.0 if self.rising else -1.0
        return rows[np.argsort(np.where(np.isnan(numbers), np.inf, sign * numbers), kind="stable")], complaints

    def _completions(self, two: TwoRuns) -> Floats:
        pairing = two.pairing
        left, right = two.left.counts[pairing.left[two.seen]], two.right.counts[pairing.right[two.seen]]
        return np.minimum(left, right).astype(np.float64)

    async def _find(self) -> None:
        wanted = self.two, self.name, self.words, self.sort, self.rising
        order, complaints = await asyncio.to_thread(self.find)
        if wanted != (self.two, self.name, self.words, self.sort, self.rising):
            return  # the user has changed the query in the meantime
        self.order = order
        self.complaint.show(" ".join(complaints))
        self.complaint.set_visibility(bool(complaints))
        here = np.flatnonzero(order == self._selected())
        self.at = int(here[0]) // _ROWS if len(here) else 0
        self.fill()

    def _selected(self) -> int | None:
        """Return the selected prompt as a place in `two.seen`; by default, the first one in the list."""
        two = self.two
        code = None if two is None else two.left.scores.code_of.get(self.page.address.get("prompt"))
        found = [] if two is None or code is None else np.flatnonzero(two.pairing.left[two.seen] == code).tolist()
        return int([*found, *self.order[:1]][0]) if found or len(self.order) else None

    def _id(self, place: int) -> str:
        assert self.two is not None
        return self.two.left.prompts.ids[int(self.two.pairing.left[self.two.seen[place]])]

    def _row(self, place: int, selected: bool) -> dict[str, Any]:
        two = self.two
        assert two is not None
        outcome = int(self.found.outcomes[place])
        tone = {1: "good", -1: "bad"}.get(outcome, "soft")
        text = two.left.prompts.texts[int(two.pairing.left[two.seen[place]])]
        cells = {
            "text": one_line(text, 150) or "(empty)",
            "left": _format(self.left[place]),
            "right": _format(self.right[place]),
            "difference": _toned(self.found.difference[place], tone),
        }
        return {"key": self._id(place), "cells": cells, "selected": selected}

    def _columns(self) -> list[dict[str, Any]]:
        numbers = {
            "left": ("Left", "left: the mean of the prompt's completions on the left side"),
            "right": ("Right", "right: the mean of the prompt's completions on the right side"),
            "difference": ("Diff.", "difference: right minus left"),
        }
        return [
            {"name": "text", "label": "Prompt", "kind": "text", "sortable": True},
            *(
                {"name": name, "label": label, "kind": "number", "sortable": True, "title": title}
                for name, (label, title) in numbers.items()
            ),
        ]

    def _build_chips(self) -> None:
        found = self.found
        counts = {"": len(self.left), "won": found.won, "lost": found.lost, "equal": found.equal}
        only = self.page.address.get("only")
        self.chips.clear()
        with self.chips:
            for name, label in _OUTCOMES.items():
                pressed = name == only
                chip = put.button(
                    f"{label} {counts[name]:,}",
                    lambda name=name: self._filter(name),
                    "small on" if pressed else "small",
                )
                chip.props["aria-pressed"] = "true" if pressed else "false"

    async def _filter(self, only: str) -> None:
        self.page.note(self.page.address.with_state(only=only))
        self._build_chips()
        await self._find()

    async def _search(self, words: str) -> None:
        self.words = words
        self.page.note(self.page.address.with_state(q=words))
        await self._find()

    async def _sort(self, name: str) -> None:
        self.rising = not self.rising if self.sort == name else name == "text"
        self.sort = str(name)
        self.page.note(self.page.address.with_state(sort=self.sort, rising="1" if self.rising else None))
        await self._find()
        self.at = 0
        self.fill()

    async def _open(self, prompt: str) -> None:
        await self.choose(str(prompt))

    def _turn(self, by: int) -> None:
        self.at += by
        self.fill()


def _examples(cells: list[str], taken: dict[str, Column]) -> dict[str, Column]:
    read = [columns_of(text) for text in cells]
    names = dict.fromkeys(name for row in read for name in row if name not in taken)
    return {name: [row.get(name, "") for row in read] for name in names}


def _format(value: float) -> str | None:
    return None if np.isnan(value) else format_number(float(value))


def _toned(value: float, tone: str) -> dict[str, str] | None:
    return None if np.isnan(value) else {"text": format_number(float(value), sign=True), "tone": tone}
