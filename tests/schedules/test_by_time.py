"""Schedules by time."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.schedules import (
    constant,
    cosine,
    cycle,
    delay,
    exponential,
    join,
    linear,
    piecewise,
    polynomial,
    sigmoid,
    warm_up,
)

wrong: Any = rk.schedules
"""The same functions, for calls that a type checker refuses too."""


def at(schedule: rk.schedules.Schedule, step: int, max_steps: int = 100) -> float:
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
        (polynomial(1.0, 0.0), {0: 1.0, 50: 0.25, 100: 0.0}),
        (polynomial(1.0, 0.0, power=1), {25: 0.75}),
        (polynomial(0.0, 1.0, power=0.5), {75: 0.5}),
        (exponential(1.0, 0.01), {0: 1.0, 50: 0.1, 100: 0.01}),
        (exponential(-0.01, -1.0, end=50), {25: -0.1, 50: -1.0}),
        (exponential(1e-300, 1e300), {0: 1e-300, 50: 1.0, 100: 1e300}),
        (sigmoid(0.0, 1.0), {0: 0.0, 25: 0.0701, 50: 0.5, 75: 0.9299, 100: 1.0}),
        (sigmoid(0.0, 1.0, steepness=1e9), {49: 0.0, 50: 0.5, 51: 1.0}),
        (sigmoid(0.0, 1.0, steepness=1e-6), {25: 0.25}),
        (warm_up(0.5), {0: 0.0, 25: 0.5, 50: 1.0, 100: 1.0}),
        (warm_up(20, 0.4), {10: 0.2, 20: 0.4}),
        (warm_up(0.5, linear(1.0, 0.0)), {25: 0.5 * 0.75, 50: 0.5, 100: 0.0}),
    ],
)
def test_values(schedule: rk.schedules.Schedule, values: dict[int, float]) -> None:
    assert {step: at(schedule, step) for step in values} == {
        step: pytest.approx(value, abs=1e-4 if "sigmoid" in repr(schedule) else None) for step, value in values.items()
    }


SHAPES: list[Callable[..., rk.schedules.Schedule]] = [
    linear,
    cosine,
    polynomial,
    partial(polynomial, power=0.3),
    partial(polynomial, power=50.0),
    sigmoid,
    partial(sigmoid, steepness=1e-6),
    partial(sigmoid, steepness=500.0),
]
fractions = st.floats(0, 1)
steps = st.just(0) | st.integers(2, 150)
numbers = st.floats(-10, 10)


def ramps_between(positions: st.SearchStrategy[float]) -> st.SearchStrategy[rk.schedules.Schedule]:
    ends = st.tuples(positions, positions)
    return st.builds(
        lambda shape, first, last, ends: shape(first, last, start=min(ends), end=max(ends)),
        st.sampled_from(SHAPES),
        numbers | st.floats(-1e60, 1e60),
        numbers,
        ends,
    ) | st.builds(
        lambda first, last, sign, ends: exponential(sign * first, sign * last, start=min(ends), end=max(ends)),
        st.floats(1e-60, 1e60),
        st.floats(1e-3, 10),
        st.sampled_from([-1, 1]),
        ends,
    )


def pieces_at(positions: st.SearchStrategy[float]) -> st.SearchStrategy[rk.schedules.Schedule]:
    return st.builds(
        lambda points, interpolation: piecewise(sorted(points.items()), interpolation=interpolation),
        st.dictionaries(positions, numbers, min_size=1, max_size=4),
        st.sampled_from(["linear", "constant"]),
    )


ramps = ramps_between(fractions) | ramps_between(steps)
pieces = pieces_at(fractions) | pieces_at(steps)


def grown(
    simple: st.SearchStrategy[rk.schedules.Schedule], positions: st.SearchStrategy[float]
) -> st.SearchStrategy[rk.schedules.Schedule]:
    """Schedules made of `simple` ones, one after another at `positions`, and by arithmetic."""

    def longer(inner: st.SearchStrategy[rk.schedules.Schedule]) -> st.SearchStrategy[rk.schedules.Schedule]:
        return st.one_of(
            st.builds(cycle, inner, positions),
            st.builds(delay, inner, positions),
            st.builds(lambda first, later, at: join({0: first, at: later}), inner, inner, positions),
            st.builds(lambda one, other: one * other, inner, inner | numbers),
            st.builds(lambda one, other: one + other, inner, inner | numbers),
            st.builds(lambda one, ends: one.clip(min(ends), max(ends)), inner, st.tuples(numbers, numbers)),
        )

    return st.recursive(simple, longer, max_leaves=4)


parts = st.floats(1e-3, 1)
schedules = grown(ramps | pieces, parts | st.integers(2, 50))
in_fractions = grown(ramps_between(fractions) | pieces_at(fractions), parts)
"""Those without a step that may lie behind the end of training, or of a part of it."""

lengths = st.integers(1, 100) | st.integers(1, 10**9)


@given(schedules, st.integers(0, 300) | st.integers(0, 10**12), lengths)
def test_every_schedule_has_a_finite_value_within_its_bounds_at_any_time(
    schedule: rk.schedules.Schedule, step: int, max_steps: int
) -> None:
    low, high = schedule.bounds
    slack = 1e-9 * max(1.0, abs(low), abs(high)) if math.isfinite(low) and math.isfinite(high) else 0.0
    for value in (at(schedule, step, max_steps), at(schedule, max_steps, max_steps), schedule()):
        assert not math.isnan(value)
        assert low - slack <= value <= high + slack


@given(ramps | pieces, st.integers(0, 300), lengths)
def test_simple_schedules_stay_within_their_bounds_to_the_last_digit(
    schedule: rk.schedules.Schedule, step: int, max_steps: int
) -> None:
    low, high = schedule.bounds
    assert low <= at(schedule, step, max_steps) <= high


@given(schedules, st.integers(0, 300), lengths)
def test_evaluation_sees_the_end(schedule: rk.schedules.Schedule, step: int, max_steps: int) -> None:
    assert schedule() == schedule(None) == schedule(rk.Progress(step, max_steps, training=False))
    assert schedule() == schedule.end_value


@given(in_fractions, lengths)
def test_the_end_of_training_equals_evaluation(schedule: rk.schedules.Schedule, max_steps: int) -> None:
    assert at(schedule, max_steps, max_steps) == pytest.approx(schedule(), rel=1e-12)


@given(ramps_between(steps) | pieces_at(steps), st.integers(150, 1000))
def test_steps_inside_of_training_are_passed_at_its_end(schedule: rk.schedules.Schedule, max_steps: int) -> None:
    assert at(schedule, max_steps, max_steps) == schedule()


@given(ramps, lengths)
def test_ramps_go_one_way_from_end_to_end(schedule: rk.schedules.Schedule, max_steps: int) -> None:
    ramp: Any = schedule
    steps = np.unique(np.linspace(0, max_steps, 40, dtype=np.int64)).tolist()
    values = [at(schedule, step, max_steps) for step in steps]
    rising = sorted(values, reverse=ramp.initial > ramp.target)
    assert values == pytest.approx(rising, rel=1e-9, abs=1e-300)
    if steps_of(ramp.start, max_steps) > 0.5 or steps_of(ramp.end, max_steps) > 0.5:
        assert values[0] == ramp.initial


def steps_of(position: float, max_steps: int) -> float:
    return float(position) if isinstance(position, int) else position * max_steps


@given(st.sampled_from(SHAPES[:3]), numbers, numbers, st.floats(0, 0.8), st.integers(0, 9_999))
def test_a_step_of_a_long_training_moves_a_ramp_little(
    shape: Callable[..., rk.schedules.Schedule], first: float, last: float, start: float, step: int
) -> None:
    ramp = shape(first, last, start=start, end=start + 0.2)
    assert abs(at(ramp, step + 1, 10_000) - at(ramp, step, 10_000)) <= 2e-3 * abs(last - first)


@given(st.lists(numbers, min_size=2, max_size=5), st.integers(0, 9_999))
def test_connected_points_have_no_jumps(values: list[float], step: int) -> None:
    points = piecewise([(place / len(values), value) for place, value in enumerate(values)])
    most = max(values) - min(values)
    assert abs(at(points, step + 1, 10_000) - at(points, step, 10_000)) <= 1.01 * len(values) / 10_000 * most


@pytest.mark.parametrize("hundredth", range(101))
def test_a_fraction_of_a_hundred_steps_is_that_step_whatever_its_last_digit(hundredth: int) -> None:
    """0.07 * 100 is a little more than 7."""
    place = hundredth / 100
    before = 0.0 if hundredth else 1.0
    for schedule in (
        piecewise({0.0: 0.0, place: 1.0} if hundredth else {0.0: 1.0}, interpolation="constant"),
        linear(0.0, 1.0, start=place, end=place),
        join({0.0: 0.0, place: 1.0} if hundredth else {0.0: 1.0}),
    ):
        assert at(schedule, hundredth) == 1.0
        assert at(schedule, max(0, hundredth - 1)) == before


@given(schedules)
def test_schedules_are_values(schedule: rk.schedules.Schedule) -> None:
    again = pickle.loads(pickle.dumps(schedule))
    assert again == schedule
    assert hash(again) == hash(schedule)
    assert repr(again) == repr(schedule)
    assert "object at" not in repr(schedule)


def test_the_repr_of_a_schedule_is_its_expression() -> None:
    for schedule in (
        linear(0.0, 1.0, start=0.1, end=0.5),
        cosine(1.0, 0.0, end=50),
        polynomial(1.0, 0.0, power=3.0),
        exponential(1.0, 0.01),
        sigmoid(0.0, 1.0, steepness=5.0, start=20),
        piecewise({0.0: 0.1, 0.5: 1.0}),
        join({0: linear(0.0, 1.0), 0.5: constant(0.2)}),
        cycle(cosine(1.0, 0.1), 0.25),
        linear(0.0, 1.0).clip(0.1, 0.9),
    ):
        assert eval(repr(schedule), vars(rk.schedules)) == schedule


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: linear(0, 1, end=1), "did you mean 1.0"),
        (lambda: linear(0, 1, start=1), "did you mean 1.0"),
        (lambda: wrong.linear(0, 1, end=np.int64(1)), "did you mean 1.0"),
        (lambda: linear(0, 1, end=300.0), "write an int: 300"),
        (lambda: linear(0, 1, end=-5), "end=-5"),
        (lambda: linear(0, 1, end=math.nan), "end=nan"),
        (lambda: wrong.linear(0, 1, end="0.5"), "a fraction of training"),
        (lambda: linear(0, 1, end=True), "a fraction of training"),
        (lambda: linear(0, 1, start=0.5, end=0.2), "is after"),
        (lambda: linear(0, 1, start=50, end=20), "is after"),
        (lambda: linear(0, math.inf), "must be finite"),
        (lambda: wrong.linear("0", 1), "must be a number"),
        (lambda: piecewise({}), "at least one point"),
        (lambda: piecewise({0.5: 1, 10: 2}), "mixes fractions"),
        (lambda: piecewise([(0.5, 1), (0.2, 2)]), "must be in ascending order"),
        (lambda: piecewise([(0.5, 1), (0.5, 2)]), "must be in ascending order"),
        (lambda: wrong.piecewise({0.5: 1}, interpolation="cubic"), 'interpolation must be "linear"'),
        (lambda: piecewise({0.5: math.nan}), "must be finite"),
        (lambda: wrong.piecewise(3), "piecewise expects a mapping of positions"),
        (lambda: wrong.piecewise([0.1, 0.2]), "piecewise expects a mapping of positions"),
        (lambda: piecewise({1: 0.5}), r"piecewise: a position=1 .*did you mean 1\.0"),
        (lambda: polynomial(0, 1, power=0), "power must be greater than 0"),
        (lambda: polynomial(0, 1, power=math.inf), "power must be finite"),
        (lambda: exponential(0, 1), "from 0 to 1"),
        (lambda: exponential(-1, 1), "Both values must be positive, or both must be negative"),
        (lambda: wrong.exponential("1", 1), "initial must be a number"),
        (lambda: sigmoid(0, 1, steepness=0), "steepness must be greater than 0"),
        (lambda: sigmoid(0, 1, steepness=-5), "steepness must be greater than 0"),
        (lambda: warm_up(1), "did you mean 1.0"),
        (lambda: wrong.warm_up(0.1, "full"), "warm_up: weight must be a number"),
    ],
)
def test_schedules_that_cannot_be_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_zero_fits_both_kinds_of_position() -> None:
    assert at(linear(0, 1, start=0, end=0.5), 25) == at(linear(0, 1, start=0.0, end=50), 25) == 0.5
