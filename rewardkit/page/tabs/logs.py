"""The *Reward logs* tab: call statistics by component, notes by kind, and the rewards' output and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.page import ui
from rewardkit.page.addresses import Address
from rewardkit.page.curves import ByStep
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.scores import OUTCOMES, Floats, Integers, epoch_of, key_text
from rewardkit.page.selection import component as component_of, parse_steps, spoken
from rewardkit.page.tabs.layout import Page, Tab
from rewardkit.page.tabs.tables import PagedTable
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import (
    Latency,
    LogQuery,
    Noted,
    NoteKind,
    latencies,
    log_page,
    log_rates,
    log_size,
    note_kinds,
    noted,
)

# The calls of each component: errors, failures, slow calls, and durations.


COLUMNS = [
    ui.column("component", "Component", "soft"),
    ui.column("calls", "Completions", title="Completions that the component was asked to score"),
    ui.column(
        "errors",
        "Errors",
        "bar",
        color="var(--bad)",
        title="Completions for which its code raised an exception or returned an invalid score, and their share",
    ),
    ui.column(
        "failures",
        "Failures",
        "bar",
        color="var(--warn)",
        title="Completions whose score could not be computed, for example because a judge was unavailable or a "
        "worker was killed, and their share",
    ),
    ui.column(
        "slow",
        "Slow",
        "bar",
        color="var(--warn)",
        title="Calls that took more than 0.1 s and five times as long as most calls: the slowest five in each batch",
    ),
    ui.column("median", "Median", title="Half of the calls to its function took less time"),
    ui.column("most", "p95", title="95% of the calls to its function took less time"),
    ui.column("slowest", "Slowest", title="The slowest call to its function"),
    ui.column("seconds", "Per batch", title="The mean time of a batch"),
    ui.column("lines", "Lines", title="The number of lines printed and logged"),
]


def rates(watched: Watched) -> list[dict[str, Any]]:
    """Return the rows for the call table, one per component."""
    lines = watched.cached("log rates", lambda: log_rates(watched.run))
    latencies_by_name = watched.cached("latencies", lambda: latencies(watched.run))
    rows = []
    for name in watched.components:
        codes = watched.scores.outcomes.get(name)
        if codes is not None:
            counts = np.bincount(codes, minlength=len(OUTCOMES) + 1)
            cells = _cells(watched, name, counts, lines.get(name, {}), latencies_by_name.get(name))
            rows.append({"key": name, "cells": cells})
    return rows


def count_asked(counts: Any) -> int:
    """Return the number of completions that a component had to score, from its counts by outcome."""
    return int(counts[: len(OUTCOMES)].sum() - counts[OUTCOMES.index("skipped")])


def _cells(
    watched: Watched, name: str, counts: Any, lines: Mapping[str, float], latency: Latency | None
) -> dict[str, Any]:
    calls = count_asked(counts)
    slowest = lines.get("slowest") if latency is None else latency.slowest
    batch = watched.metrics.training.get(f"seconds/{name}")
    return {
        "component": one_line(name, 50),
        "calls": f"{calls:,}",
        "errors": _rate(int(counts[OUTCOMES.index("errored")]), calls),
        "failures": _rate(int(counts[OUTCOMES.index("failed")]), calls),
        "slow": _rate(int(lines.get("slow", 0)), calls),
        "median": None if latency is None else spoken_seconds(latency.median),
        "most": None if latency is None else spoken_seconds(latency.most),
        "slowest": spoken_seconds(slowest) if slowest else None,
        "seconds": None if batch is None else spoken_seconds(float(np.mean(batch[1]))),
        "lines": f"{lines.get('lines', 0):,.0f}",
    }


def _rate(count: int, calls: int) -> dict[str, Any] | None:
    if not calls:
        return None
    share = count / calls
    text = f"{count:,} · {percent(share)}" if count else "0"
    return {"text": text, "share": (0.0, min(share, 1.0)), "tone": "" if count else "soft"}


def percent(share: float) -> str:
    """Format a share so that only 0 is shown as zero: ``0.00004`` is ``"<0.01%"``."""
    # "0.00%" would mean none; above 10%, decimals are noise.
    return "<0.01%" if 0 < share < 0.0001 else f"{100 * share:.2f}%" if share < 0.1 else f"{100 * share:.0f}%"


def spoken_seconds(seconds: float) -> str:
    """Format a duration with its unit: ``"45 µs"``, ``"1.2 ms"``, ``"3.4 s"``."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1.0 or unit == "µs":
            # Two digits are enough to compare durations.
            return f"{seconds * scale:.2g} {unit}" if seconds * scale < 10 else f"{seconds * scale:,.0f} {unit}"
    raise AssertionError


