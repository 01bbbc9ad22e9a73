"""What the demo reads out of the trainer's logs, by the prefixes under which `rk.to_trl` writes them."""

from __future__ import annotations

from collections.abc import Sequence

Metrics = dict[str, float]


def components(metrics: Metrics) -> dict[str, float]:
    """Raw means of the components; a component that no completion reached in a step is not among them."""
    return _under("components/", metrics)


def terms(metrics: Metrics) -> dict[str, float]:
    """What each term adds to the total, on average."""
    prefix, suffix = "rewards/", "/mean"
    return {
        key[len(prefix) : -len(suffix)]: value
        for key, value in metrics.items()
        if key.startswith(prefix) and key.endswith(suffix)
    }


def weights(metrics: Metrics) -> dict[str, float]:
    """The weights of the components right now."""
    return _under("weights/", metrics)


def gates(metrics: Metrics) -> dict[str, float]:
    """The share of completions that each gate lets through."""
    return _under("gates/", metrics)


def series(history: Sequence[dict[str, float]]) -> dict[str, tuple[list[float], list[float]]]:
    """Name to the steps at which it has a value, and the values. `history` is one mapping per step, in order."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for step, values in enumerate(history, start=1):
        for name, value in values.items():
            steps, line = lines.setdefault(name, ([], []))
            steps.append(float(step))
            line.append(value)
    return lines


def _under(prefix: str, metrics: Metrics) -> dict[str, float]:
    return {key[len(prefix) :]: value for key, value in metrics.items() if key.startswith(prefix)}
