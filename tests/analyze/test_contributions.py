"""What each completion contributed to the change of a mean."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from numpy.typing import NDArray

from rewardkit.analyze import contributions
from rewardkit.analyze.contributions import change

Side = tuple[NDArray[np.float64], NDArray[np.int64]]
VALUES = st.one_of(st.floats(-1e3, 1e3), st.just(math.nan))
ROWS = st.lists(st.tuples(VALUES, st.integers(0, 6)), max_size=30)


def side(rows: list[tuple[float, int]]) -> Side:
    return np.array([value for value, _ in rows]), np.array([prompt for _, prompt in rows], dtype=np.int64)


def has_values(rows: list[tuple[float, int]]) -> bool:
    return any(not math.isnan(value) for value, _ in rows)


@given(ROWS, ROWS)
def test_same_prompts_new_prompts_and_mix_sum_to_the_jump(
    now: list[tuple[float, int]], before: list[tuple[float, int]]
) -> None:
    assume(has_values(now) and has_values(before))
    found = change(*side(now), *side(before))
    assert found.jump == pytest.approx(np.nanmean(side(now)[0]) - np.nanmean(side(before)[0]), abs=1e-9)
    assert found.same_prompts + found.new_prompts + found.mix == pytest.approx(found.jump, abs=1e-9)
    assert np.nansum(found.contributions) == pytest.approx(found.total, abs=1e-9)
    assert np.isnan(found.contributions).tolist() == [math.isnan(value) for value, _ in now]
    assert 0.0 <= found.paired <= 1.0


@given(st.lists(st.tuples(st.integers(0, 6), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
def test_where_prompts_pair_the_contributions_sum_to_the_jump(rows: list[tuple[int, float, float]]) -> None:
    prompts = np.array([prompt for prompt, _, _ in rows])
    now, before = (np.array([row[place] for row in rows]) for place in (2, 1))
    found = change(now, prompts, before, prompts)
    assert found.contributions.sum() == pytest.approx(found.jump, abs=1e-9)
    assert found.mix == pytest.approx(0.0, abs=1e-9)
    assert (found.paired, found.new_prompts) == (1.0, 0.0)


@given(st.data(), ROWS, ROWS)
def test_the_order_of_the_rows_does_not_matter(
    data: st.DataObject, now: list[tuple[float, int]], before: list[tuple[float, int]]
) -> None:
    places = data.draw(st.permutations(range(len(now))))
    found = change(*side(now), *side(before))
    moved = change(*side([now[place] for place in places]), *side(before[::-1]))
    np.testing.assert_allclose(moved.contributions, found.contributions[places], atol=1e-9)


def test_a_new_prompt_is_compared_with_all() -> None:
    found = change(np.array([1.0, 1.0]), np.array([0, 5]), np.array([0.0, 0.5]), np.array([0, 1]))
    assert found.contributions.tolist() == [0.5, 0.375]
    assert (found.same_prompts, found.new_prompts, found.mix, found.paired) == (0.5, 0.375, -0.125, 0.5)


def test_without_anything_before_there_are_no_contributions() -> None:
    found = change(np.array([1.0, 3.0]), np.array([0, 5]), np.array([np.nan]), np.array([0]))
    assert np.isnan(found.contributions).all()
    assert found.now == 2.0
    assert math.isnan(found.before)
    assert math.isnan(found.jump)
    assert math.isnan(change(np.empty(0), np.empty(0, np.int64), np.array([1.0]), np.array([0])).now)


def test_the_example_runs() -> None:
    assert doctest.testmod(contributions, extraglobs={"np": np}).failed == 0
