"""The output and errors of reward functions, with what calling each component came to, and their notes by kind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.page import elements as put
from rewardkit.page.addresses import Address
from rewardkit.page.curves import ByStep
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.reader import Latency, LogQuery, latencies, log_page, log_rates
from rewardkit.page.scores import OUTCOMES, Floats, Key, epoch_of, key_text
from rewardkit.page.selection import component as component_of, parse_steps, spoken
from rewardkit.page.tabs.layout import Page
from rewardkit.page.watcher import Watched
from rewardkit.record.run import Run

# What calling each component came to: errors, failures, slow calls, and how long its calls took.


_NUMBER = {"kind": "number"}
COLUMNS: list[dict[str, Any]] = [
    {"name": "component", "label": "Component", "kind": "soft"},
    {"name": "calls", "label": "Completions", **_NUMBER, "title": "Completions that it was asked to score"},
    {
        "name": "errors",
        "label": "Errors",
        "kind": "bar",
        "color": "var(--bad)",
        "title": "Completions for which its code raised an exception or returned an invalid score, and their share",
    },
    {
        "name": "failures",
        "label": "Failures",
        "kind": "bar",
        "color": "var(--warn)",
        "title": "Completions whose score could not be computed, for example because a judge was down or a worker was "
        "killed, and their share",
    },
    {
        "name": "slow",
        "label": "Slow",
        "kind": "bar",
        "color": "var(--warn)",
        "title": "Calls that took above 0.1 s and five times as long as most: the slowest five of each batch",
    },
    {"name": "median", "label": "Median", **_NUMBER, "title": "Half of the calls of its function took less time"},
    {"name": "most", "label": "p95", **_NUMBER, "title": "95 % of the calls of its function took less time"},
    {"name": "slowest", "label": "Slowest", **_NUMBER, "title": "The slowest call of its function"},
    {"name": "seconds", "label": "Per batch", **_NUMBER, "title": "The mean time of a batch"},
    {"name": "lines", "label": "Lines", **_NUMBER, "title": "The number of lines printed and logged"},
]


def rows(watched: Watched, selected: str) -> list[dict[str, Any]]:
    """Return a row of the table for each component."""
    lines = watched.cached("log rates", lambda: log_rates(watched.run))
    took = watched.cached("latencies", lambda: latencies(watched.run))
    found = []
    for name in watched.components:
        codes = watched.scores.outcomes.get(name)
        if codes is not None:
            counts = np.bincount(codes, minlength=len(OUTCOMES) + 1)
            cells = _cells(watched, name, counts, lines.get(name, {}), took.get(name))
            found.append({"key": name, "cells": cells, "selected": name == selected})
    return found


def asked(counts: Any) -> int:
    """Return how many completions a component was asked to score, given the number of each outcome."""
    return int(counts[: len(OUTCOMES)].sum() - counts[OUTCOMES.index("skipped")])


def _cells(
    watched: Watched, name: str, counts: Any, lines: Mapping[str, float], took: Latency | None
) -> dict[str, Any]:
    calls = asked(counts)
    slowest = lines.get("slowest") if took is None else took.slowest
    batch = watched.metrics.training.get(f"seconds/{name}")
    return {
        "component": one_line(name, 50),
        "calls": f"{calls:,}",
        "errors": _rate(int(counts[OUTCOMES.index("errored")]), calls),
        "failures": _rate(int(counts[OUTCOMES.index("failed")]), calls),
        "slow": _rate(int(lines.get("slow", 0)), calls),
        "median": None if took is None else spoken_seconds(took.median),
        "most": None if took is None else spoken_seconds(took.most),
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
    """Return a share as a text that is 0 only if there is none: ``0.00004`` is ``"<0.01 %"``."""
    return "<0.01 %" if 0 < share < 0.0001 else f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.0f} %"


def spoken_seconds(seconds: float) -> str:
    """Return a duration with its unit: ``"45 µs"``, ``"1.2 ms"``, ``"3.4 s"``."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1.0 or unit == "µs":
            return f"{seconds * scale:.2g} {unit}" if seconds * scale < 10 else f"{seconds * scale:,.0f} {unit}"
    raise AssertionError


# A tally of the notes that rewards write, by kind: ``"off by 3"`` and ``"off by 11"`` are both ``"off by #"``.


_MOST_KINDS = 40
"""The most kinds of a component."""
_READ = 300
"""The characters of a note that tell its kind."""
_QUOTED = (r"""("[^"]*"|`[^`]*`|“[^”]*”|‘[^’]*’)""", "…")
_QUOTED_ONCE = (r"""(^|[^\pL\pN])'[^']*'""", r"\1…")  # an apostrophe within a word quotes nothing
_NUMBER_PATTERN = (r"[-+−]?\pN+(?:[.,]\pN+)*(?:[eE][-+]?\pN+)?", "#")
_BLANK = (r"\s+", " ")
_TRAINED = "(attempt, rank, part) in (select distinct attempt, rank, part from scores where training)"


