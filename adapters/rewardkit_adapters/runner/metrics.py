"""Read metrics from a trainer's log, based on the prefixes that `rk.to_trl` writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Metrics = dict[str, float]


def history(log: Sequence[Mapping[str, Any]]) -> list[Metrics]:
    """Return the log entries that contain a reward (from ``trainer.state.log_history``), in order."""
    return [row for row in map(numbers, log) if "reward" in row and "step" in row]


def numbers(entry: Mapping[str, Any]) -> Metrics:
    """Return the finite numbers in a log entry."""
    values = {name: float(value) for name, value in entry.items() if isinstance(value, (int, float))}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def components(metrics: Metrics) -> dict[str, float]:
    """Return the raw component means. Components that no completion reached are omitted."""
    return _under("components/", metrics)


def terms(metrics: Metrics) -> dict[str, float]:
    """Return each term's mean contribution to the total.

    With ``outputs="components"``, the contributions are logged under ``contributions/``.
    """
    prefix, suffix = "rewards/", "/mean"
    return _under("contributions/", metrics) or {
        key[len(prefix) : -len(suffix)]: value
        for key, value in metrics.items()
        if key.startswith(prefix) and key.endswith(suffix)
    }


def weights(metrics: Metrics) -> dict[str, float]:
    """Return the current component weights."""
    return _under("weights/", metrics)


def gates(metrics: Metrics) -> dict[str, float]:
    """Return the share of completions that pass each gate."""
    return _under("gates/", metrics)


def series(
    history: Sequence[Metrics], read: Callable[[Metrics], dict[str, float]]
) -> dict[str, tuple[list[float], list[float]]]:
    """Return, for each number by name, the steps at which it has a value, and these values.

    Args:
        history: one mapping per step, in order.
        read: a function that selects the numbers for a step, such as `components`."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in history:
        for name, value in read(row).items():
            steps, line = lines.setdefault(name, ([], []))
            steps.append(row["step"])
            line.append(value)
    return lines


def _under(prefix: str, metrics: Metrics) -> dict[str, float]:
    return {key[len(prefix) :]: value for key, value in metrics.items() if key.startswith(prefix)}
