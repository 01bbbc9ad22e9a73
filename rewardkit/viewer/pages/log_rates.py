"""What calling each component came to: errors, failures, slow calls, and how long its calls took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rewardkit.viewer.escapes import one_line
from rewardkit.viewer.reader import Latency, latencies, log_rates
from rewardkit.viewer.scores import OUTCOMES
from rewardkit.viewer.watcher import Watched

_NUMBER = {"kind": "number"}
COLUMNS: list[dict[str, Any]] = [
    {"name": "component", "label": "Component", "kind": "soft"},
    {"name": "calls", "label": "Completions", **_NUMBER, "title": "Completions that it was asked to score"},
    {
        "name": "errors",
        "label": "Errors",
        "kind": "bar",
        "color": "var(--bad)",
        "title": "Completions for which its code raised an exception or returned an invalid score, and their share",
    },
    {
        "name": "failures",
        "label": "Failures",
        "kind": "bar",
        "color": "var(--warn)",
        "title": "Completions whose score could not be computed, for example because a judge was down or a worker was "
        "killed, and their share",
    },
    {
        "name": "slow",
        "label": "Slow",
        "kind": "bar",
        "color": "var(--warn)",
        "title": "Calls that took above 0.1 s and five times as long as most: the slowest five of each batch",
    },
    {"name": "median", "label": "Median", **_NUMBER, "title": "Half of the calls of its function took less time"},
    {"name": "most", "label": "p95", **_NUMBER, "title": "95 % of the calls of its function took less time"},
    {"name": "slowest", "label": "Slowest", **_NUMBER, "title": "The slowest call of its function"},
    {"name": "seconds", "label": "Per batch", **_NUMBER, "title": "The mean time of a batch"},
    {"name": "lines", "label": "Lines", **_NUMBER, "title": "The number of lines printed and logged"},
]


def rows(watched: Watched, selected: str) -> list[dict[str, Any]]:
    """Return a row of the table for each component."""
    lines = watched.cached("log rates", lambda: log_rates(watched.run))
    took = watched.cached("latencies", lambda: latencies(watched.run))
    found = []
    for name in watched.components:
        codes = watched.scores.outcomes.get(name)
        if codes is not None:
            counts = np.bincount(codes, minlength=len(OUTCOMES) + 1)
            cells = _cells(watched, name, counts, lines.get(name, {}), took.get(name))
            found.append({"key": name, "cells": cells, "selected": name == selected})
    return found


def asked(counts: Any) -> int:
    """Return how many completions a component was asked to score, given the number of each outcome."""
    return int(counts[: len(OUTCOMES)].sum() - counts[OUTCOMES.index("skipped")])


def _cells(
    watched: Watched, name: str, counts: Any, lines: Mapping[str, float], took: Latency | None
) -> dict[str, Any]:
    calls = asked(counts)
    slowest = lines.get("slowest") if took is None else took.slowest
    batch = watched.metrics.training.get(f"seconds/{name}")
    return {
        "component": one_line(name, 50),
        "calls": f"{calls:,}",
        "errors": _rate(int(counts[OUTCOMES.index("errored")]), calls),
        "failures": _rate(int(counts[OUTCOMES.index("failed")]), calls),
        "slow": _rate(int(lines.get("slow", 0)), calls),
        "median": None if took is None else spoken(took.median),
        "most": None if took is None else spoken(took.most),
        "slowest": spoken(slowest) if slowest else None,
        "seconds": None if batch is None else spoken(float(np.mean(batch[1]))),
        "lines": f"{lines.get('lines', 0):,.0f}",
    }


def _rate(count: int, calls: int) -> dict[str, Any] | None:
    if not calls:
        return None
    share = count / calls
    text = f"{count:,} · {percent(share)}" if count else "0"
    return {"text": text, "share": (0.0, min(share, 1.0)), "tone": "" if count else "soft"}


def percent(share: float) -> str:
    """Return a share as a text that is 0 only if there is none: ``0.00004`` is ``"<0.01 %"``."""
    return "<0.01 %" if 0 < share < 0.0001 else f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.0f} %"


def spoken(seconds: float) -> str:
    """Return a duration with its unit: ``"45 µs"``, ``"1.2 ms"``, ``"3.4 s"``."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1.0 or unit == "µs":
            return f"{seconds * scale:.2g} {unit}" if seconds * scale < 10 else f"{seconds * scale:,.0f} {unit}"
    raise AssertionError