@dataclass(frozen=True, eq=False)
class Kind:
    """Notes that are the same but for numbers and quoted texts.

    Attributes:
        count: the completions of the training that have such a note.
        steps: (t,) the steps that have any, in order.
        counts: (t,) how many.
    """

    component: str
    text: str
    count: int
    steps: Floats
    counts: Floats


@dataclass(frozen=True)
class Noted:
    """A completion with its note."""

    key: Key
    prompt_id: str
    step: int
    note: str


def components_with_notes(run: Run) -> list[str]:
    return [name.removeprefix("notes/") for name in run.completions().columns if name.startswith("notes/")]


def tally(run: Run) -> list[Kind]:
    """Return the kinds of notes in the training, the most frequent first."""
    kinds = [kind for name in components_with_notes(run) for kind in _kinds(run, name)]
    return sorted(kinds, key=lambda kind: -kind.count)


def _kinds(run: Run, component: str) -> list[Kind]:
    query = (
        f"with said as (select step, {kind_of('note')} as kind, sum(count) as count from ("
        f"select step, left({_column(component)}, {_READ:d}) as note, count(*) as count from completions "
        f"where note is not null and {_TRAINED} group by all) group by all), "
        f"most as (select kind from said group by kind order by sum(count) desc, kind limit {_MOST_KINDS:d}) "
        "select kind, step, count from said join most using (kind) order by kind, step"
    )
    found: dict[str, list[tuple[int, int]]] = {}
    for kind, step, count in run.sql(query).fetchall():
        found.setdefault(kind, []).append((step, int(count)))
    return [
        Kind(component, kind, sum(count for _, count in rows), *np.array(rows, dtype=np.float64).T)
        for kind, rows in found.items()
    ]


def noted(run: Run, component: str, kind: str, limit: int) -> list[Noted]:
    """Return the newest completions of the training whose note of `component` is of this kind."""
    if component not in components_with_notes(run):
        return []
    query = (
        f"select attempt, rank, part, row, prompt_id, step, {_column(component)} as note from completions "
        f"where note is not null and {kind_of(f'left(note, {_READ:d})')} = ? and {_TRAINED} "
        "order by step desc, attempt desc, rank, part desc, row limit ?"
    )
    return [Noted(row[:4], *row[4:]) for row in run.sql(query, [kind, limit]).fetchall()]


def kind_of(column: str) -> str:
    """Return the SQL expression of the kind of a note."""
    expression = column
    for pattern, substitute in (_QUOTED, _QUOTED_ONCE, _NUMBER_PATTERN, _BLANK):
        expression = f"regexp_replace({expression}, {_text(pattern)}, {_text(substitute)}, 'g')"
    return f"left(trim({expression}), 160)"


def share_over_time(kind: Kind, steps: Floats, asked: Floats, bins: int) -> list[Any]:
    """Return points for a sparkline, from 0 to 1: the share of completions that have the note, in up to `bins` parts.

    Args:
        steps: (s,) all steps of the training, in order.
        asked: (s,) the completions that the component was asked to score in each.
    """
    counts = np.zeros(len(steps))
    places = np.searchsorted(steps, kind.steps)
    inside = places < len(steps)
    counts[places[inside]] = kind.counts[inside]
    starts = np.unique(np.linspace(0, len(steps), min(bins, len(steps)), endpoint=False).astype(np.int64))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.nan_to_num(np.add.reduceat(counts, starts) / np.add.reduceat(asked, starts))
    top = max(float(shares.max()), 1e-12)
    across: Sequence[float] = np.linspace(0, 1, len(shares)).tolist() if len(shares) > 1 else [0.5]
    return [[x, min(share / top, 1.0)] for x, share in zip(across, shares.tolist(), strict=True)]


def _column(component: str) -> str:
    return '"notes/' + component.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# The notes of rewards, counted by kind over the training, with the newest completions of the kind that is selected.


Rows = list[dict[str, Any]]
_NOTES = 12
"""The kinds that are shown at first."""
_NEWEST = 12
_BINS = 40
_NOTE_COLUMNS = [
    {"name": "component", "label": "Component", "kind": "soft"},
    {"name": "note", "label": "Note", "kind": "text", "title": "# stands for a number, … for a quoted text"},
    {"name": "over", "label": "Over time", "kind": "spark", "title": "The share of its completions, step by step"},
    {
        "name": "share",
        "label": "Completions",
        "kind": "bar",
        "color": "var(--accent)",
        "title": "Completions of the training with this note, and their share of those that the component was asked to "
        "score",
    },
]
_FOUND = [
    {"name": "step", "label": "Step", "kind": "number", "width": "70px"},
    {"name": "total", "label": "Total", "kind": "number", "width": "80px"},
    {"name": "score", "label": "Score", "kind": "number", "width": "80px", "title": "The score of the component"},
    {"name": "note", "label": "Note", "kind": "text"},
    {"name": "show", "label": "", "kind": "link", "width": "90px"},
]


