"""The page's building blocks: a frame, a table, a text in pieces, a graph, and plain HTML elements.

Everything is sent to the browser as text; no block accepts HTML. This module and `tabs` use only NiceGUI's public API:
`ui`, `props`, `classes`, `on`, `run_method`, and `background_tasks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from nicegui.ui import (
    dialog as dialog,
    download as download,
    echart,
    element as element,
    notify as notify,
    query as query,
    timer as timer,
)

from rewardkit.page.escapes import escape
from rewardkit.page.rendering import Node

Handler = Callable[..., Any]
Row = Mapping[str, Any]
Made = TypeVar("Made", bound=element)

# NiceGUI bundles ECharts, and importing `echart` makes it serve that copy to the page as the module
# "nicegui-echart", which browser/rewardkit_chart.js imports. NiceGUI does not document the module's name, but the
# alternative is to ship a second copy of ECharts.
_SERVES_ECHARTS = echart


# The files in browser/ have a prefix because older versions of NiceGUI reject the file names of its own components.


class Shell(element, component="browser/rewardkit_shell.js"):
    """Keyboard shortcuts, browser history, links inside the page, and dark mode."""


class Label(element):
    """A plain HTML element that contains only text."""

    def __init__(self, content: str, tag: str = "span") -> None:
        super().__init__(tag)
        self.show(content)

    def show(self, content: str) -> None:
        """Replace the text."""
        # `element` has no text. The browser displays `textContent` as is and never parses it as HTML.
        self.props["textContent"] = escape(content)

    def say(self, *sentences: str) -> None:
        """Replace the text; if there is no text, hide the element."""
        self.show(" ".join(sentences))
        self.set_visibility(bool(sentences))


class Text(element, component="browser/rewardkit_text.js"):
    """A text in pieces. The changed pieces are highlighted in the color of `tone`."""

    def __init__(self, pieces: Sequence[tuple[str, bool]], tone: str = "", together: str = "") -> None:
        super().__init__()
        self.props.update({"pieces": [list(piece) for piece in pieces], "tone": tone, "together": together})


class Rendered(element, component="browser/rewardkit_rendered.js", esm={"rewardkit-nodes": "browser/nodes"}):
    """A rendered text with Markdown and mathematics. `nodes` is the result of `rendering.rendered`."""

    def __init__(self, nodes: Sequence[Node], together: str = "") -> None:
        super().__init__()
        self.props.update({"nodes": nodes, "together": together})


class Advantage(element, component="browser/rewardkit_advantage.js"):
    """The steps to an advantage, from `advantage.Explained.props`.

    A click on a dot calls `compare` with the dot's key.
    """

    def __init__(self, explanation: Row, other: str, compare: Handler) -> None:
        super().__init__()
        self.props.update({"shown": explanation, "other": other})
        self.on("compare", lambda arguments: compare(str(arguments.args)))


class Alarm(element, component="browser/rewardkit_alarm.js"):
    """A line that shows a run's strongest alert and links to `url`. It is hidden until `show` is called."""

    def __init__(self, run: str, url: str) -> None:
        super().__init__()
        self.props.update({"alert": "", "run": escape(run), "url": url})

    def show(self, alert: str) -> None:
        """Show the line with an alert's title; if the title is empty, hide the line."""
        self.props["alert"] = escape(alert)


class Command(element, component="browser/rewardkit_command.js"):
    """A terminal command with a copy button."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self.props["command"] = escape(command)


class Phrase(element, component="browser/rewardkit_phrase.js"):
    """A note about a highlighted phrase in the page's texts, with a button that calls `ended`."""

    def __init__(self, phrase: str, ended: Handler) -> None:
        super().__init__()
        self.props["phrase"] = escape(phrase)
        self.on("ended", lambda _: ended(), args=[])


class Transcripts(element, component="browser/rewardkit_transcript.js"):
    """Two conversations side by side, aligned by turn. Each is the result of `transcript.as_props`."""

    def __init__(self, left: Row, right: Row) -> None:
        super().__init__()
        self.props["sides"] = [dict(left), dict(right)]


