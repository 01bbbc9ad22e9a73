"""Tables with searching, sorting, and pages. The address contains the user's choices."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from rewardkit.page import ui
from rewardkit.page.filters import Column
from rewardkit.page.scores import Integers
from rewardkit.page.tabs.layout import Page


def in_order(numbers: Integers, values: Column, *, descending: bool) -> Integers:
    """Return `numbers` (n,) sorted by `values` (n,). Numbers without a value come last."""
    if isinstance(values, np.ndarray):
        keys = -values if descending else values
        return numbers[np.argsort(np.where(np.isnan(keys), np.inf, keys), kind="stable")]
    indices = sorted(range(len(values)), key=values.__getitem__, reverse=descending)
    return numbers[np.array(indices, dtype=np.int64)]


class Pager:
    """Buttons for the previous and next pages, and the current page's position."""

    def __init__(self, turn: Callable[[int], Any], classes: str = "pager") -> None:
        with ui.box(classes) as self.frame:
            self._back = ui.button("‹", lambda: turn(-1), "ghost", "Previous page")
            self._position_label = ui.text("", "soft")
            self._on = ui.button("›", lambda: turn(1), "ghost", "Next page")

    def show(self, first: int, count: int, total: int, suffix: str = "") -> None:
        """Show the position: `count` rows starting at `first`, out of `total`."""
        self._position_label.show(f"{first + min(1, count):,}–{first + count:,} of {total:,}{suffix}")
        self._back.props["disabled"] = first == 0
        self._on.props["disabled"] = first + count >= total


class PagedTable(ABC):
    """A table of search results.

    Attributes:
        size: the number of rows per page.
        names: the address keys for the search words, the sort column, and the reversed direction.
        page_name: the address key for the page; empty if the address does not contain the page.
        order: (n,) the sorted numbers of the matching rows.
        at: the current page, counted from 0.
    """

    size: ClassVar[int]
    names: ClassVar[tuple[str, str, str]]
    page_name: ClassVar[str] = ""

    def __init__(self, page: Page, sort: str = "") -> None:
        self.page = page
        words, order, direction = self.names
        self.words = page.address.get(words)
        self.sort = page.address.get(order, sort)
        self.descending = (page.address.get(direction) == "1") == (direction == "down")
        self.at = int(page.address.number(self.page_name, 1, 1, 1e6)) - 1 if self.page_name else 0
        self.order: Integers = np.empty(0, dtype=np.int64)

    @abstractmethod
    def find(self) -> tuple[Integers, list[str]]:
        """Return the sorted numbers of the matching rows, and messages about the search. Runs in a thread."""

    @abstractmethod
    def rows(self, numbers: list[int]) -> list[dict[str, Any]]:
        """Return the table rows for `numbers`. Runs in a thread."""

    @abstractmethod
    def columns(self) -> Sequence[Mapping[str, Any]]:
        """Return the columns of the table."""

    def selected(self) -> dict[str, str]:
        """Return the rows to highlight; see `ui.Table.select`."""
        return {}

    def place(self) -> int | None:
        """Return the selected row's position in `order`, or None if it is not in `order`."""
        return None

    def falls_first(self, column: str) -> bool:
        """Return whether the first click on a column sorts it with the largest value first."""
        return True

    def remark(self) -> str:
        """Return the text to show after the number of rows."""
        return ""

    def build_table(self, empty: str, classes: str = "") -> None:
        """Create the table and a line for search messages."""
        self.complaint = ui.text("", "complaint", "div")
        with ui.box("scroll"):
            self.table = ui.Table(self.columns(), empty=empty).when("sort", self._sort)
            self.table.classes(classes)

    def build_pager(self, classes: str = "pager") -> None:
        self.pager = Pager(self._turn, classes)

    async def refresh(self, *, follow: bool = True) -> None:
        """Search and sort again; if `follow`, show the page that contains the selected row."""
        query = self._query()
        order, complaints = await asyncio.to_thread(self.find)
        if query != self._query():
            return  # the user has changed the query in the meantime
        self.order = order
        self.complaint.say(*complaints)
        position = self.place() if follow else None
        self.at = self.at if position is None else position // self.size
        await self.show()

    async def show(self) -> None:
        """Show the rows of the current page."""
        self.at = min(max(self.at, 0), max(0, (len(self.order) - 1) // self.size))
        numbers = self._page_numbers()
        rows = await asyncio.to_thread(self.rows, numbers)
        if numbers != self._page_numbers() or self.table.is_deleted:
            return  # the user has turned to another page or left the tab
        self.table.show(
            rows, sort=self.sort, descending=self.descending, columns=self.columns(), selected=self.selected()
        )
        self.pager.show(self.at * self.size, len(rows), len(self.order), self.remark())

    async def follow(self) -> None:
        """Highlight the selected row, and show its page."""
        position = self.place()
        if position is None or position // self.size == self.at:
            self.table.select(self.selected())
        else:
            self.at = position // self.size
            await self.show()

    async def search(self, words: str) -> None:
        """Search for new words."""
        self.words, self.at = words, 0
        self.note(**{self.names[0]: words})
        await self.refresh()

    def note(self, **state: str | None) -> None:
        """Save choices in the address."""
        page = {self.page_name: str(self.at + 1) if self.at else None} if self.page_name else {}
        self.page.note(self.page.address.with_state(**page, **state))

    async def _sort(self, column: str) -> None:
        self.descending = not self.descending if self.sort == column else self.falls_first(column)
        self.sort, self.at = column, 0
        _, order, direction = self.names
        self.note(**{order: column, direction: "1" if self.descending == (direction == "down") else None})
        await self.refresh(follow=False)

    async def _turn(self, by: int) -> None:
        self.at = max(self.at + by, 0)
        if self.page_name:
            self.note()
        await self.show()

    def _query(self) -> tuple[object, ...]:
        """Return a value that changes whenever the user requests other rows."""
        return self.words, self.sort, self.descending

    def _page_numbers(self) -> list[int]:
        numbers: list[int] = self.order[self.at * self.size : (self.at + 1) * self.size].tolist()
        return numbers
