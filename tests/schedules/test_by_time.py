"""Schedules by time."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.schedules import constant, cosine, linear, piecewise

wrong: Any = rk.schedules
"""The same functions, for calls that a type checker refuses too."""


def at(schedule: rk.Schedule, step: int, max_steps: int = 100) -> float:
    return schedule(rk.Progress(step, max_steps))


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (linear(0.0, 1.0), {0: 0.0, 25: 0.25, 100: 1.0, 150: 1.0}),
        (linear(1.0, 0.0, end=0.5), {0: 1.0, 25: 0.5, 50: 0.0, 100: 0.0}),
        (linear(0.0, 1.0, start=0.5), {0: 0.0, 50: 0.0, 75: 0.5, 100: 1.0}),
        (linear(0.0, 1.0, start=20, end=40), {0: 0.0, 20: 0.0, 30: 0.5, 40: 1.0}),
        (linear(0.0, 1.0, start=0, end=10), {0: 0.0, 5: 0.5, 10: 1.0}),
        (linear(0.0, 1.0, start=20, end=0.4), {20: 0.0, 30: 0.5, 40: 1.0}),
        (linear(0.0, 1.0, start=30, end=30), {29: 0.0, 30: 1.0}),
        (cosine(0.0, 1.0), {0: 0.0, 50: 0.5, 100: 1.0, 25: (1 - math.cos(math.pi / 4)) / 2}),
        (constant(0.3), {0: 0.3, 100: 0.3}),
        (piecewise({0.0: 0.1, 0.5: 1.0, 1.0: 0.3}), {0: 0.1, 25: 0.55, 50: 1.0, 75: 0.65, 100: 0.3}),
        (piecewise({0.2: 0.1, 0.5: 1.0}), {0: 0.1, 20: 0.1, 50: 1.0, 100: 1.0}),
        (piecewise({0: 0.1, 10: 1.0}, interpolation="constant"), {0: 0.1, 9: 0.1, 10: 1.0}),
        (piecewise([(0, 0.0), (50, 1.0)]), {25: 0.5}),
    ],
)
def test_values(schedule: rk.Schedule, values: dict[int, float]) -> None:
    assert {step: at(schedule, step) for step in values} == {
        step: pytest.approx(value) for step, value in values.items()
    }


ramps = st.builds(
    lambda shape, first, last, ends: shape(first, last, start=min(ends), end=max(ends)),
    st.sampled_from([linear, cosine]),
    st.floats(-10, 10),
    st.floats(-10, 10),
    st.tuples(st.floats(0, 1), st.floats(0, 1)) | st.tuples(st.integers(2, 50), st.integers(2, 50)),
)


@given(ramps, st.integers(0, 120), st.integers(1, 100))
def test_ramps_stay_within_their_bounds_and_end_where_they_say(
    schedule: rk.Schedule, step: int, max_steps: int
) -> None:
    low, high = schedule.bounds
    assert low - 1e-9 <= at(schedule, step, max_steps) <= high + 1e-9
    assert at(schedule, max(max_steps, 50), max_steps) == schedule.end_value
    assert schedule() == schedule.end_value
    assert schedule(rk.Progress(step, max_steps, training=False)) == schedule.end_value


@given(ramps)
def test_schedules_are_values(schedule: rk.Schedule) -> None:
    again = pickle.loads(pickle.dumps(schedule))
    assert again == schedule
    assert hash(again) == hash(schedule)
    assert "object at" not in repr(schedule)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: linear(0, 1, end=1), "did you mean 1.0"),
        (lambda: linear(0, 1, start=1), "did you mean 1.0"),
        (lambda: wrong.linear(0, 1, end=np.int64(1)), "did you mean 1.0"),
        (lambda: linear(0, 1, end=300.0), "a step is written as an int: 300"),
        (lambda: linear(0, 1, end=-5), "before training starts"),
        (lambda: linear(0, 1, end=math.nan), "no position"),
        (lambda: wrong.linear(0, 1, end="0.5"), "a fraction of training"),
        (lambda: linear(0, 1, end=True), "a fraction of training"),
        (lambda: linear(0, 1, start=0.5, end=0.2), "lies after"),
        (lambda: linear(0, 1, start=50, end=20), "lies after"),
        (lambda: linear(0, math.inf), "must be finite"),
        (lambda: wrong.linear("0", 1), "must be a number"),
        (lambda: piecewise({}), "at least one point"),
        (lambda: piecewise({0.5: 1, 10: 2}), "mixes fractions"),
        (lambda: piecewise([(0.5, 1), (0.2, 2)]), "must ascend"),
        (lambda: piecewise([(0.5, 1), (0.5, 2)]), "must ascend"),
        (lambda: wrong.piecewise({0.5: 1}, interpolation="cubic"), 'interpolation is "linear"'),
        (lambda: piecewise({0.5: math.nan}), "must be finite"),
    ],
)
def test_schedules_that_cannot_be_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_zero_fits_both_kinds_of_position() -> None:
    assert at(linear(0, 1, start=0, end=0.5), 25) == at(linear(0, 1, start=0.0, end=50), 25) == 0.5
