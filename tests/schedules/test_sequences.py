"""Schedules one after another, repeated, delayed, and extremes of several."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

import rewardkit as rk
from rewardkit.schedules import constant, cosine, cycle, delay, join, linear, piecewise, when_reached

wrong: Any = rk.schedules
"""The same functions, for calls that a type checker refuses too."""

FALL = linear(1.0, 0.0)
SIMPLE = [FALL, cosine(0.0, 2.0), linear(0.0, 1.0, start=2, end=7), piecewise({0.2: 1.0, 0.8: 3.0}), constant(0.5)]
simple = st.sampled_from(SIMPLE)


def at(schedule: rk.schedules.Schedule, step: int, max_steps: int = 100) -> float:
    return schedule(rk.Progress(step, max_steps))


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (join({0.0: 1.0, 0.5: FALL}), {0: 1.0, 49: 1.0, 50: 1.0, 75: 0.5, 100: 0.0, 200: 0.0}),
        (join({0.0: linear(0.0, 1.0), 0.5: FALL}), {0: 0.0, 25: 0.5, 50: 1.0, 75: 0.5}),
        (join({0: 0.0, 20: linear(0.0, 1.0, end=10)}), {19: 0.0, 20: 0.0, 25: 0.5, 30: 1.0, 100: 1.0}),
        (join([(0, 0.3)]), {0: 0.3, 100: 0.3}),
        (join({0: linear(0.0, 1.0), 200: 5.0}), {50: 0.25, 100: 0.5, 199: 0.995, 200: 5.0}),
        (join({0.0: 1.0, 1.0: FALL}), {99: 1.0, 100: 0.0}),
        (cycle(FALL, 0.25), {0: 1.0, 5: 0.8, 24: 0.04, 25: 1.0, 50: 1.0, 99: 0.04, 100: 0.0, 101: 0.0}),
        (cycle(FALL, 30), {0: 1.0, 15: 0.5, 30: 1.0, 90: 1.0, 95: 1 - 5 / 30, 100: 0.0}),
        (cycle(FALL, 1000), {0: 1.0, 50: 0.95, 100: 0.0}),
        (delay(linear(0.0, 1.0), 0.2), {0: 0.0, 20: 0.0, 60: 0.5, 100: 1.0}),
        (delay(FALL, 50), {0: 1.0, 50: 1.0, 75: 0.5, 100: 0.0}),
        (delay(FALL, 0.5, before=0.0), {0: 0.0, 49: 0.0, 50: 1.0, 75: 0.5}),
        (delay(linear(0.0, 1.0), 1.0), {99: 0.0, 100: 1.0}),
    ],
)
def test_values(schedule: rk.schedules.Schedule, values: dict[int, float]) -> None:
    assert {step: at(schedule, step) for step in values} == {
        step: pytest.approx(value) for step, value in values.items()
    }


@given(simple, simple, simple, st.floats(0.01, 0.49), st.floats(0.5, 1.0), st.integers(1, 200), st.data())
def test_each_piece_is_the_schedule_alone_in_its_own_part(
    first: rk.schedules.Schedule,
    second: rk.schedules.Schedule,
    third: rk.schedules.Schedule,
    one: float,
    two: float,
    max_steps: int,
    data: st.DataObject,
) -> None:
    joined = join({0.0: first, one: second, two: third})
    starts = [0, math.ceil(one * max_steps - 1e-9), math.ceil(two * max_steps - 1e-9), max_steps]
    step = data.draw(st.integers(0, max_steps))
    if starts[2] == max_steps and step == max_steps:
        assert at(joined, step, max_steps) == third.end_value
        return
    piece = max(place for place in range(3) if starts[place] <= step)
    assume(starts[piece] < starts[piece + 1])
    alone = at([first, second, third][piece], step - starts[piece], starts[piece + 1] - starts[piece])
    assert at(joined, step, max_steps) == alone


@given(simple, st.integers(2, 30), st.integers(0, 200), st.integers(1, 5))
def test_a_cycle_in_steps_is_periodic_and_each_period_is_a_training(
    schedule: rk.schedules.Schedule, period: int, step: int, times: int
) -> None:
    long = 10_000
    cycled = cycle(schedule, period)
    assert at(cycled, step, long) == at(cycled, step + times * period, long) == at(schedule, step % period, period)


@given(simple, st.integers(1, 20), st.integers(2, 30))
def test_a_cycle_in_fractions_repeats_as_often_as_it_should(
    schedule: rk.schedules.Schedule, times: int, period: int
) -> None:
    cycled = cycle(schedule, 1 / times)
    for step in range(times * period):
        assert at(cycled, step, times * period) == at(schedule, step % period, period)


@pytest.mark.parametrize("hundredth", [7, 14, 28, 29, 55, 56, 57, 58])
def test_a_part_begins_at_its_very_step_whatever_the_last_digit(hundredth: int) -> None:
    """0.07 * 100 is a little more than 7, and 0.29 * 100 a little less than 29."""
    parts = [join({0.0: 0.0, hundredth / 100: 1.0}), delay(constant(1.0), hundredth / 100, before=0.0)]
    for schedule in parts:
        assert [at(schedule, hundredth - 1), at(schedule, hundredth)] == [0.0, 1.0]
    cycled = cycle(FALL, hundredth / 100)
    assert at(cycled, hundredth - 1) == pytest.approx(1 / hundredth)
    assert at(cycled, hundredth) == 1.0


@pytest.mark.parametrize("period", [1e-9, 0.001, 0.3, 1.0])
@pytest.mark.parametrize("max_steps", [1, 3, 10])
def test_periods_shorter_than_a_step_stay_at_their_start(period: float, max_steps: int) -> None:
    values = [at(cycle(FALL, period), step, max_steps) for step in range(max_steps + 3)]
    assert values[0] == 1.0
    assert values[max_steps:] == [0.0, 0.0, 0.0]
    if period * max_steps < 1:
        assert values[:max_steps] == [1.0] * max_steps


@pytest.mark.parametrize("max_steps", [1, 2, 3])
def test_more_pieces_than_steps_end_where_evaluation_does(max_steps: int) -> None:
    joined = join({0.0: FALL, 0.3: 0.7, 0.6: linear(3.0, 2.0), 0.9: linear(5.0, 4.0)})
    assert at(joined, 0, max_steps) == 1.0
    assert at(joined, max_steps, max_steps) == joined() == 4.0


def test_pieces_nest() -> None:
    inner = join({0.0: 1.0, 0.5: 2.0})
    joined = join({0.0: inner, 0.5: cycle(inner, 0.5)})
    assert [at(joined, step, 16) for step in range(17)] == [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2, 2]


def test_pieces_that_follow_performance_keep_their_state() -> None:
    reached = when_reached("tags", window=1)
    joined = join({0.0: 0.5, 0.5: reached})
    state = reached.update(reached.init(), {"tags": 1.0})  # type: ignore[attr-defined]
    assert joined(rk.Progress(5, 10)) == 0.0
    assert joined(rk.Progress(5, 10, states={reached: state})) == 1.0
    assert joined() == 1.0
    assert delay(reached, 0.5)(rk.Progress(0, 10, states={reached: state})) == 0.0


def test_bounds_are_those_of_all_pieces() -> None:
    assert join({0.0: FALL, 0.5: constant(3.0)}).bounds == (0.0, 3.0)
    assert cycle(FALL, 0.1).bounds == (0.0, 1.0)
    assert delay(FALL, 0.1, before=-1.0).bounds == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: join({}), "join needs a schedule at 0"),
        (lambda: join({0.1: 1.0}), "join needs a schedule at 0"),
        (lambda: join({0.0: 1.0, 0.5: 2.0, 30: 1.0}), "join mixes fractions"),
        (lambda: join([(0, 1.0), (0.0, 2.0)]), "join: positions must be in ascending order"),
        (lambda: join([(0, 1.0), (0.5, 2.0), (0.4, 2.0)]), "0.4 comes after 0.5"),
        (lambda: join({0: 1.0, 1: 2.0}), r"join: a position=1 .*did you mean 1\.0"),
        (lambda: join({0: math.nan}), "join: a piece must be finite"),
        (lambda: wrong.join({0: "1"}), "join: a piece must be a number"),
        (lambda: wrong.join({"0": 1.0}), "join: a position must be"),
        (lambda: wrong.join(FALL), "join expects a mapping of positions"),
        (lambda: wrong.join([FALL]), "join expects a mapping of positions"),
        (lambda: cycle(FALL, 0), "period must be greater than 0"),
        (lambda: cycle(FALL, 0.0), "period must be greater than 0"),
        (lambda: cycle(FALL, 1), "cycle: period=1 "),
        (lambda: cycle(FALL, 1.5), "cycle: period=1.5"),
        (lambda: wrong.cycle("cosine", 0.5), "cycle: the repeated value must be a number"),
        (lambda: delay(FALL, 0), "nothing is delayed"),
        (lambda: delay(FALL, -3), "delay: until=-3"),
        (lambda: delay(FALL, 0.5, before=math.inf), "delay: before must be finite"),
    ],
)
def test_invalid_sequences_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_the_highest_and_the_lowest_of_schedules() -> None:
    reached = rk.schedules.when_reached("form", level=0.5, window=1)
    latest = rk.schedules.maximum(reached, rk.schedules.after(0.7))
    earliest = rk.schedules.minimum(reached, rk.schedules.after(0.2, over=0.2))
    assert [latest(rk.Progress(step, 10)) for step in (0, 6, 7, 10)] == [0.0, 0.0, 1.0, 1.0]
    mastered = {reached: reached.settled()}  # type: ignore[attr-defined]
    early = [earliest(rk.Progress(step, 10, states=mastered)) for step in (0, 2, 3, 4)]
    assert early == pytest.approx([0.0, 0.0, 0.5, 1.0])
    assert latest() == earliest() == 1.0
    assert (latest.bounds, rk.schedules.maximum(0.3, latest).bounds) == ((0.0, 1.0), (0.3, 1.0))
    assert repr(latest) == "maximum(when_reached('form', level=0.5, window=1), after(0.7))"
    assert pickle.loads(pickle.dumps(latest)) == latest
    assert rk.Stage("form", rk.tags("a"), until=latest)
    with pytest.raises(rk.RewardDefinitionError, match="maximum needs at least one schedule"):
        rk.schedules.maximum()
