"""The tables of the list of runs: one for each set of components, so that its columns mean the same in every row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.viewer.addresses import Address
from rewardkit.viewer.curves import Line, thinned
from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.pages.component_scores import format_number
from rewardkit.viewer.style import color_of
from rewardkit.viewer.summaries import LAST, Summary

Names = tuple[str, ...]

_COMPONENTS = 5
_POINTS = 48
_OF_COMPONENT = "component/"
_FALLING = ("total", "steps", "completions", "seen")
"""Columns whose highest value comes first when they are sorted."""


def grouped(names: Sequence[str], summaries: Mapping[str, Summary]) -> dict[Names, list[str]]:
    """Return the runs by the names of their components; runs without any, and those not read yet, come last."""
    found: dict[Names, list[str]] = {}
    for name in names:
        summary = summaries.get(name)
        known = () if summary is None else tuple(sorted(one for one, _ in summary.components))
        found.setdefault(known, []).append(name)
    return {known: found[known] for known in sorted(found, key=lambda known: not known)}


def starts_falling(column: str) -> bool:
    """Return whether the first click on a column shows its highest value first."""
    return column in _FALLING or column.startswith(_OF_COMPONENT)


def in_order(names: Sequence[str], summaries: Mapping[str, Summary], column: str, descending: bool) -> list[str]:
    """Return the runs sorted by a column. Runs without a value keep their order, at the end."""
    value = _value_of(column)
    known = [name for name in names if name in summaries and value(name, summaries[name]) is not None]
    known.sort(key=lambda name: value(name, summaries[name]), reverse=descending)
    return [*known, *(name for name in names if name not in set(known))]


def _value_of(column: str) -> Callable[[str, Summary], Any]:
    if column.startswith(_OF_COMPONENT):
        component = column.removeprefix(_OF_COMPONENT)
        return lambda _, summary: _known(dict(summary.components).get(component))
    return {
        "state": lambda _, summary: summary.state or "broken",
        "steps": lambda _, summary: summary.last_step,
        "completions": lambda _, summary: summary.completions if not summary.problem else None,
        "total": lambda _, summary: _known(summary.last_total),
        "seen": lambda _, summary: summary.written if summary.written != "never" else None,
    }.get(column, lambda name, _: name)


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def columns_of(components: Names) -> list[dict[str, Any]]:
    """Return the columns of the table of the runs with these components."""
    left = len(components) - _COMPONENTS
    others = f"More components: {one_line(', '.join(components[_COMPONENTS:]), 300)}"
    return [
        {"name": "selected", "label": "", "kind": "check", "width": "30px"},
        {"name": "name", "label": "Run", "kind": "link", "sortable": True, "width": "24%"},
        {"name": "state", "label": "State", "kind": "badge", "sortable": True, "width": "110px"},
        {
            "name": "steps",
            "label": "Last step",
            "kind": "number",
            "width": "86px",
            "sortable": True,
            "title": "As counted by the trainer, which may start at 0. Then a run of 20 steps ends with step 19.",
        },
        {"name": "completions", "label": "Completions", "kind": "number", "sortable": True, "width": "106px"},
        {"name": "curve", "label": "Total", "kind": "spark", "title": "The total of all training steps"},
        {
            "name": "total",
            "label": f"Last {LAST} steps",
            "kind": "number",
            "sortable": True,
            "title": "The mean total",
            "width": "106px",
        },
        *(
            {
                "name": f"{_OF_COMPONENT}{name}",
                "label": one_line(name, 22),
                "kind": "number",
                "sortable": True,
                "color": color_of(name, components),
                "swatch": True,
                "title": f"{one_line(name)}: the mean of the last {LAST} steps",
            }
            for name in components[:_COMPONENTS]
        ),
        *([{"name": "more", "label": f"+{left} more", "kind": "soft", "title": others}] if left > 0 else []),
        {"name": "seen", "label": "Last written", "kind": "number", "sortable": True},
    ]


def row_of(name: str, summary: Summary | None, components: Names, selected: bool) -> dict[str, Any]:
    """Return the row of a run."""
    link = {"text": one_line(name, 80), "href": Address(name, "graphs").url}
    if summary is None:
        return {
            "key": name,
            "cells": {"selected": selected, "name": link, "state": {"text": "reading …", "tone": ""}},
        }
    if summary.problem:
        link["sub"] = one_line(summary.problem, 400)
        return {"key": name, "cells": {"selected": False, "name": link, "state": {"text": "broken", "tone": "bad"}}}
    means = dict(summary.components)
    cells = {
        "selected": selected,
        "name": {**link, "sub": one_line(summary.title, 100)},
        "state": {"text": summary.state, "tone": summary.state},
        "steps": None if summary.last_step is None else f"{summary.last_step:,}",
        "completions": f"{summary.completions:,}",
        "curve": None if summary.total is None else _spark(summary.total),
        "total": _format(summary.last_total),
        "seen": summary.written,
        **{f"{_OF_COMPONENT}{one}": _format(means.get(one)) for one in components[:_COMPONENTS]},
        "more": _format_means(means, components[_COMPONENTS:]),
    }
    return {"key": name, "cells": cells}


def _spark(line: Line) -> dict[str, Any] | None:
    """Return a curve as points from 0 to 1, and what it says in words."""
    kept = np.isfinite(line.y)
    if kept.sum() < 2:
        return None
    steps, (values,) = thinned(line.x[kept], [line.y[kept]], _POINTS)
    low, high = float(values.min()), float(values.max())
    across = (steps - steps[0]) / max(steps[-1] - steps[0], 1.0)
    up = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    said = f"Total of {len(line.x):,} steps: first {format_number(float(values[0]))}, "
    said += f"last {format_number(float(values[-1]))}, from {format_number(low)} to {format_number(high)}"
    return {"points": np.round(np.stack([across, up], axis=1), 4).tolist(), "text": said}


def _format_means(means: Mapping[str, float | None], names: Sequence[str]) -> str:
    """Return names with their means: ``"form 0.120, answer 0.900"``."""
    pairs = [f"{name} {format_number(value)}" for name in names if (value := means.get(name)) is not None]
    return one_line(", ".join(pairs), 80)


def _format(value: float | None) -> str | None:
    return None if value is None else format_number(value)
