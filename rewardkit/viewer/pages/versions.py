"""The versions of the reward: when each was in force, its expression and source, and what changed between two."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.comparison import compare
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.pages.layout import Page, empty_state
from rewardkit.viewer.revisions import Line, change_in_words, changed_lines, files_of
from rewardkit.viewer.watcher import Watched

_NONE = "none"
_COLUMNS = [
    {"name": "version", "label": "Version", "kind": "soft", "title": "The fingerprint of the reward"},
    {"name": "first", "label": "From step", "kind": "number"},
    {"name": "last", "label": "To step", "kind": "number"},
    {"name": "completions", "label": "Completions", "kind": "number", "title": "Of the training"},
    {"name": "total", "label": "Mean total", "kind": "number"},
    {"name": "change", "label": "What changed", "kind": "text", "title": "Compared with the version before"},
]


class Versions:
    """The tab *Versions*."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.drawn: object = None

    async def build(self) -> None:
        if not self.watched.versions:
            empty_state("No versions yet", "The reward appears here after the first training step.")
            return
        with put.box("card scroll"):
            self.table = put.Table(_COLUMNS).when("open", self._choose)
        self.tools = put.box("bar-of-tools versions")
        self.code = put.box("code-of-versions")
        await self.update()

    async def update(self) -> None:
        if not self.watched.versions or not hasattr(self, "table"):
            return
        self.table.show(await asyncio.to_thread(self._rows))
        await self._draw()

    async def key(self, key: str, shift: bool) -> None:
        return None

    @property
    def _known(self) -> dict[str, dict[str, Any]]:
        """The versions by fingerprint, in the order of their first use."""
        return {version["fingerprint"]: version for version in self.watched.versions}

    def _chosen(self) -> tuple[str, str | None]:
        """Return the version to show, and the one to compare it with."""
        known = list(self._known)
        chosen = self.page.address.get("version")
        chosen = chosen if chosen in known else known[-1]
        against = self.page.address.get("against")
        if against == _NONE:
            return chosen, None
        at = known.index(chosen)
        return chosen, against if against in known else known[at - 1] if at else None

    def _rows(self) -> list[dict[str, Any]]:
        scores, chosen = self.watched.scores, self._chosen()[0]
        known = list(self._known.values())
        rows = []
        for at, version in enumerate(known):
            name = version["fingerprint"]
            code = scores.versions.index(name) if name in scores.versions else -1
            found = np.flatnonzero((scores.version == code) & scores.training)
            totals = scores.total[found]
            cells = {
                "version": name[:8],
                "first": f"{scores.step[found[0]]:,}" if len(found) else None,
                "last": f"{scores.step[found[-1]]:,}" if len(found) else None,
                "completions": f"{len(found):,}",
                "total": f"{np.nanmean(totals):.3f}" if np.isfinite(totals).any() else None,
                "change": one_line(self._change(at), 200),
            }
            rows.append({"key": name, "cells": cells, "selected": name == chosen})
        return rows[::-1]

    def _change(self, at: int) -> str:
        known = list(self._known.values())
        before = known[at - 1] if at else None
        name = f"change to {known[at]['fingerprint']} from {before['fingerprint'] if before else ''}"
        return self.watched.cached_for_run(name, lambda: change_in_words(before, known[at]))

    async def _draw(self) -> None:
        whole = self.page.address.get("whole") == "1"
        (chosen, against), known = self._chosen(), self._known
        if (chosen, against, whole, len(known)) == self.drawn:
            return
        self.drawn = chosen, against, whole, len(known)
        old, new = known[against] if against else None, known[chosen]
        texts = files_of(old, new)
        files = await asyncio.to_thread(
            lambda: {path: _lines(before, after, old is None, whole) for path, before, after in texts}
        )
        self._show_tools(chosen, against, whole)
        self.code.clear()
        with self.code:
            self._show_expressions(old, new)
            for path, lines in files.items():
                with put.box("card source"):
                    with put.box("table-head"):
                        put.text(one_line(path, 100), "mono", "h3")
                    if any(line.sign != "…" for line in lines):
                        put.Changes([_props(line) for line in lines], f"The source in {one_line(path, 100)}")
                    else:
                        put.text("No line changed.", "soft quiet", "p")
            if not files:
                put.text(
                    "There is no source: all functions of this reward are installed, or an older rewardkit recorded "
                    "this run.",
                    "soft",
                    "p",
                )

    def _show_tools(self, chosen: str, against: str | None, whole: bool) -> None:
        self.tools.clear()
        with self.tools:
            put.text(f"Version {chosen[:8]}", "", "h2")
            put.text("compared with", "soft")
            others = {name: name[:8] for name in self._known if name != chosen}
            put.Choice(against or _NONE, {_NONE: "nothing", **others}, self._compare, "Compare with")
            if against is not None:
                text = "Changes only" if whole else "Whole files"
                put.button(text, lambda: self._go(whole=None if whole else "1"), "on" if whole else "")

    def _show_expressions(self, old: dict[str, Any] | None, new: dict[str, Any]) -> None:
        with put.box("card source"):
            with put.box("table-head"):
                put.text("Expression", tag="h3")
            if old is None or old["reward"] == new["reward"]:
                put.Text([(escape(new["reward"]), False)])
                return
            found = compare(escape(old["reward"]), escape(new["reward"]))
            put.Text(found.left, "gone")
            put.Text(found.right, "new")

    async def _choose(self, name: str) -> None:
        await self._go(version=str(name), against=None)

    async def _compare(self, name: str) -> None:
        await self._go(against=name)

    async def _go(self, **changes: str | None) -> None:
        self.page.note(self.page.address.with_state(**changes), step=True)
        await self.update()


def _lines(before: str, after: str, alone: bool, whole: bool) -> list[Line]:
    """Return the lines to show; of a version that is compared with nothing, all of them, as equal ones."""
    return changed_lines(after, after, None) if alone else changed_lines(before, after, *([None] if whole else []))


def _props(line: Line) -> list[Any]:
    pieces = [[escape(text), changed] for text, changed in line.pieces]
    return [line.sign, line.old, line.new, pieces, line.count]
