"""A total that rises while what reads the answer falls is an alert; a form beside a skill is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.alerts import Evidence, suspicious

STEPS, ROWS = 40, 48


def evidence(
    answer: tuple[float, float], form: tuple[float, float], *, weight: float = 0.5, unscored: float = 0.0
) -> Evidence:
    """A run in which the means of both components go from the first to the second number."""
    draw = np.random.default_rng(0)
    at = np.repeat(np.linspace(0.0, 1.0, STEPS), ROWS)
    known, beside = (
        (draw.random(STEPS * ROWS) < one[0] + (one[1] - one[0]) * at).astype(float) for one in (answer, form)
    )
    totals = known + weight * beside
    known[draw.random(STEPS * ROWS) < unscored] = np.nan
    return Evidence(
        steps=np.repeat(np.arange(STEPS), ROWS),
        prompts=np.tile(np.repeat(np.arange(6), 8), STEPS),
        totals=totals,
        components={"exact": known, "calls": beside},
        bounds={"exact": (0.0, 1.0)},
        reads={"exact": ("answer",), "calls": ()},
    )


def strength(found: Evidence) -> float:
    return max((alert.strength for alert in suspicious(found) if alert.kind == "form"), default=0.0)


def test_what_is_paid_beside_the_answer_is_found() -> None:
    found = evidence((0.6, 0.2), (0.1, 1.0), weight=1.0)
    alert = next(alert for alert in suspicious(found) if alert.kind == "form")
    assert alert.strength >= 0.8
    assert alert.title == "the total rises while exact falls"
    assert "so the rise comes from calls" in alert.text
    assert all(found.components["calls"][row] == 1.0 and found.components["exact"][row] == 0.0 for row in alert.rows)


@pytest.mark.parametrize(
    ("answer", "form"),
    [((0.3, 0.9), (0.1, 1.0)), ((0.3, 0.3), (0.1, 1.0)), ((0.6, 0.2), (0.5, 0.5)), ((0.5, 0.5), (0.5, 0.5))],
    ids=["both rise", "a form before the skill", "unlearned", "flat"],
)
def test_a_form_beside_a_skill_is_no_alert(answer: tuple[float, float], form: tuple[float, float]) -> None:
    assert strength(evidence(answer, form)) < 0.5


def test_a_reward_whose_components_all_read_the_data_has_no_such_alert() -> None:
    found = evidence((0.6, 0.2), (0.1, 1.0), weight=1.0)
    for reads in ({"exact": ("answer",), "calls": ("calls",)}, {"exact": (), "calls": ()}, {}):
        assert strength(replace(found, reads=reads)) == 0.0


def test_a_judge_of_the_prompt_may_know_the_answer() -> None:
    """It reads no column, but it can tell a right answer from a wrong one."""
    found = evidence((0.6, 0.2), (0.1, 1.0), weight=1.0)
    assert strength(replace(found, reads={"exact": ("answer",), "calls": ("prompt",)})) == 0.0


def test_rows_that_a_gate_left_out_earned_nothing() -> None:
    """If a gate opens for worse and worse answers, the mean of the scored ones falls, and that of all does not."""
    found = evidence((0.5, 0.5), (0.1, 1.0))
    closed = np.repeat(np.linspace(0.9, 0.0, STEPS), ROWS) > np.random.default_rng(1).random(STEPS * ROWS)
    exact = np.where(closed, np.nan, found.components["exact"])
    assert strength(replace(found, components={**found.components, "exact": exact})) == 0.0


@settings(max_examples=25, deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 3.0))
def test_an_answer_that_is_given_more_often_is_never_accused(
    first: float, low: float, high: float, weight: float
) -> None:
    found = evidence((first, min(1.0, first + 0.1)), (low, high), weight=weight)
    assert strength(found) < 0.5
