"""Positions: fractions of training and steps."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.progress.positions import Passing, Position, checked_order, checked_position, steps, way_done


def at(schedule: rk.schedules.Schedule, step: int, max_steps: int = 100) -> float:
    return schedule(rk.Progress(step, max_steps))


@pytest.mark.parametrize(
    ("value", "position"),
    [
        (0, 0),
        (0.0, 0.0),
        (2, 2),
        (0.5, 0.5),
        (1.0, 1.0),
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (Fraction(1, 4), 0.25),
    ],
)
def test_fractions_are_floats_and_steps_are_ints(value: Any, position: Position) -> None:
    found = checked_position(value, "end")
    assert found == position
    assert type(found) is type(position)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, r"end=1 .* 1\.0"),
        (-1, "end=-1"),
        (1.5, "end=1.5"),
        (300.0, "write an int: 300"),
        (-0.1, "end=-0.1"),
        (math.nan, "end=nan"),
        (math.inf, "end=inf"),
        (True, "end must be"),
        ("0.5", "end must be"),
        (None, "end must be"),
        (0.5j, "end must be"),
        (Decimal("0.5"), "end must be"),
    ],
)
def test_invalid_positions_are_refused(value: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        checked_position(value, "end")


def test_order_is_checked_unless_fractions_and_steps_are_mixed() -> None:
    for first, second in ((0.1, 0.5), (0.5, 0.5), (2, 50), (0, 0.0), (0, 50), (50, 0.1), (0.9, 2)):
        checked_order(first, second, "linear")
    for first, second in ((0.5, 0.1), (50, 2), (5, 0)):
        with pytest.raises(rk.RewardDefinitionError, match=f"linear: {first} is after {second}"):
            checked_order(first, second, "linear")


@given(st.integers(0, 200), st.integers(1, 100), st.floats(0, 1), st.floats(0, 1))
def test_the_share_of_the_way_grows_from_0_to_1(step: int, max_steps: int, one: float, two: float) -> None:
    start, end = min(one, two), max(one, two)
    here, later = (way_done(start, end, rk.Progress(place, max_steps)) for place in (step, step + 1))
    assert 0.0 <= here <= later <= 1.0
    assert (here == 1.0) == (step >= steps(end, rk.Progress(step, max_steps)) or here == 1.0)
    assert here == 0.0 or step > steps(start, rk.Progress(step, max_steps)) or start == end


@pytest.mark.parametrize(
    ("passing", "values"),
    [
        (Passing(0.3), {0: 0.0, 29: 0.0, 30: 1.0, 100: 1.0, 10**12: 1.0}),
        (Passing(0.3, 0.1), {29: 0.0, 30: 0.0, 35: 0.5, 40: 1.0, 99: 1.0}),
        (Passing(20), {0: 0.0, 19: 0.0, 20: 1.0}),
        (Passing(20, 10), {20: 0.0, 21: 0.1, 25: 0.5, 30: 1.0}),
        (Passing(20, 0.2), {20: 0.0, 30: 0.5, 40: 1.0}),
        (Passing(0.5, 20), {50: 0.0, 60: 0.5, 70: 1.0}),
        (Passing(0), {0: 1.0, 1: 1.0}),
        (Passing(0, 0.5), {0: 0.0, 25: 0.5, 50: 1.0}),
        (Passing(1.0), {99: 0.0, 100: 1.0}),
        (Passing(200), {100: 0.0, 200: 1.0}),
    ],
)
def test_passing(passing: Passing, values: dict[int, float]) -> None:
    assert {step: at(passing, step) for step in values} == pytest.approx(values)
    assert passing() == passing.end_value == 1.0


positions = st.floats(0, 1) | st.just(0) | st.integers(2, 200)


@given(positions, positions, st.integers(0, 300), st.integers(1, 100))
def test_passing_rises_from_zero_to_one_at_any_time(
    position: Position, over: Position, step: int, max_steps: int
) -> None:
    passing = Passing(position, over)
    here, later = (at(passing, place, max_steps) for place in (step, step + 1))
    assert 0.0 <= here <= later <= 1.0
    if over == 0:
        assert here in (0.0, 1.0)
    assert at(passing, 10**6, max_steps) == 1.0
    assert pickle.loads(pickle.dumps(passing)) == passing
    assert passing(rk.Progress(step, max_steps, training=False)) == 1.0


def test_passing_prints_its_call() -> None:
    assert [repr(Passing(0.3)), repr(Passing(30, 10))] == ["after(0.3)", "after(30, over=10)"]
