"""The *Versions* tab: each reward version's steps, expression, source code, and changes."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from rewardkit.page import ui
from rewardkit.page.comparison import compare
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.tabs.layout import Page, Tab, empty_state
from rewardkit.page.watcher import Watched

# The changes between two versions of a reward, line by line: ``changed_lines("a\nb", "a\nc")``.


_LINES = 4_000
"""The maximum number of lines for an exact comparison. The limit is arbitrary: a heuristic keeps longer comparisons
fast."""
_CONTEXT = 3
"""The number of unchanged lines to show around a change, as in diff and Git."""
_WORDS = re.compile(r"[\w.]+|[^\w.]")
"""A name, a number, or any other single character, so that a change from ``0.2`` to ``0.25`` is shown with the whole
number."""
_LONGEST_CHANGE = 60
"""The maximum number of characters in a change that is shown in the table. The limit is arbitrary: the change must fit
in the column."""
Pieces = Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line in a comparison.

    Attributes:
        sign: ``" "`` for an equal line, ``"-"`` for an old line, ``"+"`` for a new line, ``"…"`` for equal lines that
            are omitted.
        old, new: the line numbers in the two texts, counted from 1.
        pieces: the text split into pieces, and whether each piece changed.
        count: the number of omitted lines.
    """

    sign: str
    old: int | None
    new: int | None
    pieces: Pieces = ()
    count: int = 0


def changed_lines(old: str, new: str, context: int | None = _CONTEXT) -> list[Line]:
    """Return both texts' lines, with at most `context` equal lines around each change; None to keep all lines."""
    before, after = old.splitlines(), new.splitlines()
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) + len(after) > _LINES)
    lines: list[Line] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            lines += [
                Line(" ", start + at + 1, first + at + 1, [(text, False)]) for at, text in enumerate(before[start:end])
            ]
        else:
            lines += _changed(before, after, (start, end), (first, last))
    return lines if context is None else list(_folded(lines, context))


def _changed(before: Sequence[str], after: Sequence[str], old: tuple[int, int], new: tuple[int, int]) -> Iterator[Line]:
    """Yield the old lines and then the new lines; if their numbers are equal, mark the changes within each line."""
    paired = old[1] - old[0] == new[1] - new[0]
    texts = list(zip(before[slice(*old)], after[slice(*new)], strict=True)) if paired else []
    comparisons = [compare(*pair) for pair in texts]
    for at in range(*old):
        yield Line("-", at + 1, None, comparisons[at - old[0]].left if comparisons else [(before[at], False)])
    for at in range(*new):
        yield Line("+", None, at + 1, comparisons[at - new[0]].right if comparisons else [(after[at], False)])


def _folded(lines: Sequence[Line], context: int) -> Iterator[Line]:
    changed = [at for at, line in enumerate(lines) if line.sign != " "]
    near = {at + by for at in changed for by in range(-context, context + 1)}
    for is_near, group in itertools.groupby(range(len(lines)), key=near.__contains__):
        block = [lines[at] for at in group]
        if is_near or len(block) == 1:
            yield from block
        else:
            yield Line("…", block[0].old, block[0].new, count=len(block))


def sources_of(version: Mapping[str, Any]) -> dict[str, str]:
    """Return a version's source files, path -> text, from its row in the ``versions`` table."""
    sources = json.loads(version.get("sources") or "{}")
    return sources if isinstance(sources, dict) else {}


def files_of(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return two versions' files: path, old text, and new text. A single renamed file counts as one file."""
    before, after = {} if old is None else sources_of(old), sources_of(new)
    removed, added = (
        [path for path in side if path not in other] for side, other in ((before, after), (after, before))
    )
    if len(removed) == len(added) == 1:
        before[f"{removed[0]} → {added[0]}"] = before.pop(removed[0])
        after[f"{removed[0]} → {added[0]}"] = after.pop(added[0])
    return [(path, before.get(path, ""), after.get(path, "")) for path in dict.fromkeys([*after, *before])]


def change_in_words(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    """Summarize the changes between two versions: ``"0.6 replaces linear(0, 0.4, end=0.5), reward.py +3 −1"``."""
    if old is None:
        return "the first version"
    changes = [_change_of_expression(old["reward"], new["reward"])] if old["reward"] != new["reward"] else []
    for path, before, after in files_of(old, new):
        lines = changed_lines(before, after, context=0)
        added, removed = (sum(line.sign == sign for line in lines) for sign in "+-")
        if added or removed:
            changes.append(f"{path} +{added:,} −{removed:,}")
    has_sources = sources_of(old) and sources_of(new)
    unsaid = "options that the expression does not show" if has_sources else "nothing that was recorded"
    return ", ".join(changes) or unsaid


def _change_of_expression(old: str, new: str) -> str:
    """Return the words from the first to the last change, or ``"expression"`` if there are too many for a table."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    start = _count_equal(before, after)
    end = _count_equal(before[start:][::-1], after[start:][::-1])
    while end and any(
        words[start : len(words) - end].count("(") > words[start : len(words) - end].count(")")
        for words in (before, after)
    ):
        end -= 1  # up to the end of a call
    removed, added = ("".join(words[start : len(words) - end]).strip(" ,") for words in (before, after))
    if max(len(removed), len(added)) > _LONGEST_CHANGE:
        return "expression"
    if removed and added:
        return f"{added} replaces {removed}"
    return f"adds {added}" if added else f"removes {removed}"


def _count_equal(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal words at the start of both."""
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))))


_NONE = "none"
_COLUMNS = [
    ui.column("version", "Version", "soft", title="The fingerprint of the reward"),
    ui.column("first", "From step"),
    ui.column("last", "To step"),
    ui.column("completions", "Completions", title="Training completions"),
    ui.column("total", "Mean total"),
    ui.column("change", "What changed", "text", title="Compared with the previous version"),
]