class Changes(element, component="browser/rewardkit_changes.js"):
    """A diff of two file versions. A line has a sign, two line numbers, pieces, and a count of omitted lines."""

    def __init__(self, lines: Sequence[Sequence[Any]], label: str) -> None:
        super().__init__()
        self.props.update({"lines": list(lines), "label": label})


def column(name: str, label: str, kind: str = "number", **options: Any) -> dict[str, Any]:
    """Return a table column.

    Args:
        kind: the cells' kind: number, text, value, soft, name, badge, bar, spark, link, buttons, or check.
        options: sortable, title, color, width, and swatch (whether to show the color in the heading).
    """
    return {"name": name, "label": label, "kind": kind, **options}


class Table(element, component="browser/rewardkit_table.js"):
    """A table. The server sorts the rows and selects the current page, and the browser moves the highlight."""

    def __init__(self, columns: Sequence[Row], rows: Sequence[Row] = (), *, empty: str = "") -> None:
        super().__init__()
        self.props.update({"columns": list(columns), "rows": list(rows), "empty": empty, "selected": {}})

    def show(
        self,
        rows: Sequence[Row],
        *,
        sort: str = "",
        descending: bool = False,
        columns: Sequence[Row] | None = None,
        empty: str | None = None,
        selected: Mapping[str, str] | None = None,
    ) -> None:
        """Replace the rows and, if given, the columns, the text for an empty table, and the highlight."""
        options = {"columns": columns, "empty": empty, "selected": selected}
        replacements = {name: value for name, value in options.items() if value is not None}
        self.props.update({"rows": list(rows), "sort": sort, "descending": descending, **replacements})

    def select(self, selected: Mapping[str, str]) -> None:
        """Move the highlight in the browser without building or sending the rows again.

        Args:
            selected: button name -> the key of the row to highlight. Any name works if rows do not have buttons.
        """
        with self.props.suspend_updates():
            self.props["selected"] = dict(selected)
        self.run_method("select", dict(selected))

    def when(self, event: str, handler: Handler) -> Table:
        """Call `handler` with the column for `sort`, the key for `open`, or the key and name for `press` or `check`."""
        if event == "open":
            self.props["selectable"] = True
        is_text = event in ("sort", "open")
        self.on(event, lambda arguments: handler(str(arguments.args) if is_text else arguments.args))
        return self


class Chart(element, component="browser/rewardkit_chart.js"):
    """A graph over training steps."""

    def __init__(self, spec: Row) -> None:
        super().__init__()
        self.show(spec)

    def show(self, spec: Row) -> None:
        """Draw another spec."""
        self.props["spec"] = spec


class Field(element, component="browser/rewardkit_field.js"):
    """A text input.

    Calls `typed` with the text shortly after the last keystroke or, if `late`, when it loses the focus.
    """

    def __init__(
        self, value: str, typed: Handler, hint: str, *, tooltip: str = "", main: bool = False, late: bool = False
    ) -> None:
        super().__init__()
        self.props.update({"value": value, "hint": hint, "help": tooltip, "main": main, "late": late})
        # Arbitrary limit: the text is parsed at each keystroke.
        self.on("typed", lambda arguments: typed(str(arguments.args)[:2_000]))


class Choice(element, component="browser/rewardkit_choice.js"):
    """A drop-down menu. `options` maps each value to its text. `chosen` is called with the selected value."""

    def __init__(self, value: str, options: Mapping[str, str], chosen: Handler, label: str) -> None:
        super().__init__()
        listed = [[key, escape(caption)] for key, caption in options.items()]
        self.props.update({"value": value, "options": listed, "label": label})
        self.on("chosen", lambda arguments: chosen(str(arguments.args)))


