"""What a search would have found while the run was going on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rewardkit.alerts import Alert, Evidence
from rewardkit.analyze.permuted_golds import ForeignScores


def strengths(alerts: Iterable[Alert]) -> dict[str, float]:
    """Return the strongest alert of each kind: kind -> strength."""
    found: dict[str, float] = {}
    for alert in alerts:
        if alert.strength > 0.0:
            found[alert.kind] = max(round(alert.strength, 3), found.get(alert.kind, 0.0))
    return found


def until(evidence: Evidence, cut: int) -> Evidence:
    """Return the rows of the steps before `cut`."""
    gates = {name: (steps[steps < cut], rates[steps < cut]) for name, (steps, rates) in evidence.gates.items()}
    return replace(_part(evidence, np.flatnonzero(np.asarray(evidence.steps) < cut)), gates=gates)


def sampled(evidence: Evidence) -> Evidence:
    """Return the rows that the radar scored again while the training ran: nearly all that it saw."""
    known = np.zeros(len(evidence.steps)) if evidence.foreign is None else np.isfinite(evidence.foreign.foreign)
    return replace(_part(evidence, np.flatnonzero(known)), gates={})


def _part(evidence: Evidence, rows: NDArray[np.int64]) -> Evidence:
    size = len(evidence.steps)

    def taken(value: object) -> object:
        if isinstance(value, np.ndarray) and len(value) == size:
            return value[rows]
        if isinstance(value, ForeignScores):
            return ForeignScores(*(one[rows] for one in value))
        if callable(value):
            return lambda asked: value(rows[asked])
        if isinstance(value, dict) and value and all(isinstance(one, np.ndarray) for one in value.values()):
            return {name: one[rows] for name, one in value.items()}
        return value

    parts = {name: taken(getattr(evidence, name)) for name in evidence.__dataclass_fields__}
    return Evidence(**parts)  # type: ignore[arg-type]
