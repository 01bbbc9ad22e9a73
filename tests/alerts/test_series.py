"""Windows, changes between them, and jumps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rewardkit.alerts.series import Series, changes, largest_jump, mean_by_step, window_starts
from rewardkit.batch.column import Floats


def series(values: Floats) -> Series:
    return Series(np.arange(len(values)), values)


def test_means_by_step_ignore_unknown_values() -> None:
    found = mean_by_step(np.array([3, 1, 3, 7]), np.array([1.0, 5.0, 2.0, np.nan]))
    assert found.steps.tolist() == [1, 3]
    assert found.values.tolist() == [5.0, 1.5]
    assert not len(mean_by_step(np.array([1]), np.array([np.nan])).steps)


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, []), (4, [0]), (9, [0]), (10, [0, 5]), (40, list(range(0, 40, 5))), (80, list(range(0, 80, 10)))],
)
def test_windows_have_at_least_five_steps(size: int, expected: list[int]) -> None:
    assert window_starts(np.arange(size)).tolist() == expected


def test_a_difference_in_standard_errors() -> None:
    values = np.random.default_rng(0).normal(0.0, 1.0, 1000) + np.repeat([0.0, 1.0], 500)
    found = changes(series(values), np.array([0, 500]))
    assert found.difference == pytest.approx([1.0], abs=0.2)
    assert found.error == pytest.approx([np.sqrt(2.0 / 500.0)], rel=0.2)
    assert (found.first[0], found.last[0]) == (0, 999)


def test_correlated_neighbors_widen_the_error() -> None:
    draw = np.random.default_rng(0)
    values = np.zeros(1000)
    for at in range(1, 1000):
        values[at] = 0.9 * values[at - 1] + draw.normal()
    starts = np.array([0, 500])
    assert changes(series(values), starts).error[0] > 3.0 * changes(series(draw.permutation(values)), starts).error[0]


def test_a_window_without_values_gives_no_change() -> None:
    found = changes(Series(np.array([0, 1, 20, 21]), np.array([1.0, 1.0, 2.0, 2.0])), np.array([0, 10, 20]))
    assert found.difference.tolist()[1] == 1.0
    assert np.isnan(found.difference[[0, 2]]).all()
    assert found.z[[0, 2]].tolist() == [0.0, 0.0]


@settings(deadline=None)
@given(st.integers(0, 2**31), st.integers(20, 60), st.sampled_from([-0.6, 0.6]))
def test_a_step_is_sudden_and_a_slope_is_not(seed: int, at: int, height: float) -> None:
    noise = np.random.default_rng(seed).normal(0.0, 0.02, 100)
    step, slope = np.where(np.arange(100) < at, 0.0, height), np.linspace(0.0, height, 100)
    jump = largest_jump(series(noise + step))
    assert jump is not None
    assert jump.step == at
    assert jump.difference == pytest.approx(height, abs=0.1)
    assert jump.suddenness > 0.9
    gradual = largest_jump(series(noise + slope))
    assert gradual is not None
    assert gradual.suddenness < 0.1


@pytest.mark.parametrize("values", [np.zeros(100), np.full(100, 0.1), np.arange(14.0), np.zeros(0)])
def test_a_constant_or_short_series_has_no_jump(values: Floats) -> None:
    assert largest_jump(series(values)) is None
