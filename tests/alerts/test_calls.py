"""Observations about tool calls: they describe a run, and have no strength."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.alerts import Alert, Evidence, suspicious
from rewardkit.batch.column import Floats

STEPS, PROMPTS, GENERATIONS = 100, 8, 8
SIZE = STEPS * PROMPTS * GENERATIONS


def climbing(first: float, last: float) -> Floats:
    """Return (n,) the mean at each row of something that goes from `first` to `last`."""
    return np.linspace(first, last, STEPS).repeat(PROMPTS * GENERATIONS)


def evidence(
    calls: tuple[float, float], right: tuple[float, float], *, paid: bool = False, seed: int = 0, **more: Any
) -> Evidence:
    draw = np.random.default_rng(seed)
    made = draw.binomial(8, climbing(*calls) / 8).astype(np.float64)
    exact = (draw.random(SIZE) < climbing(*right)).astype(np.float64)
    components = {"exact": exact, **({"results": np.minimum(made, 4.0) / 4.0} if paid else {})}
    return Evidence(
        steps=np.arange(STEPS).repeat(PROMPTS * GENERATIONS),
        prompts=np.tile(np.arange(PROMPTS).repeat(GENERATIONS), STEPS),
        totals=sum((0.5 * values for values in components.values()), np.zeros(SIZE)),
        components=components,
        calls=made,
        **more,
    )


def observations(found: Evidence, kind: str = "calls") -> list[Alert]:
    alerts = [alert for alert in suspicious(found) if alert.kind == kind]
    assert all(alert.is_observation and alert.strength == 0.0 for alert in alerts)
    return alerts


def test_calls_that_rise_more_than_right_answers_are_a_observation() -> None:
    (observation,) = observations(evidence((1.68, 3.88), (0.68, 0.84), paid=True))
    assert observation.title == "tool calls rise, but exact rises less"
    assert observation.component == "exact"
    assert 1.6 < observation.numbers["before"] < 2.2
    assert 3.4 < observation.numbers["after"] < 4.0
    assert "while exact goes from 0." in observation.text
    assert observation.rows


@pytest.mark.parametrize(
    ("calls", "right"),
    [((1.40, 1.23), (0.68, 0.94)), ((1.24, 0.99), (0.69, 0.96)), ((1.0, 1.0), (0.5, 0.5)), ((0.3, 1.0), (0.2, 0.8))],
)
def test_calls_that_fall_or_rise_with_right_answers_are_none(
    calls: tuple[float, float], right: tuple[float, float]
) -> None:
    assert observations(evidence(calls, right)) == []


def test_a_monitored_component_is_the_outcome() -> None:
    draw = np.random.default_rng(1)
    one = evidence((1.0, 3.0), (0.2, 0.9))
    flat = (draw.random(SIZE) < 0.5).astype(np.float64)
    watched = Evidence(
        steps=one.steps,
        prompts=one.prompts,
        totals=one.totals,
        components={**one.components, "held_out": flat},
        monitored=frozenset({"held_out"}),
        calls=one.calls,
    )
    assert observations(one) == []
    (observation,) = observations(watched)
    assert observation.component == "held_out"


def test_a_run_without_an_outcome_apart_from_the_calls_has_no_observation() -> None:
    one = evidence((1.0, 4.0), (0.5, 0.5), paid=True)
    only = {"results": one.components["results"]}
    assert observations(Evidence(one.steps, one.prompts, one.totals, components=only, calls=one.calls)) == []


def test_repeated_calls_and_missing_answers_are_observations_once_they_rise() -> None:
    draw = np.random.default_rng(2)
    rising = (draw.random(SIZE) < climbing(0.02, 0.5)).astype(np.float64)
    flat = (draw.random(SIZE) < 0.3).astype(np.float64)
    risen = evidence((1.0, 1.0), (0.5, 0.5), repeated_calls=3 * rising, unfinished=rising)
    assert [observation.title for kind in ("repeated", "unfinished") for observation in observations(risen, kind)] == [
        "more completions repeat a call",
        "more completions end without an answer",
    ]
    calm = evidence((1.0, 1.0), (0.5, 0.5), repeated_calls=flat, unfinished=flat)
    assert observations(calm, "repeated") + observations(calm, "unfinished") == []


def test_a_run_of_plain_texts_has_no_observations_about_calls() -> None:
    one = evidence((1.0, 4.0), (0.5, 0.5))
    nothing = np.full(SIZE, np.nan)
    for unknown in (None, nothing):
        plain = Evidence(
            one.steps,
            one.prompts,
            one.totals,
            one.components,
            calls=unknown,
            repeated_calls=unknown,
            unfinished=unknown,
        )
        assert not {alert.kind for alert in suspicious(plain)} & {"calls", "repeated", "unfinished"}


@given(st.integers(0, 2**32), st.lists(st.sampled_from([0.0, 1.0, 7.0, -1.0, 1e9, np.nan]), min_size=4, max_size=4))
@settings(max_examples=25, deadline=None)
def test_no_numbers_raise(seed: int, odd: list[float]) -> None:
    draw = np.random.default_rng(seed)
    values = draw.choice(odd, (4, SIZE))
    one = evidence((1.0, 2.0), (0.5, 0.6))
    hostile = Evidence(
        one.steps,
        one.prompts,
        np.nan_to_num(values[0]),
        {"odd": values[1]},
        calls=values[2],
        repeated_calls=values[3],
        unfinished=values[3],
    )
    assert all(alert.strength <= 1.0 for alert in suspicious(hostile))
