"""Chart specs for the browser from panels: smoothed, cut to the visible steps, and downsampled to the graph's width.

``spec_of([("first", panel)], components, smoothing=0.6)["lines"][0]["y"]`` is a list of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rewardkit.page.curves import Line, Panel, smoothed, thinned
from rewardkit.page.escapes import one_line
from rewardkit.page.scores import Floats
from rewardkit.page.style import COLORS, color_of

POINTS = 250
"""The maximum number of points per line, based on a graph's width in pixels."""
_LINES = 24
"""The maximum number of lines per graph. The limit is arbitrary: more lines cannot be distinguished by color."""
_TOLD = 8
"""The maximum number of lines in the text alternative. The limit is arbitrary, but the text must be short enough to
listen to."""
_DASHES = ("solid", "dashed", "dotted")

Range = tuple[float, float]


def spec_of(
    runs: Sequence[tuple[str, Panel]],
    components: Sequence[str],
    *,
    smoothing: float = 0.0,
    zoom: Range | None = None,
    extent: Range | None = None,
    marks: Sequence[tuple[int, str]] = (),
    areas: Sequence[tuple[int, int, str, str]] = (),
) -> dict[str, Any]:
    """Return the spec for `browser/rewardkit_chart.js`: the same panel for one or more runs.

    Args:
        zoom: the first and last step that the user has zoomed to.
        extent: the first and last step in all graphs, so that they share an axis.
        areas: step ranges to shade: first step, last step, label, and CSS color.
    """
    first = runs[0][1]
    several = len(runs) > 1
    lines: list[dict[str, Any]] = []
    steps: list[list[float | None]] = []
    count = sum(len(panel.lines) for _, panel in runs)
    for number, (run, panel) in enumerate(runs):
        for line in panel.lines[: _LINES - len(lines)]:
            x, drawn = _line(line, 0.0 if panel.exact else smoothing, zoom, band=not several, raw=count == 1)
            if x not in steps:
                steps.append(x)
            drawn["steps"] = steps.index(x)
            drawn["named"] = bool(line.color)
            drawn["by"] = line.by or line.color
            drawn["name"] = drawn["line"] = one_line(line.name, 60)
            drawn["color"] = color_of(line.color, components)
            drawn["dash"] = _DASHES[min(number, 2)] if several else _dash(line)
            if several:
                drawn["run"] = one_line(run, 40)
                drawn["name"] = f"{drawn['run']}: {drawn['line']}"
                if not line.color:
                    drawn["color"] = series_color(number)
            lines.append(drawn)
    return {
        "title": one_line(first.title, 80),
        "unit": first.unit,
        "steps": steps,
        "lines": lines,
        "left_out": count - len(lines),
        "range": list(zoom or extent or (None, None)),
        "zoomed": zoom is not None,
        "areas": [list(area) for area in areas],
        "summary": summary_of(lines, steps, first.unit),
        "marks": [[step, one_line(name[:8])] for step, name in marks],
        "zero": first.key in ("outcomes", "flat", "seconds"),
    }


def extent_of(panels: Iterable[Panel]) -> Range | None:
    """Return the first and last step in all lines, or None if there are fewer than two steps."""
    ends = [end for panel in panels for line in panel.lines if len(line.x) for end in (line.x[0], line.x[-1])]
    return (float(min(ends)), float(max(ends))) if len(set(ends)) > 1 else None


def summary_of(lines: Sequence[Mapping[str, Any]], steps: Sequence[Sequence[float | None]], unit: str) -> str:
    """Return a graph as text for readers who cannot see it."""
    phrases = [_line_summary(line, steps[line["steps"]], unit) for line in lines[:_TOLD]]
    rest = [f"and {len(lines) - _TOLD} more lines"] if len(lines) > _TOLD else []
    return "; ".join([*filter(None, phrases), *rest])


