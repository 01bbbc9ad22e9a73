"""Penalties: a reward shifted so that its highest score is 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk


def told(low: float = 0.0, high: float = 1.0) -> rk.Reward:
    """A reward that reads its value from the completion."""

    def function(completion: str) -> float | None:
        if completion == "x":
            raise rk.RewardFailure("down")
        return None if completion == "-" else float(completion)

    made: rk.Reward = rk.reward(name="told", bounds=(low, high))(function)
    return made


def test_the_best_takes_nothing_and_the_worst_the_whole_size() -> None:
    table = rk.score(rk.penalty(told(-1.0, 3.0), 0.5), ["3", "-1", "1", "-", "x"])
    np.testing.assert_array_equal(table.total, [0.0, -0.5, -0.25, np.nan, np.nan])
    assert table.outcomes["told_penalty"].tolist() == ["scored"] * 3 + ["abstained", "failed"]
    assert rk.penalty(told(), 0.5).bounds == (-0.5, 0.0)
    assert rk.score(rk.penalty(told()), ["0.25"]).total.tolist() == [-0.75]


def test_a_failure_with_a_fallback_is_penalized_by_the_fallback() -> None:
    binding = told().facts.binding
    assert binding is not None
    down = rk.reward(name="down", on_failure=0.25)(binding.function)
    assert rk.score(rk.penalty(down, 2.0), ["x"]).total.tolist() == [-1.5]


finite = st.floats(-1e6, 1e6)


@given(finite, st.floats(1e-3, 1e6), st.lists(st.floats(0, 1), min_size=1, max_size=5), st.floats(1e-6, 1e6))
def test_it_is_the_reward_shifted_and_scaled(low: float, width: float, shares: list[float], size: float) -> None:
    high = low + width
    values = [min(max(low + share * width, low), high) for share in shares]
    table = rk.score(rk.penalty(told(low, high), size), list(map(repr, values)))
    np.testing.assert_allclose(table.total, [size * (value - high) / (high - low) for value in values], rtol=1e-9)
    assert all(-size <= total <= 0.0 for total in table.total)
    order = np.argsort(values, kind="stable")
    assert (np.diff(table.total[order]) >= 0.0).all()


def test_huge_sizes_do_not_overflow() -> None:
    assert rk.score(rk.penalty(told(-10.0, 10.0), 3e38), ["-10"]).total.tolist() == [-3e38]


def test_penalties_of_penalties_sums_and_means_are_penalties() -> None:
    one = told()
    once = rk.penalty(one, 0.5)
    assert rk.score(rk.penalty(once, 0.25), ["0.25"]).total.tolist() == [-0.1875]
    # 0.25 - 0.375 of at most 1 and at least -0.5
    assert rk.score(rk.penalty(one + once), ["0.25"]).total[0] == pytest.approx(-1.125 / 1.5)
    assert rk.score(rk.penalty(rk.mean(one, rk.maximum(one, one))), ["0.25"]).total[0] == -0.75
    assert list(rk.score(once + rk.penalty(one, 0.1), ["0"]).terms) == ["told_penalty", "told_penalty_2"]


def test_its_repr_is_its_expression() -> None:
    assert repr(rk.penalty(told(), 0.5)) == "penalty(told, 0.5)"
    assert repr(rk.penalty(told())) == "penalty(told)"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: rk.penalty(told(), 0.0), "size must be greater than 0, got 0"),
        (lambda: rk.penalty(told(), -0.5), "size must be greater than 0, got -0.5"),
        (lambda: rk.penalty(told(), math.nan), "penalty: size must be finite"),
        (lambda: rk.penalty(told(), "big"), "penalty: size must be a number"),  # type: ignore[arg-type]
        (lambda: rk.penalty(told(0.0, math.inf)), r"finite bounds.*\.clip\(low, high\)"),
        (lambda: rk.penalty(told(-1e308, 1e308)), "finite bounds"),
        (lambda: rk.penalty(told().clip(0.5, 0.5)), "finite bounds"),
        (lambda: rk.penalty(0.5), "penalty must be a reward"),  # type: ignore[arg-type]
    ],
)
def test_invalid_penalties_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()
