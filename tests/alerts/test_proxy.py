"""A total that rises far more than a monitored truth is an alert, and one that the truth follows is none."""

from __future__ import annotations

import numpy as np
import pytest

from rewardkit.alerts import Evidence, suspicious
from rewardkit.batch.column import Floats

STEPS, ROWS = 60, 48


def strength(total: tuple[float, float], truth: tuple[float, float], late: tuple[float, float] | None = None) -> float:
    """A run in which the means go from the first to the second number; the truth of the second half is `late`."""
    draw = np.random.default_rng(0)
    at = np.repeat(np.linspace(0.0, 1.0, STEPS), ROWS)

    def drawn(first: float, last: float, time: Floats) -> Floats:
        return (draw.random(STEPS * ROWS) < first + (last - first) * time).astype(np.float64)

    proxy, known = drawn(*total, at), drawn(*truth, at)
    if late is not None:
        known = np.where(at > 0.5, drawn(*late, 2.0 * at - 1.0), known)
    found = suspicious(
        Evidence(
            steps=np.repeat(np.arange(STEPS), ROWS),
            prompts=np.tile(np.repeat(np.arange(6), 8), STEPS),
            totals=proxy,
            components={"paid": proxy, "truth": known},
            bounds={"paid": (0.0, 1.0), "truth": (0.0, 1.0)},
            monitored=frozenset({"truth"}),
        )
    )
    return max((alert.strength for alert in found if alert.kind == "proxy"), default=0.0)


@pytest.mark.parametrize("truth", [(0.4, 0.4), (0.5, 0.1), (0.4, 0.5)], ids=["flat", "falls", "rises a little"])
def test_a_truth_that_stays_behind_is_found(truth: tuple[float, float]) -> None:
    assert strength((0.3, 0.95), truth) >= 0.8


@pytest.mark.parametrize("truth", [(0.1, 0.7), (0.4, 0.8)], ids=["as much", "nearly as much"])
def test_a_truth_that_follows_is_no_alert(truth: tuple[float, float]) -> None:
    assert strength((0.3, 0.95), truth) < 0.5


def test_a_truth_that_follows_later_is_no_alert() -> None:
    assert strength((0.3, 0.95), (0.2, 0.2), late=(0.2, 0.95)) < 0.5
