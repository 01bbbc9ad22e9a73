"""The parts of the page that are ours: a frame, a table, a text in pieces, a graph; and plain HTML elements.

What reaches the browser reaches it as text: none of them takes HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nicegui
from nicegui import ui
from nicegui.element import Element

from rewardkit.viewer.harmless import harmless

_ECHARTS = Path(nicegui.__file__).parent / "elements" / "echart" / "dist"

Handler = Callable[..., Any]
Row = Mapping[str, Any]


class Shell(Element, component="browser/shell.js"):
    """Keys, history, links inside the page, dark mode."""


class Text(Element, component="browser/text.js"):
    """A text; changed pieces have the color of `tone`."""

    def __init__(self, pieces: Sequence[tuple[str, bool]], tone: str = "") -> None:
        super().__init__()
        self._props["pieces"] = [list(piece) for piece in pieces]
        self._props["tone"] = tone


class Table(Element, component="browser/table.js"):
    """A table; sorting and turning pages is the server's."""

    def __init__(self, columns: Sequence[Row], rows: Sequence[Row] = (), *, empty: str = "") -> None:
        super().__init__()
        self._props["columns"] = list(columns)
        self._props["rows"] = list(rows)
        self._props["empty"] = empty

    def show(self, rows: Sequence[Row], *, sort: str = "", descending: bool = False, columns: Any = None) -> None:
        """Puts other rows in."""
        self._props["rows"] = list(rows)
        self._props["sort"] = sort
        self._props["descending"] = descending
        if columns is not None:
            self._props["columns"] = list(columns)
        self.update()

    def when(self, event: str, handler: Handler) -> Table:
        """Calls `handler` with what an event carries: sort, open, press, check."""
        if event == "open":
            self._props["selectable"] = True
        self.on(event, lambda arguments: handler(arguments.args))
        return self


class Chart(Element, component="browser/chart.js", esm={"nicegui-echart": str(_ECHARTS)}):
    """A graph over steps."""

    def __init__(self, spec: Row) -> None:
        super().__init__()
        self._props["spec"] = spec

    def show(self, spec: Row) -> None:
        self._props["spec"] = spec
        self.update()


def box(classes: str = "", tag: str = "div") -> Element:
    """An element to put others into."""
    return ui.element(tag).classes(classes)


def text(content: str, classes: str = "", tag: str = "span") -> Element:
    """An element with a text."""
    element = ui.element(tag).classes(classes)
    element._text = harmless(content)
    return element


def button(content: str, pressed: Handler, classes: str = "", title: str = "") -> Element:
    """A button; `pressed` is called without arguments."""
    element = text(content, f"plain {classes}", "button")
    element._props["type"] = "button"
    if title:
        element._props["title"] = title
        element._props["aria-label"] = title
    return element.on("click", lambda _: pressed(), args=[])


def link(content: str, url: str, classes: str = "", title: str = "") -> Element:
    """A link inside the page: it is followed without loading anew."""
    element = text(content, classes, "a")
    element._props["href"] = url
    element._props["data-inside"] = ""
    if title:
        element._props["title"] = harmless(title)
    return element


class Field(Element, component="browser/field.js"):
    """A line to type into; `typed` is called with the text shortly after the last key."""

    def __init__(self, value: str, typed: Handler, hint: str, *, explained: str = "", main: bool = False) -> None:
        super().__init__()
        self._props.update({"value": value, "hint": hint, "help": explained, "main": main})
        self.on("typed", lambda arguments: typed(str(arguments.args)[:2_000]))


class Choice(Element, component="browser/choice.js"):
    """A menu: value -> what it reads."""

    def __init__(self, value: str, options: Mapping[str, str], chosen: Handler, label: str) -> None:
        super().__init__()
        listed = [[key, harmless(said)] for key, said in options.items()]
        self._props.update({"value": value, "options": listed, "label": label})
        self.on("chosen", lambda arguments: chosen(str(arguments.args)))


class Slider(Element, component="browser/slider.js"):
    """A slider from 0 to `high`; `moved` is called while it moves, at most every 80 ms."""

    def __init__(self, value: int, high: int, moved: Handler, label: str) -> None:
        super().__init__()
        self._props.update({"value": value, "high": high, "label": label})
        self.on("moved", lambda arguments: moved(int(arguments.args)), throttle=0.08)