# The notes of rewards, counted by kind.


def share_over_time(kind: NoteKind, steps: Floats, completions_per_step: Floats, bins: int) -> list[Any]:
    """Return a sparkline's points (0 to 1): the share of completions that have the note, in up to `bins` bins.

    Args:
        steps: (s,) all training steps, in order.
        completions_per_step: (s,) the number of completions that the component had to score in each step.
    """
    counts = np.zeros(len(steps))
    indices = np.searchsorted(steps, kind.steps)
    inside = indices < len(steps)
    counts[indices[inside]] = kind.counts[inside]
    starts = np.unique(np.linspace(0, len(steps), min(bins, len(steps)), endpoint=False).astype(np.int64))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.nan_to_num(np.add.reduceat(counts, starts) / np.add.reduceat(completions_per_step, starts))
    # Avoids a division by 0 if all shares are 0.
    top = max(float(shares.max()), 1e-12)
    across: Sequence[float] = np.linspace(0, 1, len(shares)).tolist() if len(shares) > 1 else [0.5]
    return [[x, min(share / top, 1.0)] for x, share in zip(across, shares.tolist(), strict=True)]


Rows = list[dict[str, Any]]
_NOTES = 12
"""The number of note kinds to show initially. The number is arbitrary: they fit on a screen."""
# Arbitrary: the number of completions below a note, and of points of a sparkline, about one for two pixels.
_NEWEST = 12
_BINS = 40
_ABOUT_SHARE = (
    "Training completions with this note, and their share of the completions that the component was asked to score"
)
_NOTE_COLUMNS = [
    ui.column("component", "Component", "soft"),
    ui.column("note", "Note", "text", title="# stands for a number, … for quoted text"),
    ui.column("over", "Over time", "spark", title="The share of completions with this note, step by step"),
    ui.column("share", "Completions", "bar", color="var(--accent)", title=_ABOUT_SHARE),
]
_NEWEST_COLUMNS = [
    ui.column("step", "Step", width="70px"),
    ui.column("total", "Total", width="80px"),
    ui.column("score", "Score", width="80px", title="The score of the component"),
    ui.column("note", "Note", "text"),
    ui.column("show", "", "link", width="90px"),
]


