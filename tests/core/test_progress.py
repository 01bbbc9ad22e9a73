"""Progress and the arithmetic of schedules."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.core.progress import Constant, Progress, as_weight, multiplied, scaled_bounds, weight_now
from rewardkit.schedules import linear

RISE, FALL = rk.schedules.linear(0.0, 1.0), rk.schedules.linear(2.0, 0.0)
HALF = rk.Progress(5, 10)


def test_fraction_is_the_share_of_training_done() -> None:
    assert rk.Progress(20, 100).fraction == 0.2
    assert rk.Progress(200, 100).fraction == 1.0
    assert rk.Progress(0, 1).fraction == 0.0


@pytest.mark.parametrize(("step", "max_steps"), [(-1, 10), (0, 0), (1, -1)])
def test_impossible_progress_is_refused(step: int, max_steps: int) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="step >= 0 and max_steps >= 1"):
        rk.Progress(step, max_steps)


def test_progress_holds_copies_that_nobody_changes_and_pickles() -> None:
    means = {"a": 0.5}
    progress = rk.Progress(1, 10, means=means, states={RISE: 3})
    means["a"] = 1.0
    assert progress.means == {"a": 0.5}
    with pytest.raises(TypeError):
        progress.means["a"] = 1.0  # type: ignore[index]
    assert pickle.loads(pickle.dumps(progress)) == progress
    assert isinstance(hash(progress), int)


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
def test_what_is_no_number_is_no_weight(value: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="a weight must be"):
        as_weight(value)


def test_constants_become_numbers_and_ones_disappear() -> None:
    assert as_weight(Constant(2.0)) == 2.0
    assert multiplied(1.0, RISE) is RISE
    assert multiplied(RISE, 1.0) is RISE
    assert multiplied(2.0, 3.0) == 6.0
    assert weight_now(multiplied(RISE, FALL), HALF) == pytest.approx(0.5)


def test_bounds_of_products_know_that_nothing_times_infinity_is_nothing() -> None:
    inf = float("inf")
    assert scaled_bounds((0.0, 0.0), (-inf, inf)) == (0.0, 0.0)
    assert scaled_bounds((-1.0, 2.0), (-3.0, 1.0)) == (-6.0, 3.0)


def test_schedules_are_subtracted_and_negated() -> None:
    falling = 1.0 - linear(0.0, 1.0)
    assert falling(Progress(25, 100)) == pytest.approx(0.75)
    assert falling() == 0.0
    assert (-linear(0.0, 1.0)).bounds == (-1.0, 0.0)
    assert (linear(0.0, 1.0) - linear(0.0, 0.5))(Progress(50, 100)) == pytest.approx(0.25)
    with pytest.raises(TypeError):
        linear(0.0, 1.0) - "half"
