"""The columns and facts that a reward that is tried adds to tables and completions."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.pages.component_scores import format_number, share_of
from rewardkit.viewer.tried import ADVANTAGE, CHANGE, FLIP, NEW
from rewardkit.viewer.watcher import Watched


def tried_columns(watched: Watched) -> list[dict[str, Any]]:
    """Return the columns of a table of completions; none if no reward is tried."""
    if watched.trial is None:
        return []
    return [
        {
            "name": NEW,
            "label": "New",
            "kind": "bar",
            "sortable": True,
            "color": "var(--accent)",
            "title": "new: the total of the reward that is tried",
        },
        {
            "name": FLIP,
            "label": "Flip",
            "kind": "badge",
            "sortable": True,
            "title": "flip: the sign of the advantage changes",
        },
    ]


def tried_cells(watched: Watched, row: int) -> dict[str, Any]:
    """Return the cells of a completion in these columns."""
    trial, tried = watched.trial, watched.scores.tried
    if trial is None or NEW not in tried:
        return {}
    errors = {} if trial.found is None else trial.found.errors
    value, change = float(tried[NEW][row]), float(tried[CHANGE][row])
    new: dict[str, Any] | None = None
    if row in errors:
        new = {"text": "failed", "share": None, "tone": "bad", "title": errors[row]}
    elif not np.isnan(value):
        low, high = _extremes(watched)
        title = None if np.isnan(change) else f"{format_number(change, sign=True)} of the recorded total"
        new = {"text": format_number(value), "share": share_of(value, (low, high)), "tone": "", "title": title}
    return {NEW: new, FLIP: flip_of(watched, row)}


def flip_of(watched: Watched, row: int) -> dict[str, str] | None:
    """Return a badge that says how the sign of an advantage changes; None if it does not."""
    tried = watched.scores.tried
    if FLIP not in tried or tried[FLIP][row] != 1.0:
        return None
    rewarded = tried[ADVANTAGE][row] > 0.0
    return {"text": "− → +" if rewarded else "+ → −", "tone": "good" if rewarded else "bad"}


class TriedFacts:
    """What the reward that is tried gives a completion."""

    def __init__(self, watched: Watched, row: int) -> None:
        self.watched = watched
        self.row = row
        self.frame = put.box("score tried")
        self.update()

    def update(self) -> None:
        """Show what is known by now."""
        trial, tried, row = self.watched.trial, self.watched.scores.tried, self.row
        shown = trial is not None and NEW in tried
        self.frame.clear()
        self.frame.set_visibility(shown)
        if trial is None or not shown:
            return
        errors = {} if trial.found is None else trial.found.errors
        with self.frame:
            put.text("new", "soft")
            if row in errors:
                put.text("failed", "badge bad", title=errors[row])
                return
            put.text(format_number(float(tried[NEW][row])), tag="b", title="The total of the reward that is tried")
            for name, values in (("change", tried[CHANGE]), ("advantage", tried[ADVANTAGE])):
                with put.box(tag="span"):
                    put.text(f"{name} ")
                    put.text(format_number(float(values[row]), sign=True), tag="i")
            flip = flip_of(self.watched, row)
            if flip is not None:
                put.text(f"sign flips: {flip['text']}", f"badge {flip['tone']}")


def _extremes(watched: Watched) -> tuple[float, float]:
    values = watched.scores.tried[NEW]
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