class NoteTally:
    """The *Notes* section of the *Reward logs* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.all = page.address.get("notes") == "all"

    def build(self) -> None:
        self.card = ui.box("card scroll notes")
        with self.card:
            with ui.box("table-head"):
                ui.text("Notes", tag="h3")
                ui.text("The rewards' notes on completions: # stands for a number, … for quoted text", "soft")
            self.table = ui.Table(_NOTE_COLUMNS).when("open", self._open)
            self.more = ui.button("", self._show_all, "alone")
        self.found = ui.box("card scroll noted")
        with self.found:
            with ui.box("table-head"):
                self.title = ui.text("", tag="h3")
                ui.box("space")
                ui.button("×", self._close, "ghost", "Close the completions with this note")
            self.newest = ui.Table(_NEWEST_COLUMNS, empty="No completion has this note anymore.")

    async def update(self) -> None:
        address = self.page.address
        request = address.get("component"), address.get("noted"), address.get("note")
        kinds, rows, newest = await asyncio.to_thread(self._read, *request)
        if request != tuple(self.page.address.get(name) for name in ("component", "noted", "note")):
            return
        self.card.set_visibility(bool(rows))
        selected = {"note": _key(request[1], request[2])}
        self.table.show(rows if self.all else rows[:_NOTES], selected=selected)
        self.more.show(f"Show all {len(kinds)} kinds of notes")
        self.more.set_visibility(len(rows) > _NOTES and not self.all)
        self.found.set_visibility(bool(request[2]))
        self.title.show(f"The newest with “{one_line(request[2], 100)}” of {one_line(request[1], 50)}")
        self.newest.show(newest)

    def _read(
        self, component: str, of: str, note: str
    ) -> tuple[list[NoteKind], list[dict[str, Any]], list[dict[str, Any]]]:
        watched = self.watched
        kinds = watched.cached("notes", lambda: note_kinds(watched.run))
        shown_kinds = [kind for kind in kinds if component in ("", kind.component)]
        steps = ByStep(watched.scores.step, watched.scores.training)
        noted_completions = noted(watched.run, of, note, _NEWEST) if note else []
        return (
            shown_kinds,
            [self._row(kind, steps) for kind in shown_kinds],
            [self._completion(completion, of) for completion in noted_completions],
        )

    def _row(self, kind: NoteKind, steps: ByStep) -> dict[str, Any]:
        codes = self.watched.scores.outcomes.get(kind.component)
        scored = np.zeros(0) if codes is None else steps.sum(_is_asked(codes))
        share = min(kind.count / scored.sum(), 1.0) if scored.sum() else 0.0
        points = share_over_time(kind, steps.steps, scored, _BINS) if len(scored) else []
        first, last = int(kind.steps[0]), int(kind.steps[-1])
        cells = {
            "component": one_line(kind.component, 40),
            "note": one_line(kind.text, 160),
            "over": {"points": points, "text": f"steps {first:,} to {last:,}"},
            "share": {"text": f"{kind.count:,} · {percent(share)}", "share": (0.0, share), "tone": ""},
        }
        return {"key": _key(kind.component, kind.text), "cells": cells}

    def _completion(self, completion: Noted, component: str) -> dict[str, Any]:
        scores = self.watched.scores
        row = scores.find(completion.key)
        values = scores.components.get(component)
        address = Address(
            self.watched.name, "completions", {"prompt": completion.prompt_id, "left": key_text(completion.key)}
        )
        cells = {
            "step": f"{completion.step:,}",
            "total": None if row is None else _number(scores.total[row]),
            "score": None if row is None or values is None else _number(values[row]),
            "note": one_line(completion.note, 300),
            "show": {"text": "completion", "href": address.url},
        }
        return {"key": key_text(completion.key), "cells": cells}

    async def _open(self, key: str) -> None:
        component, _, note = key.partition("\n")
        address = self.page.address
        same = (address.get("noted"), address.get("note")) == (component, note)
        self.page.note(address.with_state(noted=None if same else component, note=None if same else note), step=True)
        await self.update()

    async def _close(self) -> None:
        self.page.note(self.page.address.with_state(noted=None, note=None), step=True)
        await self.update()

    async def _show_all(self) -> None:
        self.all = True
        self.page.note(self.page.address.with_state(notes="all"))
        await self.update()


def _key(component: str, text: str) -> str:
    return f"{component}\n{text}"


def _is_asked(codes: Any) -> Any:
    return (codes < len(OUTCOMES)) & (codes != OUTCOMES.index("skipped"))


def _number(value: float) -> str | None:
    return f"{value:.3f}" if value == value else None


_TONES = {"error": "bad", "warning": "warn"}
_KINDS = ("print", "log", "warning", "fault", "slow", "radar")
_LEVELS = ("debug", "info", "warning", "error")
_NO_MATCH = "No line matches. Search for fewer words, or show all components, levels, and kinds."
_LINE_COLUMNS = [
    ui.column("step", "Step"),
    ui.column("epoch", "Epoch", title="Counted from 1"),
    ui.column("time", "Time (UTC)"),
    ui.column("level", "Level", "badge"),
    ui.column("kind", "Kind", "soft"),
    ui.column("component", "Component", "soft"),
    ui.column("message", "Message", "text"),
    ui.column("count", "Times"),
    ui.column("seconds", "Seconds"),
    ui.column("version", "Version", "soft", title="The version of the reward that scored the batch"),
    ui.column("show", "", "link"),
]


class Lines(PagedTable):
    """The table of log lines that match a query, newest first."""

    size = 60
    names = ("q", "", "")
    page_name = "page"

    def __init__(self, page: Page, watched: Watched) -> None:
        super().__init__(page)
        self.watched = watched
        component = page.address.get("component") or component_of(page.address.get("by"), watched.scores)
        self.filters = {name: page.address.get(name) for name in ("level", "kind")} | {"component": component}
        self.steps = parse_steps(page.address.get("steps"))
        self.open: set[str] = set()

    @property
    def query(self) -> LogQuery:
        return LogQuery(self.words, **self.filters, steps=self.steps)

    def find(self) -> tuple[Integers, list[str]]:
        return np.arange(log_size(self.watched.run, self.query)), []

    async def show(self) -> None:
        if self.query != LogQuery():
            self.table.props["empty"] = _NO_MATCH
        await super().show()

    def columns(self) -> list[dict[str, Any]]:
        has_epochs = not np.isnan(self.watched.scores.epoch).all()
        return [column for column in _LINE_COLUMNS if has_epochs or column["name"] != "epoch"]

    def remark(self) -> str:
        return f" line{'' if len(self.order) == 1 else 's'}, newest first"

    def rows(self, numbers: list[int]) -> list[dict[str, Any]]:
        lines = log_page(self.watched.run, self.query, numbers[0], len(numbers)) if numbers else []
        return [self._row(number, line) for number, line in zip(numbers, lines, strict=False)]

    async def filter(self, **filters: str) -> None:
        """Show only the lines with a given level or kind."""
        self.filters |= filters
        self.at = 0
        self.open.clear()
        self.note(**filters)
        await self.refresh()

    async def search(self, words: str) -> None:
        self.open.clear()
        await super().search(words)

    async def toggle(self, key: str) -> None:
        """Expand or collapse a line's whole text."""
        self.open ^= {key}
        await self.show()

    def _query(self) -> tuple[object, ...]:
        return (self.query,)

    def _row(self, number: int, line: dict[str, Any]) -> dict[str, Any]:
        completion_key = line["attempt"], line["rank"], line["part"], line["row"]
        key = f"{'.'.join(map(str, completion_key))}.{number}"
        show = None
        if line["row"] is not None:
            url = Address(self.watched.name, "completions", {"left": key_text(completion_key)}).url
            show = {"text": "completion", "href": url}
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
            "show": show,
        }
        detail = escape("\n\n".join(filter(None, (line["message"], line["detail"])))) if key in self.open else None
        return {"key": key, "cells": cells, "detail": detail}