class Versions(Tab):
    """The *Versions* tab."""

    def __init__(self, page: Page, watched: Watched) -> None:
        self.page = page
        self.watched = watched
        self.drawn: object = None

    async def build(self) -> None:
        if not self.watched.versions:
            empty_state("No versions yet", "The reward appears here after the first training step.")
            return
        with ui.box("card scroll"):
            self.table = ui.Table(_COLUMNS).when("open", self._choose)
        self.tools = ui.box("bar-of-tools versions")
        self.code = ui.box("code-of-versions")
        await self.update()

    async def update(self) -> None:
        if not self.watched.versions or not hasattr(self, "table"):
            return
        self.table.show(await asyncio.to_thread(self._rows), selected={"version": self._chosen()[0]})
        await self._draw()

    @property
    def _known(self) -> dict[str, dict[str, Any]]:
        """The versions by fingerprint, in the order of their first use."""
        return {version["fingerprint"]: version for version in self.watched.versions}

    def _chosen(self) -> tuple[str, str | None]:
        """Return the version to show, and the version (or None) to compare it with."""
        fingerprints = list(self._known)
        chosen = self.page.address.get("version")
        chosen = chosen if chosen in fingerprints else fingerprints[-1]
        against = self.page.address.get("against")
        if against == _NONE:
            return chosen, None
        at = fingerprints.index(chosen)
        return chosen, against if against in fingerprints else fingerprints[at - 1] if at else None

    def _rows(self) -> list[dict[str, Any]]:
        scores = self.watched.scores
        versions = list(self._known.values())
        rows = []
        for at, version in enumerate(versions):
            name = version["fingerprint"]
            code = scores.versions.index(name) if name in scores.versions else -1
            version_rows = np.flatnonzero((scores.version == code) & scores.training)
            totals = scores.total[version_rows]
            cells = {
                "version": name[:8],
                "first": f"{scores.step[version_rows[0]]:,}" if len(version_rows) else None,
                "last": f"{scores.step[version_rows[-1]]:,}" if len(version_rows) else None,
                "completions": f"{len(version_rows):,}",
                "total": f"{np.nanmean(totals):.3f}" if np.isfinite(totals).any() else None,
                "change": one_line(self._change(at), 200),
            }
            rows.append({"key": name, "cells": cells})
        return rows[::-1]

    def _change(self, at: int) -> str:
        versions = list(self._known.values())
        before = versions[at - 1] if at else None
        name = f"change to {versions[at]['fingerprint']} from {before['fingerprint'] if before else ''}"
        return self.watched.cached_for_run(name, lambda: change_in_words(before, versions[at]))

    async def _draw(self) -> None:
        whole_files = self.page.address.get("whole") == "1"
        (chosen, against), versions = self._chosen(), self._known
        if (chosen, against, whole_files, len(versions)) == self.drawn:
            return
        self.drawn = chosen, against, whole_files, len(versions)
        old, new = versions[against] if against else None, versions[chosen]
        texts = files_of(old, new)
        files = await asyncio.to_thread(
            lambda: {path: _lines(before, after, old is None, whole_files) for path, before, after in texts}
        )
        self._show_tools(chosen, against, whole_files)
        self.code.clear()
        with self.code:
            self._show_expressions(old, new)
            for path, lines in files.items():
                with ui.box("card source"):
                    with ui.box("table-head"):
                        ui.text(one_line(path, 100), "mono", "h3")
                    if any(line.sign != "…" for line in lines):
                        ui.Changes([_props(line) for line in lines], f"The source in {one_line(path, 100)}")
                    else:
                        ui.text("No line changed.", "soft quiet", "p")
            if not files:
                ui.text(
                    "There is no source: all functions in this reward are from installed packages, or an older "
                    "rewardkit recorded this run.",
                    "soft",
                    "p",
                )

    def _show_tools(self, chosen: str, against: str | None, whole_files: bool) -> None:
        self.tools.clear()
        with self.tools:
            ui.text(f"Version {chosen[:8]}", "", "h2")
            ui.text("compared with", "soft")
            other_versions = {name: name[:8] for name in self._known if name != chosen}
            ui.Choice(against or _NONE, {_NONE: "nothing", **other_versions}, self._compare, "Compare with")
            if against is not None:
                text = "Changes only" if whole_files else "Whole files"
                ui.button(text, lambda: self._go(whole=None if whole_files else "1"), "on" if whole_files else "")

    def _show_expressions(self, old: dict[str, Any] | None, new: dict[str, Any]) -> None:
        with ui.box("card source"):
            with ui.box("table-head"):
                ui.text("Expression", tag="h3")
            if old is None or old["reward"] == new["reward"]:
                ui.Text([(escape(new["reward"]), False)])
                return
            comparison = compare(escape(old["reward"]), escape(new["reward"]))
            ui.Text(comparison.left, "gone")
            ui.Text(comparison.right, "new")

    async def _choose(self, name: str) -> None:
        await self._go(version=name, against=None)

    async def _compare(self, name: str) -> None:
        await self._go(against=name)

    async def _go(self, **changes: str | None) -> None:
        self.page.note(self.page.address.with_state(**changes), step=True)
        await self.update()


def _lines(before: str, after: str, alone: bool, whole_files: bool) -> list[Line]:
    """Return the lines to show; if the version is shown `alone`, these are all lines, as unchanged lines."""
    return (
        changed_lines(after, after, None) if alone else changed_lines(before, after, *([None] if whole_files else []))
    )


def _props(line: Line) -> list[Any]:
    pieces = [[escape(text), changed] for text, changed in line.pieces]
    return [line.sign, line.old, line.new, pieces, line.count]
