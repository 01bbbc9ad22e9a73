"""A total that foreign golds also earn is an alert; a learned format or skill is not."""

from __future__ import annotations

import numpy as np
import pytest

from rewardkit.alerts import Evidence, suspicious
from rewardkit.analyze.permuted_golds import ForeignScores
from rewardkit.batch.column import Floats

STEPS, ROWS = 60, 48


def evidence(own: Floats, foreign: Floats, *, known: float = 1.0, form: Floats | None = None) -> Evidence:
    """A run whose mean totals go from the first to the second number, with the noise of single completions.

    `form` is the part of both totals that reads no column; by default there is none.
    """
    draw = np.random.default_rng(0)
    at = np.repeat(np.linspace(0.0, 1.0, STEPS), ROWS)
    scores = [(draw.random(STEPS * ROWS) < one[0] + (one[1] - one[0]) * at).astype(float) for one in (own, foreign)]
    scores[1][draw.random(STEPS * ROWS) >= known] = np.nan
    unread = np.zeros(len(at)) if form is None else form[0] + (form[1] - form[0]) * at
    return Evidence(
        steps=np.repeat(np.arange(STEPS), ROWS),
        prompts=np.tile(np.repeat(np.arange(6), 8), STEPS),
        totals=scores[0],
        foreign=ForeignScores(scores[0], scores[1], unread),
    )


def strength(found: Evidence) -> float:
    return max((alert.strength for alert in suspicious(found) if alert.kind == "foreign"), default=0.0)


@pytest.mark.parametrize("known", [1.0, 0.25])
def test_what_pays_for_any_gold_is_found(known: float) -> None:
    found = evidence(np.array([0.3, 0.9]), np.array([0.05, 0.8]), known=known)
    alert = next(alert for alert in suspicious(found) if alert.kind == "foreign")
    assert alert.strength >= 0.8
    assert found.foreign is not None
    assert all(found.foreign.foreign[row] == 1.0 for row in alert.rows)


@pytest.mark.parametrize(
    ("own", "foreign"),
    [((0.3, 0.9), (0.05, 0.05)), ((0.5, 0.9), (0.3, 0.35)), ((0.3, 0.3), (0.1, 0.1)), ((0.9, 0.9), (0.9, 0.9))],
    ids=["skill", "partial credit", "flat", "from the start"],
)
def test_a_skill_is_no_alert(own: tuple[float, float], foreign: tuple[float, float]) -> None:
    assert strength(evidence(np.array(own), np.array(foreign))) < 0.5


def test_a_form_that_is_learned_earns_with_any_gold_answer() -> None:
    own, foreign = np.array([0.3, 0.7]), np.array([0.05, 0.35])
    assert strength(evidence(own, foreign)) >= 0.8
    assert strength(evidence(own, foreign, form=np.array([0.05, 0.35]))) < 0.5


def test_without_foreign_scores_there_is_no_alert() -> None:
    found = evidence(np.array([0.3, 0.9]), np.array([0.05, 0.8]), known=0.0)
    assert strength(found) == 0.0
