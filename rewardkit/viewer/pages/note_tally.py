"""The notes of rewards, counted by kind over the training, with the newest completions of the kind that is selected."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.addresses import Address
from rewardkit.viewer.curves import ByStep
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.notes import Kind, Noted, noted, share_over_time, tally
from rewardkit.viewer.pages.layout import Page
from rewardkit.viewer.pages.log_rates import percent
from rewardkit.viewer.scores import OUTCOMES, key_text
from rewardkit.viewer.watcher import Watched

Rows = list[dict[str, Any]]
_ROWS = 12
"""The kinds that are shown at first."""
_NEWEST = 12
_BINS = 40
_COLUMNS = [
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
            self.table = put.Table(_COLUMNS).when("open", self._open)
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
        self.table.show(rows if self.all else rows[:_ROWS])
        self.more.show(f"Show all {len(kinds)} kinds of notes")
        self.more.set_visibility(len(rows) > _ROWS and not self.all)
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