class Logs(Tab):
    """The *Reward logs* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.notes = NoteTally(page, watched)
        self.lines = Lines(page, watched)

    async def build(self) -> None:
        lines, filters = self.lines, self.lines.filters
        with ui.box("card scroll rates"):
            self.rates = ui.Table(COLUMNS, empty="No components have been scored yet.")
            self.rates.when("open", self._component)
        self.notes.build()
        with ui.box("bar-of-tools"):
            ui.Field(lines.words, lines.search, "Search messages", main=True).style("width: 300px")
            components = {name: one_line(name, 50) for name in self.watched.components}
            names = {"": "All components", "-": "(no component)", **components}
            levels, kinds = ({name: name for name in options} for options in (_LEVELS, _KINDS))
            ui.Choice(filters["component"], names, self._component, "Component")
            ui.Choice(filters["level"], {"": "All levels", **levels}, lambda level: lines.filter(level=level), "Level")
            ui.Choice(filters["kind"], {"": "All kinds", **kinds}, lambda kind: lines.filter(kind=kind), "Kind")
            if lines.steps is not None:
                ui.button(f"{spoken(lines.steps)}  ×", self._all_steps, "on", "Show the lines of all steps")
            ui.box("space")
            lines.build_pager("together")
        with ui.box("card scroll"):
            lines.build_table("No reward function has printed, logged, or raised anything.", "cards lines")
            lines.table.when("open", lines.toggle)
        await self.update()

    async def update(self) -> None:
        rows = await asyncio.to_thread(rates, self.watched)
        self.rates.show(rows, selected={"component": self.lines.filters["component"]})
        await self.notes.update()
        await self.lines.refresh()

    async def _component(self, name: str) -> None:
        component = None if name == self.lines.filters["component"] else name
        await self.page.go(self.page.address.with_state(component=component, by=None, page=None))

    async def _all_steps(self) -> None:
        await self.page.go(self.page.address.with_state(steps=None, by=None, before=None, page=None))