class NoteTally:
    """The part *Notes* of the tab *Reward logs*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.all = page.address.get("notes") == "all"

    def build(self) -> None:
        self.card = put.box("card scroll notes")
        with self.card:
            with put.box("table-head"):
                put.text("Notes", tag="h3")
                put.text("What rewards say about completions: # stands for a number, … for a quoted text", "soft")
            self.table = put.Table(_NOTE_COLUMNS).when("open", self._open)
            self.more = put.button("", self._show_all, "alone")
        self.found = put.box("card scroll noted")
        with self.found:
            with put.box("table-head"):
                self.title = put.text("", tag="h3")
                put.box("space")
                put.button("×", self._close, "ghost", "Close the completions with this note")
            self.newest = put.Table(_FOUND, empty="No completion has this note any more.")

    async def update(self) -> None:
        address = self.page.address
        wanted = address.get("component"), address.get("noted"), address.get("note")
        kinds, rows, newest = await asyncio.to_thread(self._read, *wanted)
        if wanted != tuple(self.page.address.get(name) for name in ("component", "noted", "note")):
            return
        self.card.set_visibility(bool(rows))
        self.table.show(rows if self.all else rows[:_NOTES])
        self.more.show(f"Show all {len(kinds)} kinds of notes")
        self.more.set_visibility(len(rows) > _NOTES and not self.all)
        self.found.set_visibility(bool(wanted[2]))
        self.title.show(f"The newest with “{one_line(wanted[2], 100)}” of {one_line(wanted[1], 50)}")
        self.newest.show(newest)

    def _read(
        self, component: str, of: str, note: str
    ) -> tuple[list[Kind], list[dict[str, Any]], list[dict[str, Any]]]:
        watched = self.watched
        kinds = watched.cached("notes", lambda: tally(watched.run))
        shown = [kind for kind in kinds if component in ("", kind.component)]
        steps = ByStep(watched.scores.step, watched.scores.training)
        found = noted(watched.run, of, note, _NEWEST) if note else []
        rows = [self._row(kind, steps, kind.component == of and kind.text == note) for kind in shown]
        return shown, rows, [self._completion(one, of) for one in found]

    def _row(self, kind: Kind, steps: ByStep, selected: bool) -> dict[str, Any]:
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
        return {"key": _key(kind.component, kind.text), "cells": cells, "selected": selected}

    def _completion(self, one: Noted, component: str) -> dict[str, Any]:
        scores = self.watched.scores
        row = scores.find(one.key)
        values = scores.components.get(component)
        address = Address(self.watched.name, "completions", {"prompt": one.prompt_id, "left": key_text(one.key)})
        cells = {
            "step": f"{one.step:,}",
            "total": None if row is None else _number(scores.total[row]),
            "score": None if row is None or values is None else _number(values[row]),
            "note": one_line(one.note, 300),
            "show": {"text": "completion", "href": address.url},
        }
        return {"key": key_text(one.key), "cells": cells}

    async def _open(self, key: str) -> None:
        component, _, note = str(key).partition("\n")
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


_ROWS = 60
_TONES = {"error": "bad", "warning": "warn"}
_KINDS = ("print", "log", "warning", "fault", "slow")
_LEVELS = ("debug", "info", "warning", "error")
_COLUMNS = [
    {"name": "step", "label": "Step", "kind": "number"},
    {"name": "epoch", "label": "Epoch", "kind": "number", "title": "Counted from 1"},
    {"name": "time", "label": "Time (UTC)", "kind": "number"},
    {"name": "level", "label": "Level", "kind": "badge"},
    {"name": "kind", "label": "Kind", "kind": "soft"},
    {"name": "component", "label": "Component", "kind": "soft"},
    {"name": "message", "label": "Message", "kind": "text"},
    {"name": "count", "label": "Times", "kind": "number"},
    {"name": "seconds", "label": "Seconds", "kind": "number"},
    {"name": "version", "label": "Version", "kind": "soft", "title": "The version of the reward that scored the batch"},
    {"name": "show", "label": "", "kind": "link"},
]


class Logs:
    """The tab *Reward logs*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        address = page.address
        words, component, level, kind = (address.get(name) for name in ("q", "component", "level", "kind"))
        component = component or component_of(address.get("by"), watched.scores)
        self.asked = LogQuery(words, component, level, kind, parse_steps(address.get("steps")))
        self.at = int(address.number("page", 1, 1, 1e6)) - 1
        self.lines: list[dict[str, Any]] = []
        self.open: set[str] = set()

    async def build(self) -> None:
        with put.box("card scroll rates"):
            self.rates = put.Table(COLUMNS, empty="No components have been scored yet.")
            self.rates.when("open", self._component)
        self.notes = NoteTally(self.page, self.watched)
        self.notes.build()
        with put.box("bar-of-tools"):
            put.Field(self.asked.words, self._search, "Search messages", main=True).style("width: 300px")
            names = {
                "": "All components",
                "-": "(no component)",
                **{name: one_line(name, 50) for name in self.watched.components},
            }
            put.Choice(self.asked.component, names, self._component, "Component")
            put.Choice(self.asked.level, {"": "All levels", **{one: one for one in _LEVELS}}, self._level, "Level")
            put.Choice(self.asked.kind, {"": "All kinds", **{one: one for one in _KINDS}}, self._kind, "Kind")
            if self.asked.steps is not None:
                put.button(f"{spoken(self.asked.steps)}  ×", self._all_steps, "on", "Show the lines of all steps")
            put.box("space")
            with put.box("together"):
                self.back = put.button("‹", lambda: self._turn(-1), "ghost", "Previous page")
                self.count = put.text("", "soft")
                self.on = put.button("›", lambda: self._turn(1), "ghost", "Next page")
        with put.box("card scroll"):
            known = not np.isnan(self.watched.scores.epoch).all()
            columns = [column for column in _COLUMNS if known or column["name"] != "epoch"]
            self.table = put.Table(columns, empty="No reward function has printed, logged or raised anything.")
            self.table.classes("cards lines")
            self.table.when("open", self._open)
        await self.update()

    async def update(self) -> None:
        self.rates.show(await asyncio.to_thread(rows, self.watched, self.asked.component))
        await self.notes.update()
        await self._show()

    async def key(self, key: str, shift: bool) -> None:
        return None

    async def _show(self) -> None:
        wanted = self.asked, self.at
        total, lines = await asyncio.to_thread(log_page, self.watched.run, self.asked, self.at * _ROWS, _ROWS)
        if wanted != (self.asked, self.at):
            return  # the user has changed the query in the meantime
        self.lines = lines
        first = self.at * _ROWS
        noun = "line" if total == 1 else "lines"
        self.count.show(f"{min(first + 1, total):,}–{min(first + _ROWS, total):,} of {total:,} {noun}, newest first")
        for button, disabled in ((self.back, self.at == 0), (self.on, first + _ROWS >= total)):
            button.props["disabled"] = disabled
        if self.asked != LogQuery():
            self.table.props["empty"] = (
                "No line matches. Search for fewer words, or show all components, levels and kinds."
            )
        self._fill()

    def _fill(self) -> None:
        self.table.show([self._row(number, line) for number, line in enumerate(self.lines)])

    def _row(self, number: int, line: dict[str, Any]) -> dict[str, Any]:
        key = f"{line['attempt']}.{line['rank']}.{line['part']}.{line['row']}.{self.at * _ROWS + number}"
        detail = None
        if key in self.open:
            detail = escape("\n\n".join(filter(None, (line["message"], line["detail"]))))
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
            "show": {"text": "", "href": ""},
        }
        if line["row"] is not None:
            name = key_text((line["attempt"], line["rank"], line["part"], line["row"]))
            url = Address(self.watched.name, "completions", {"left": name}).url
            cells["show"] = {"text": "completion", "href": url}
        else:
            cells["show"] = None
        return {"key": key, "cells": cells, "detail": detail}

    async def _change(self, **changes: str) -> None:
        state: dict[str, str] = {
            "q": self.asked.words,
            "component": self.asked.component,
            "level": self.asked.level,
            "kind": self.asked.kind,
            **changes,
        }
        self.asked = LogQuery(state["q"], state["component"], state["level"], state["kind"], self.asked.steps)
        self.at = 0
        self.open.clear()
        self.page.note(self.page.address.with_state(**state, page=None))
        await self._show()

    async def _search(self, words: str) -> None:
        await self._change(q=words)

    async def _component(self, name: str) -> None:
        await self.page.go(
            self.page.address.with_state(
                component=None if name == self.asked.component else str(name), by=None, page=None
            )
        )

    async def _all_steps(self) -> None:
        await self.page.go(self.page.address.with_state(steps=None, by=None, before=None, page=None))

    async def _level(self, level: str) -> None:
        await self._change(level=level)

    async def _kind(self, kind: str) -> None:
        await self._change(kind=kind)

    async def _turn(self, by: int) -> None:
        self.at = max(self.at + by, 0)
        self.page.note(self.page.address.with_state(page=str(self.at + 1) if self.at else None))
        await self._show()

    async def _open(self, key: str) -> None:
        self.open ^= {str(key)}
        self._fill()
