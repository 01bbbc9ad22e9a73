"""Two runs on the same prompts: pairing, wins and losses, and what chance explains."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rewardkit.analyze.paired import pair, paired, prompt_means, sign_test

MEANS = st.lists(st.one_of(st.floats(-2.0, 2.0), st.just(math.nan)), min_size=0, max_size=30)


def test_prompts_are_paired_by_id_then_by_text() -> None:
    found = pair(["a", "b", "c", "d"], ["A", "B", "C", "same"], ["b", "x", "y", "z"], ["B", "C", "same", "same"])
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(1, 0), (2, 1)]
    assert (found.by_text, found.only_left, found.only_right, found.ambiguous) == (1, 2, 2, 3)


@given(st.lists(st.integers(0, 20), unique=True), st.lists(st.integers(0, 20), unique=True))
def test_every_prompt_is_paired_or_counted(left: list[int], right: list[int]) -> None:
    found = pair(
        [f"l{one}" if one % 3 else f"{one}" for one in left],
        [str(one // 2) for one in left],
        [f"r{one}" if one % 3 else f"{one}" for one in right],
        [str(one // 2) for one in right],
    )
    assert len(found.left) == len(found.right)
    assert len(set(found.left.tolist())) == len(set(found.right.tolist())) == len(found.left)
    assert len(found.left) + found.only_left == len(left)
    assert len(found.right) + found.only_right == len(right)
    assert len(found.left) - found.by_text == len({one for one in left if not one % 3} & set(right))
    assert all(left[a] // 2 == right[b] // 2 for a, b in zip(found.left, found.right, strict=True))


def test_means_are_over_scored_completions() -> None:
    means = prompt_means(np.array([0, 0, 1, 1, 2]), np.array([0.0, 1.0, np.nan, 0.5, np.nan]), 4)
    np.testing.assert_array_equal(means, [0.5, 0.5, np.nan, np.nan])


def test_small_differences_are_equal() -> None:
    found = paired(np.array([0.0, 0.5, 1.0, np.nan]), np.array([0.1, 0.51, 0.0, 1.0]), tolerance=0.01)
    assert (found.won, found.lost, found.equal, found.unscored) == (1, 1, 1, 1)
    assert found.outcomes.tolist() == [1, 0, -1, 0]
    assert found.mean == pytest.approx((0.1 + 0.01 - 1.0) / 3)
    assert found.interval is None


def test_an_even_split_is_chance_and_an_uneven_one_is_not() -> None:
    random = np.random.default_rng(0)
    left = random.random(400)
    noise = paired(left, left + random.normal(0.0, 0.2, 400))
    assert not noise.clear
    assert noise.chance > 0.05
    better = paired(left, left + random.normal(0.05, 0.2, 400))
    assert better.clear
    assert better.chance < 0.05


@given(MEANS, st.floats(0.0, 0.5))
def test_the_sides_are_treated_the_same(differences: list[float], tolerance: float) -> None:
    right = np.array(differences, dtype=np.float64)
    left = np.zeros(len(right))
    one, other = paired(left, right, tolerance), paired(right, left, tolerance)
    assert (one.won, one.lost, one.equal) == (other.lost, other.won, other.equal)
    assert one.count + one.unscored == len(right)
    assert one.chance == other.chance
    assert one.outcomes.tolist() == (-other.outcomes).tolist()
    assert one.clear == other.clear


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_exact(won: int, lost: int) -> None:
    tosses, fewer = won + lost, min(won, lost)
    tail = Fraction(sum(math.comb(tosses, count) for count in range(fewer + 1)), 2**tosses)
    assert sign_test(won, lost) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-9)


def test_the_interval_is_that_of_students_t() -> None:
    # 2.7764 is the 97.5 % quantile with four degrees of freedom.
    differences = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    found = paired(np.zeros(5), differences)
    reach = 2.7764 * differences.std(ddof=1) / math.sqrt(5)
    assert found.interval == pytest.approx((2.0 - reach, 2.0 + reach), abs=1e-3)