def _line_summary(line: Mapping[str, Any], steps: Sequence[float | None], unit: str) -> str:
    points = [(x, y) for x, y in zip(steps, line["y"], strict=True) if x is not None and y is not None]
    if not points:
        return ""
    values = [y for _, y in points]
    (first, start), (last, end) = points[0], points[-1]
    labels = {y: f"{100 * y:.3g}%" if unit == "share" else f"{y:,.4g}" for y in (start, end, min(values), max(values))}
    if len(points) == 1:
        return f"{line['name']}: {labels[start]} at step {first:,.0f}"
    return (
        f"{line['name']}: from {labels[start]} at step {first:,.0f} to {labels[end]} at step {last:,.0f}, "
        f"between {labels[min(values)]} and {labels[max(values)]}"
    )


def _dash(line: Line) -> str:
    return "dotted" if line.dotted else "dashed" if line.dashed else "solid"


def series_color(number: int) -> str:
    """Return the color for run `number` in a graph with several runs."""
    return f"var(--series-{1 + number % COLORS})"


def _line(
    line: Line, smoothing: float, zoom: Range | None, *, band: bool, raw: bool
) -> tuple[list[float | None], dict[str, Any]]:
    """Return a line's steps and values: `y`, and optionally a `band` and the `raw` values before smoothing."""
    columns = {"y": smoothed(line.y, smoothing)}
    if band and line.low is not None and line.high is not None:
        columns |= {"low": smoothed(line.low, smoothing), "high": smoothed(line.high, smoothing)}
    if smoothing and raw:
        columns["raw"] = line.y
    x = line.x
    if zoom is not None:
        inside = np.flatnonzero((x >= zoom[0]) & (x <= zoom[1]))
        # Keep one point beyond each end, so that lines reach the edges.
        cut = slice(max(inside[0] - 1, 0), inside[-1] + 2) if len(inside) else slice(0, 0)
        x, columns = x[cut], {name: values[cut] for name, values in columns.items()}
    x, thin = thinned(x, list(columns.values()), POINTS)
    drawn: dict[str, Any] = {name: _plain(values) for name, values in zip(columns, thin, strict=True)}
    if "low" in drawn:
        drawn["band"] = [drawn.pop("low"), drawn.pop("high")]
    return _plain(x), drawn


def _plain(values: Floats) -> list[float | None]:
    """Return `values` for JSON, rounded to the visible digits, with None for non-finite numbers."""
    finite = np.isfinite(values)
    largest = float(np.abs(values[finite]).max()) if finite.any() else 0.0
    # Five significant digits: no screen shows more, and the message to the browser is shorter.
    digits = 5 - int(np.ceil(np.log10(largest))) if largest > 0 else 0
    rounded = np.round(values, min(max(digits, 0), 15))
    return [value if sound else None for value, sound in zip(rounded.tolist(), finite.tolist(), strict=True)]


def rows_of(runs: Sequence[tuple[str, Panel]]) -> tuple[list[str], list[list[Any]]]:
    """Return all points in a panel as a table with one row per step and one column per line."""
    named: list[tuple[str, Floats, Floats]] = []
    for run, panel in runs:
        prefix = f"{run}: " if len(runs) > 1 else ""
        for line in panel.lines:
            named.append((f"{prefix}{line.name}", line.x, line.y))
            if line.low is not None and line.high is not None:
                named += [
                    (f"{prefix}{line.name} (low)", line.x, line.low),
                    (f"{prefix}{line.name} (high)", line.x, line.high),
                ]
    steps = np.unique(np.concatenate([x for _, x, _ in named])) if named else np.empty(0)
    table = np.full((len(steps), len(named)), np.nan)
    for column, (_, x, y) in enumerate(named):
        table[np.searchsorted(steps, x), column] = y
    rows = [[int(step), *values] for step, values in zip(steps.tolist(), table.tolist(), strict=True)]
    return ["step", *(name for name, _, _ in named)], rows
