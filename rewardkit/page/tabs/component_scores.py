"""The scores of two completions by component, with bars and notes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rewardkit.page import elements as put
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.reader import Completion
from rewardkit.page.scores import Scores
from rewardkit.page.style import color_of
from rewardkit.page.trials import ADVANTAGE, CHANGE, FLIP, NEW
from rewardkit.page.watcher import Watched

Bounds = dict[str, tuple[float, float]]


def bounds_of(watched: Watched) -> Bounds:
    """Return the range of the bars per component: its declared bounds, or the observed range."""
    return watched.cached("bounds", lambda: _bounds(watched))


def share_of(value: float, bounds: tuple[float, float]) -> tuple[float, float] | None:
    """Return the start and end of a bar, from 0 to 1. Bars of negative scores extend to the left of zero."""
    low, high = min(bounds[0], 0.0), max(bounds[1], 0.0)
    if not (high > low) or not np.isfinite(value):
        return None
    zero = -low / (high - low)
    end = min(max((value - low) / (high - low), 0.0), 1.0)
    return min(zero, end), max(zero, end)


def format_number(value: float, *, sign: bool = False) -> str:
    """Format a number as ``0.500``, without a minus sign for zero. Large numbers look like ``1e+300``."""
    if np.isnan(value):
        return "–"
    value = 0.0 if abs(value) < 0.0005 else value
    if abs(value) >= 1e6:
        return f"{value:+.3g}" if sign else f"{value:.3g}"
    return f"{value:+.3f}" if sign else f"{value:.3f}"


def build_scores(watched: Watched, *sides: tuple[int, Completion]) -> None:
    """Show a row per component: its name, then the score on each side."""
    build_scores_of(*((watched, row, completion) for row, completion in sides))


def build_scores_of(*sides: tuple[Watched, int, Completion]) -> None:
    """Show a row per component of the sides, which may be completions of different runs."""
    names = dict.fromkeys(name for watched, _, _ in sides for name in watched.components)
    for name in names:
        if not any(name in watched.scores.components for watched, _, _ in sides):
            continue
        color = color_of(name, list(names))
        with put.box("component", title=one_line(name)):
            put.box("swatch", "i").style(f"background: {color}")
            put.text(one_line(name, 60))
        for watched, row, completion in sides:
            values = watched.scores.components.get(name)
            with put.box():
                if values is None:
                    put.text("not in this run", "soft")
                else:
                    value, bounds = float(values[row]), bounds_of(watched)[name]
                    _one(watched.scores, name, row, value, bounds, color, completion)


def _one(
    scores: Scores, name: str, row: int, value: float, bounds: tuple[float, float], color: str, completion: Completion
) -> None:
    outcome = scores.outcome(name, row)
    with put.box("one"):
        put.text(format_number(value), "number")
        share = share_of(value, bounds)
        if share is not None:
            with put.box("track", "span"):
                width = 100 * (share[1] - share[0])
                if width:
                    place = f"left: {100 * share[0]:.1f}%; width: {width:.1f}%; background: {color}"
                    put.box("fill", "span").style(place)
        if outcome not in ("scored", ""):
            put.text(outcome, f"badge {'bad' if outcome in ('failed', 'errored') else 'warn'}")
        term = scores.terms.get(name)
        if term is not None and not np.isnan(term[row]):
            put.text(f"adds {format_number(float(term[row]), sign=True)}", "term")
    notes = [escape(completion.notes.get(name, "")[:4_000])]
    notes += [f"{one_line(part, 40)} {value:.4g}" for part, value in completion.parts.get(name, {}).items()]
    if any(notes):
        put.text(" · ".join(filter(None, notes)), "note", "div")


def _bounds(watched: Watched) -> Bounds:
    declared: dict[str, Any] = {}
    for version in watched.versions:
        try:
            declared |= {one["name"]: one["bounds"] for one in json.loads(version["components"])}
        except (ValueError, KeyError, TypeError):
            continue
    found: Bounds = {}
    for name, values in watched.scores.components.items():
        low, high = declared.get(name) or (None, None)
        known = values[~np.isnan(values)]
        seen = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        found[name] = (seen[0] if low is None else float(low), seen[1] if high is None else float(high))
    return found


# The columns and facts that a reward that is tried adds to tables and completions.


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