class Checks(element, component="browser/rewardkit_checks.js"):
    """A menu of check boxes (name, text, whether checked). A change calls `checked` with the name and the new state."""

    def __init__(self, options: Sequence[tuple[str, str, bool]], checked: Handler, label: str, tooltip: str) -> None:
        super().__init__()
        self.props.update({"label": label, "help": tooltip})
        self.show(options)
        self.on("checked", lambda event: checked(str(event.args["name"]), bool(event.args["on"])))

    def show(self, options: Sequence[tuple[str, str, bool]]) -> None:
        """Replace the options."""
        self.props["options"] = [[name, escape(text), checked] for name, text, checked in options]


class Slider(element, component="browser/rewardkit_slider.js"):
    """A slider from 0 to `high`. Calls `moved` at most every 80 ms while it moves."""

    def __init__(self, value: int, high: int, moved: Handler, label: str) -> None:
        super().__init__()
        self.props.update({"value": value, "high": high, "label": label})
        # A dozen messages a second: a slider sends hundreds, but about ten are enough for a smooth page.
        self.on("moved", lambda arguments: moved(int(arguments.args)), throttle=0.08)


def box(classes: str = "", tag: str = "div", title: str = "") -> element:
    """Return an element that can contain other elements."""
    return _titled(element(tag), classes, title)


def text(content: str, classes: str = "", tag: str = "span", title: str = "") -> Label:
    """Return an element that contains only text. `title` is its tooltip."""
    return _titled(Label(content, tag), classes, title)


def button(content: str, pressed: Handler, classes: str = "", title: str = "") -> Label:
    """Return a button that calls `pressed` without arguments."""
    label = text(content, f"plain {classes}", "button", title)
    label.props["type"] = "button"
    if title:
        label.props["aria-label"] = title
    label.on("click", lambda _: pressed(), args=[])
    return label


def toggle(content: str, pressed: bool, clicked: Handler, classes: str = "", title: str = "") -> Label:
    """Return a small button that is shown as pressed or not pressed."""
    label = button(content, clicked, f"small {classes}{' on' if pressed else ''}", title)
    label.props["aria-pressed"] = "true" if pressed else "false"
    return label


def choices(value: str, options: Mapping[str, str], chosen: Handler, label: str) -> element:
    """Return a group of buttons, one of which is pressed. A click on another button calls `chosen` with its value."""
    with box("choices") as frame:
        frame.props.update({"role": "group", "aria-label": label})
        for key, caption in options.items():
            toggle(caption, key == value, lambda key=key: chosen(key))
    return frame


def details(summary: str, classes: str = "", toggled: Callable[[bool], None] | None = None) -> element:
    """Return a collapsible element with a summary line. `toggled` is called with whether the element is open."""
    with box(classes, "details") as frame:
        text(summary, tag="summary")
    if toggled is not None:
        frame.on("toggle", lambda event: toggled(bool(event.args)), js_handler="(event) => emit(event.target.open)")
    return frame


def swatch(color: str, classes: str = "", style: str = "") -> None:
    """Show a color sample before an item's name."""
    box(f"swatch {classes}".rstrip(), "i").style(f"background: {color}{style}")


def track(low: float, high: float, color: str, title: str = "") -> None:
    """Show a bar from `low` to `high`, on a scale of 0 to 1."""
    with box("track", "span", title):
        if high > low:
            box("fill", "span").style(f"left: {100 * low:.1f}%; width: {100 * (high - low):.1f}%; background: {color}")


def facts(values: Mapping[str, str], tag: str = "i") -> None:
    """Show names with their values."""
    for name, value in values.items():
        with box(tag="span"):
            text(f"{name} ")
            text(value, tag=tag)


def link(content: str, url: str, classes: str = "", title: str = "") -> Label:
    """Return a link to another view. Following the link does not reload the page."""
    label = text(content, classes, "a", title)
    label.props.update({"href": url, "data-inside": ""})
    return label


def _titled(element: Made, classes: str, title: str) -> Made:
    if title:
        element.props["title"] = escape(title)
    element.classes(classes)
    return element
