"""Component scores for two completions, with bars and notes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rewardkit.page import ui
from rewardkit.page.escapes import escape, one_line
from rewardkit.page.scores import Floats
from rewardkit.page.style import color_of
from rewardkit.page.trials import ADVANTAGE, CHANGE, FLIP, NEW
from rewardkit.page.watcher import Watched
from rewardkit.record.queries import Completion

Bounds = dict[str, tuple[float, float]]


def bounds_of(watched: Watched) -> Bounds:
    """Return the range of each component's bars: the declared bounds, or the observed range if undeclared."""
    return watched.cached("bounds", lambda: _bounds(watched))


def share_of(value: float, bounds: tuple[float, float]) -> tuple[float, float] | None:
    """Return a bar's start and end, from 0 to 1. Bars for negative scores extend to the left of zero."""
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
    # Round to zero below half of the last decimal shown, because "-0.000" would look like a penalty.
    value = 0.0 if abs(value) < 0.0005 else value
    # Larger numbers would not fit into the cell.
    if abs(value) >= 1e6:
        return f"{value:+.3g}" if sign else f"{value:.3g}"
    return f"{value:+.3f}" if sign else f"{value:.3f}"


def bar(value: float, bounds: tuple[float, float], outcome: str = "scored") -> dict[str, Any] | None:
    """Return a score's table cell: a number with a bar, or the outcome if there is no score."""
    if not np.isnan(value):
        tone = "bad" if outcome == "errored" else ""
        return {"text": format_number(value), "share": share_of(value, bounds), "tone": tone}
    tone = "bad" if outcome in ("failed", "errored") else "soft"
    return {"text": outcome, "share": None, "tone": tone} if outcome else None


def observed(values: Floats) -> tuple[float, float]:
    """Return the range of the finite values; 0 to 1 if there are none."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)


def build_scores(*sides: tuple[Watched, int, Completion]) -> None:
    """Show one row per component: the name and each side's score. The sides may be from different runs."""
    names = list(dict.fromkeys(name for watched, _, _ in sides for name in watched.components))
    for name in names:
        if not any(name in watched.scores.components for watched, _, _ in sides):
            continue
        color = color_of(name, names)
        with ui.box("component", title=one_line(name)):
            ui.swatch(color)
            ui.text(one_line(name, 60))
        for watched, row, completion in sides:
            with ui.box():
                if name in watched.scores.components:
                    _build_score(watched, name, row, color, completion)
                else:
                    ui.text("not in this run", "soft")


def _build_score(watched: Watched, name: str, row: int, color: str, completion: Completion) -> None:
    scores = watched.scores
    value, outcome = float(scores.components[name][row]), scores.outcome(name, row)
    with ui.box("one"):
        ui.text(format_number(value), "number")
        share = share_of(value, bounds_of(watched)[name])
        if share is not None:
            ui.track(*share, color)
        if outcome not in ("scored", ""):
            ui.text(outcome, f"badge {'bad' if outcome in ('failed', 'errored') else 'warn'}")
        term = scores.terms.get(name)
        if term is not None and not np.isnan(term[row]):
            ui.text(f"adds {format_number(float(term[row]), sign=True)}", "term")
    # Arbitrary limit: a judge's note is shorter.
    notes = [escape(completion.notes.get(name, "")[:4_000])]
    notes += [f"{one_line(part, 40)} {value:.4g}" for part, value in completion.parts.get(name, {}).items()]
    if any(notes):
        ui.text(" · ".join(filter(None, notes)), "note", "div")


def _bounds(watched: Watched) -> Bounds:
    declared = watched.declared
    bounds: Bounds = {}
    for name, values in watched.scores.components.items():
        low, high = declared.get(name, {}).get("bounds") or (None, None)
        lowest, highest = observed(values)
        bounds[name] = (lowest if low is None else float(low), highest if high is None else float(high))
    return bounds


# The columns and facts that a reward on trial adds to tables and completions.


def tried_columns(watched: Watched) -> list[dict[str, Any]]:
    """Return the additional columns for a table of completions; empty if there is no reward on trial."""
    if watched.trial is None:
        return []
    about_new, about_flip = "new: the total of the reward on trial", "flip: the sign of the advantage changes"
    return [
        ui.column(NEW, "New", "bar", sortable=True, color="var(--accent)", title=about_new),
        ui.column(FLIP, "Flip", "badge", sortable=True, title=about_flip),
    ]


def tried_cells(watched: Watched, row: int) -> dict[str, Any]:
    """Return a completion's cells for the columns from `tried_columns`."""
    trial, trial_columns = watched.trial, watched.scores.tried
    if trial is None or NEW not in trial_columns:
        return {}
    errors = {} if trial.found is None else trial.found.errors
    value, change = float(trial_columns[NEW][row]), float(trial_columns[CHANGE][row])
    new: dict[str, Any] | None = None
    if row in errors:
        new = {"text": "failed", "share": None, "tone": "bad", "title": errors[row]}
    elif not np.isnan(value):
        title = None if np.isnan(change) else f"{format_number(change, sign=True)} of the recorded total"
        new = {**(bar(value, observed(trial_columns[NEW])) or {}), "title": title}
    return {NEW: new, FLIP: flip_of(watched, row)}


def flip_of(watched: Watched, row: int) -> dict[str, str] | None:
    """Return a badge if the reward on trial flips the advantage's sign; otherwise, None."""
    trial_columns = watched.scores.tried
    if FLIP not in trial_columns or trial_columns[FLIP][row] != 1.0:
        return None
    rewarded = trial_columns[ADVANTAGE][row] > 0.0
    return {"text": "− → +" if rewarded else "+ → −", "tone": "good" if rewarded else "bad"}


class TriedFacts:
    """A line with a completion's scores under the reward on trial."""

    def __init__(self, watched: Watched, row: int) -> None:
        self.watched = watched
        self.row = row
        self.frame = ui.box("score tried")
        self.update()

    def update(self) -> None:
        """Show the scores that are currently available."""
        trial, trial_columns, row = self.watched.trial, self.watched.scores.tried, self.row
        is_shown = trial is not None and NEW in trial_columns
        self.frame.clear()
        self.frame.set_visibility(is_shown)
        if trial is None or not is_shown:
            return
        errors = {} if trial.found is None else trial.found.errors
        with self.frame:
            ui.text("new", "soft")
            if row in errors:
                ui.text("failed", "badge bad", title=errors[row])
                return
            ui.text(format_number(float(trial_columns[NEW][row])), tag="b", title="The total of the reward on trial")
            numbers = {"change": trial_columns[CHANGE][row], "advantage": trial_columns[ADVANTAGE][row]}
            ui.facts({name: format_number(float(number), sign=True) for name, number in numbers.items()})
            flip = flip_of(self.watched, row)
            if flip is not None:
                ui.text(f"sign flips: {flip['text']}", f"badge {flip['tone']}")
