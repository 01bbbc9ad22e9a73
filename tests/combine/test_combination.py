"""Product, minimum, maximum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewardkit as rk


@rk.reward(bounds=(-2.0, 2.0))
def first(completion: str) -> float | None:
    if completion == "down":
        raise rk.RewardFailure("down")
    return {"both": 2.0, "negative": -1.0}.get(completion)


@rk.reward
def second(completion: str) -> float | None:
    return None if completion == "nothing" else 0.5


@pytest.mark.parametrize(
    ("build", "totals"),
    [
        (rk.product, [1.0, -0.5, 0.5, np.nan, np.nan]),
        (rk.minimum, [0.5, -1.0, 0.5, np.nan, np.nan]),
        (rk.maximum, [2.0, 0.5, 0.5, np.nan, np.nan]),
    ],
)
def test_rewards_that_abstain_are_left_out_and_a_failure_fails_the_row(build: Any, totals: list[float]) -> None:
    completions = ["both", "negative", "one", "nothing", "down"]
    for tree in (build(first, second), build([first, second])):
        table = rk.score(tree, completions)
        np.testing.assert_array_equal(table.total, totals)
        assert list(table.terms) == [tree.name]
        assert list(table.components) == [tree.name, "first", "second"]
        outcomes = table.outcomes[tree.name].tolist()
        assert outcomes == ["scored", "scored", "scored", "abstained", "failed"]


def test_bounds_hold_for_every_subset_that_does_not_abstain() -> None:
    assert rk.product(first, second).bounds == (-2.0, 2.0)
    assert rk.product(first, first.clip(-2, 1)).bounds == (-4.0, 4.0)
    assert rk.minimum(first, second).bounds == (-2.0, 2.0)


@pytest.mark.parametrize("build", [rk.product, rk.minimum, rk.maximum])
def test_nothing_to_combine_is_an_error(build: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError, match="at least one reward"):
        build([])
    with pytest.raises(rk.RewardDefinitionError):
        build()
    with pytest.raises(TypeError, match="an item must be a reward"):
        build(first, 2.0)
