"""Schedule: arithmetic, bounds, and schedules that follow performance."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.progress.progress import Progress
from rewardkit.progress.schedule import Constant, PerformanceSchedule, as_weight, following, multiplied, weight_now
from rewardkit.schedules import cycle, join, linear, piecewise, track, warm_up, when_reached

RISE, FALL = rk.schedules.linear(0.0, 1.0), rk.schedules.linear(2.0, 0.0)
HALF = rk.Progress(5, 10)


@pytest.mark.parametrize(
    ("schedule", "half", "end", "bounds"),
    [
        (RISE, 0.5, 1.0, (0.0, 1.0)),
        (2 * RISE, 1.0, 2.0, (0.0, 2.0)),
        (RISE * -1, -0.5, -1.0, (-1.0, 0.0)),
        (RISE * FALL, 0.5, 0.0, (0.0, 2.0)),
        (RISE + FALL, 1.5, 1.0, (0.0, 3.0)),
        (1 + RISE, 1.5, 2.0, (1.0, 2.0)),
        (rk.schedules.constant(3), 3.0, 3.0, (3.0, 3.0)),
    ],
)
def test_arithmetic_of_schedules(schedule: Any, half: float, end: float, bounds: tuple[float, float]) -> None:
    assert schedule(HALF) == pytest.approx(half)
    assert schedule() == schedule(None) == end
    assert schedule(rk.Progress(5, 10, training=False)) == end
    assert schedule.bounds == bounds
    assert repr(schedule)
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert isinstance(hash(schedule), int)


@pytest.mark.parametrize("value", ["1", True, None, [1.0], float("nan"), float("inf"), 1j])
def test_weights_must_be_numbers(value: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="a weight must be"):
        as_weight(value)


def test_constants_become_numbers_and_ones_disappear() -> None:
    assert as_weight(Constant(2.0)) == 2.0
    assert multiplied(1.0, RISE) is RISE
    assert multiplied(RISE, 1.0) is RISE
    assert multiplied(2.0, 3.0) == 6.0
    assert weight_now(multiplied(RISE, FALL), HALF) == pytest.approx(0.5)


def test_schedules_are_subtracted_and_negated() -> None:
    falling = 1.0 - linear(0.0, 1.0)
    assert falling(Progress(25, 100)) == pytest.approx(0.75)
    assert falling() == 0.0
    assert (-linear(0.0, 1.0)).bounds == (-1.0, 0.0)
    assert (linear(0.0, 1.0) - linear(0.0, 0.5))(Progress(50, 100)) == pytest.approx(0.25)
    with pytest.raises(TypeError):
        linear(0.0, 1.0) - "half"


some = st.sampled_from(
    [RISE, FALL, linear(-1.0, 3.0, end=0.5), piecewise({0.0: 1.0, 0.3: -2.0}), Constant(0.5), cycle(FALL, 3)]
)
factors = st.floats(-100, 100)
places = st.builds(Progress, st.integers(0, 30), st.integers(1, 30))


@given(some, some, some, factors, st.none() | places)
def test_schedules_add_and_multiply_like_numbers(
    a: rk.schedules.Schedule,
    b: rk.schedules.Schedule,
    c: rk.schedules.Schedule,
    factor: float,
    progress: rk.Progress | None,
) -> None:
    def close(one: rk.schedules.Schedule, other: rk.schedules.Schedule) -> None:
        assert one(progress) == pytest.approx(other(progress), rel=1e-9, abs=1e-9)

    close(a + b, b + a)
    close(a * b, b * a)
    close((a + b) + c, a + (b + c))
    close((a * b) * c, a * (b * c))
    close(a * (b + c), a * b + a * c)
    close(factor * (a + b), factor * a + factor * b)
    close(a - b, a + -1.0 * b)
    close(factor - a, -(a - factor))
    close(a + factor, factor + a)
    assert (factor * a)(progress) == factor * a(progress)
    assert (a + b)(progress) == a(progress) + b(progress)


@given(some, st.floats(-5, 5), st.floats(-5, 5), st.none() | places)
def test_clip_limits_values_and_bounds(
    a: rk.schedules.Schedule, one: float, two: float, progress: rk.Progress | None
) -> None:
    low, high = min(one, two), max(one, two)
    clipped = a.clip(low, high)
    assert clipped(progress) == min(max(a(progress), low), high)
    assert low <= clipped.bounds[0] <= clipped(progress) <= clipped.bounds[1] <= high
    assert clipped.clip(low, high)(progress) == clipped(progress)
    assert a.clip(*a.bounds)(progress) == a(progress)
    assert pickle.loads(pickle.dumps(clipped)) == clipped


def test_clip_prints_around_its_schedule_and_refuses_swapped_bounds() -> None:
    for clipped in ((1 - RISE).clip(0.2), (2 * RISE).clip(), RISE.clip(0.25, 0.5), (RISE * FALL).clip(0.1, 0.2)):
        assert eval(repr(clipped), vars(rk.schedules)) == clipped
    for low, high, message in ((1.0, 0.0, "lower bound is greater than"), (float("nan"), 1.0, "must be finite")):
        with pytest.raises(rk.RewardDefinitionError, match=message):
            RISE.clip(low, high)
    with pytest.raises(TypeError, match="clip's lower bound must be a number"):
        RISE.clip("0")  # type: ignore[arg-type]


def test_following_finds_nested_schedules_by_performance() -> None:
    tags, form = when_reached("tags"), track("form")
    deep = join({0.0: 0.5, 0.3: cycle((1 - 0.9 * tags).clip(0.2, 1), 0.5)}) * (form + RISE)
    assert list(following(deep)) == [tags, form]
    assert list(following(warm_up(0.1, tags))) == [tags]
    assert list(following(tags)) == [tags]
    assert list(following(RISE)) == list(following(0.5)) == []


def test_schedules_that_follow_performance_read_their_own_state() -> None:
    one, other = when_reached("tags", 0.5, 1), when_reached("tags", 0.5, 1, over=2)
    assert isinstance(one, PerformanceSchedule)
    progress = Progress(3, 10, states={one: one.update(one.init(), {"tags": 1.0})})
    assert (one(progress), other(progress)) == (1.0, 0.0)
    assert pickle.loads(pickle.dumps(progress)) == progress
    assert (0.5 * one + 0.25)(progress) == 0.75
