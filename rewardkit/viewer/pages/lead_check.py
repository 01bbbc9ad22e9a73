"""A completion of a lead as a case for the check of the reward: one click labels it as an exploit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nicegui import ui

from rewardkit.core.errors import RewardKitError
from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.label_file import Label
from rewardkit.viewer.watcher import Watched

_EXPLOIT = "exploit"


class LeadCheck:
    """Buttons that label the completions of a lead, and the command that checks the reward with them.

    Args:
        rows: the completions, as rows of the scores in memory.
        note: what is noted about the label.
    """

    def __init__(self, watched: Watched, rows: Sequence[int], note: str) -> None:
        self.watched = watched
        self.rows = rows
        self.note = note
        self.frame = put.box("checks")
        self._fill()

    async def _toggle(self, row: int) -> None:
        labels = self.watched.labels
        if labels is None:
            return
        new = None if self._is_exploit(row) else Label(_EXPLOIT, self.note)
        try:
            await asyncio.to_thread(labels.put, row, new)
        except RewardKitError as error:
            ui.notify(escape(str(error)), type="negative")
            return
        self._fill()

    def _is_exploit(self, row: int) -> bool:
        label = None if self.watched.labels is None else self.watched.labels.by_row.get(row)
        return label is not None and label.label == _EXPLOIT

    def _fill(self) -> None:
        self.frame.clear()
        labels = self.watched.labels
        with self.frame:
            if labels is None:
                put.text("To check the reward with one of these completions, keep labels:", "soft")
                put.Command(f"rewardkit view {self.watched.path} --labels labels.jsonl")
                return
            put.text("Check this reward with completion", "soft")
            for number, row in enumerate(self.rows, start=1):
                pressed = self._is_exploit(row)
                title = "Remove the label" if pressed else "Label this completion as an exploit, for the next check"
                button = put.button(
                    str(number), lambda row=row: self._toggle(row), f"small exploit{' on' * pressed}", title
                )
                step = f"completion {number}, step {self.watched.scores.step[row]:,}"
                button.props.update({"aria-pressed": "true" if pressed else "false", "aria-label": f"{title}: {step}"})
            if any(map(self._is_exploit, self.rows)):
                put.Command(
                    f"rewardkit check FILE.py:REWARD --data {one_line(str(labels.file.path), 200)} --label is_good"
                )
