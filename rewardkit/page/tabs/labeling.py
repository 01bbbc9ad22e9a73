"""Labels on the page: a bar below each of the two completions and a line below the prompt list."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from rewardkit.errors import RewardKitError
from rewardkit.page import ui
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.exports import file_name
from rewardkit.page.label_file import LABELS, Label, Line
from rewardkit.page.labels import Labels, calibration_data_of, examples_of, regressions_of
from rewardkit.page.watcher import Watched

KEYS = {"y": "good", "w": "bad", "x": "exploit"}
"""The keyboard key for each label. With Shift, the key labels the completion on the right."""
_READ_ONLY = "Read-only. To label completions: rewardkit view … --labels labels.jsonl"
_KEY_OF = {label: key for key, label in KEYS.items()}


def label_columns(watched: Watched) -> list[dict[str, Any]]:
    """Return the label column for a table of completions; empty if the run does not have labels."""
    return [ui.column("label", "Label", "badge")] if watched.labels is not None and len(watched.labels) else []


def label_cells(watched: Watched, row: int) -> dict[str, Any]:
    """Return a completion's cell for the label column, with the note as a tooltip."""
    label = None if watched.labels is None else watched.labels.by_row.get(row)
    if label is None:
        return {"label": ""}
    return {"label": {"text": label.label, "tone": label.label, "title": one_line(label.note, 500)}}


async def put_label(labels: Labels, row: int, label: Label | None) -> bool:
    """Label a completion, or remove its label if `label` is None; show any error, and return whether this succeeded."""
    try:
        await asyncio.to_thread(labels.put, row, label)
    except RewardKitError as error:
        ui.notify(escape(str(error)), type="negative")
        return False
    return True


class LabelBar:
    """Buttons for a completion's label, and a field for the note. Calls `changed` after a change."""

    def __init__(self, watched: Watched, side: str, row: int, changed: Callable[[], Awaitable[None]]) -> None:
        self.watched = watched
        self.side = side
        self.row = row
        self.changed = changed
        self._shown: Label | None = None
        self.frame = ui.box("labels")
        self._fill()

    def refresh(self) -> None:
        """Rebuild the bar only if the label has changed, so that the note does not lose the focus otherwise."""
        if self._label != self._shown:
            self._fill()

    async def toggle(self, name: str) -> None:
        """Give the completion the label `name`; if it already has this label, remove the label."""
        now = self._label
        removed = now is not None and now.label == name
        await self._put(None if removed else Label(name, "" if now is None else now.note))

    async def note(self, text: str) -> None:
        """Change the label's note."""
        now = self._label
        if now is not None and text != now.note:
            await self._put(Label(now.label, text))

    @property
    def _label(self) -> Label | None:
        labels = self.watched.labels
        return None if labels is None else labels.of(self.watched.scores.key(self.row))

    async def _put(self, label: Label | None) -> None:
        labels = self.watched.labels
        if labels is not None and await put_label(labels, self.row, label):
            await self.changed()

    def _fill(self) -> None:
        label = self._shown = self._label
        self.frame.clear()
        with self.frame:
            for name in LABELS:
                key = _KEY_OF[name] if self.side == "left" else f"Shift+{_KEY_OF[name]}"
                pressed = label is not None and label.label == name
                title = f"Remove the label ({key})" if pressed else f"Label this completion as {name} ({key})"
                button = ui.toggle(name, pressed, partial(self.toggle, name), name, title)
                button.props["aria-label"] = name
            if label is not None:
                field = ui.Field(label.note, self.note, "Note", tooltip="A note on the label (e)", late=True)
                field.classes("note")


class LabelLine:
    """A line with the number of labels, a link to the labels, and downloads; or a note that the page is read-only."""

    def __init__(self, watched: Watched, find: Callable[[str], Awaitable[None]]) -> None:
        self.watched = watched
        self.find = find
        self.frame = ui.box("labels-line")
        self._shown: object = None
        self.refresh()

    def refresh(self) -> None:
        labels = self.watched.labels
        state = None if labels is None else (len(labels), labels.file.problem)
        if state == self._shown and self._shown is not None:
            return
        self._shown = state
        self.frame.clear()
        with self.frame:
            if labels is None:
                ui.text(_READ_ONLY, "soft")
                return
            if labels.file.problem:
                ui.text(one_line(labels.file.problem, 300), "complaint", "div")
            if not len(labels):
                ui.text("No labels yet: choose good, bad, or exploit for a completion", "soft")
                return
            count = f"{len(labels):,} label{'' if len(labels) == 1 else 's'}"
            ui.button(count, lambda: self.find("label!=none"), "small", "Find the prompts with labels")
            ui.box("space")
            ui.text("Save", "soft")
            about_labels = "The labels of this run, for calibrate or check --data"
            about_examples = "Good and bad completions, for check --examples"
            about_exploits = "Regression cases, for check --regressions and diff"
            ui.button(
                "labels", lambda: self._save(calibration_data_of(labels.lines()), "labels"), "small", about_labels
            )
            ui.button("examples", lambda: self._save(examples_of(labels.lines()), "examples"), "small", about_examples)
            ui.button("exploits", lambda: self._save_exploits(labels.lines()), "small", about_exploits)

    def _save_exploits(self, lines: list[Line]) -> None:
        cases, lacking = regressions_of(lines)
        if lacking:
            ui.notify(
                f"{lacking} exploit{'' if lacking == 1 else 's'} skipped: a case needs a correct completion for the "
                "same prompt. Label one as good",
                type="warning",
            )
        if cases:
            self._save(cases, "exploits")
        elif not lacking:
            ui.notify("No completion is labeled as an exploit", type="warning")

    def _save(self, text: str, kind: str) -> None:
        ui.download(text.encode("utf-8", "backslashreplace"), f"{file_name(self.watched.name, kind)}.jsonl")
