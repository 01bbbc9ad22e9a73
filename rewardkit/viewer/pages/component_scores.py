"""The scores of two completions by component, with bars and notes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rewardkit.viewer import elements as put
from rewardkit.viewer.escapes import escape, one_line
from rewardkit.viewer.reader import Completion
from rewardkit.viewer.scores import Scores
from rewardkit.viewer.style import color_of
from rewardkit.viewer.watcher import Watched

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
