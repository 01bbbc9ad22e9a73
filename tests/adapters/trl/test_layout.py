"""The columns and weights for a trainer: their sum, computed as in TRL, is the total."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rewardkit as rk
from rewardkit_adapters.trl.layout import Columns, RewardColumns
from tests.adapters.trl.stand_ins import (
    StandInTrainer,
    call,
    plain,
    polite,
    short,
    slow,
    trl_total,
    unjudged,
    without_trainer,
)
from tests.trees import LEAVES, Rows, rows, trees

# Any tree


def made(reward: rk.Reward, columns: Columns) -> Any:
    """Return the list; None if to_trl refuses the random tree (a name clash, or nothing trains)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rk.errors.RewardKitWarning)
        try:
            return rk.to_trl(reward, outputs=columns, limits=rk.Limits(max_failure_rate=1.0, max_error_rate=1.0))
        except rk.RewardDefinitionError:
            return None


@pytest.mark.parametrize("columns", get_args(Columns))
@given(reward=trees(groups=True), scored=rows(), step=st.integers(0, 10), training=st.booleans())
def test_the_sum_that_trl_makes_is_the_total(
    columns: Columns, reward: rk.Reward, scored: Rows, step: int, training: bool
) -> None:
    functions = made(reward, columns)
    assume(functions is not None)
    trainer = StandInTrainer(functions, reward_weights=functions.reward_weights, step=step, num_generations=None)
    # A first batch without a bug, after which bugs score.
    trainer.rewards(["9" * LEAVES] * 2, ["a", "b"], task=["math", "code"])
    trainer.model.training = training
    batch = scored.batch(rk.Progress(step, 10, training))
    total = trainer.rewards(list(scored.completions), batch.prompts, **batch.columns)
    expected = rk.Scorer(reward).score(batch, strict=False).total
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-5)


# Terms


def test_a_closed_gate_counts_as_scored_even_if_what_it_guards_abstains_elsewhere() -> None:
    @rk.reward
    def silent(completion: str) -> float | None:
        return None if "quiet" in completion else 1.0

    # Both places of `silent` are one term; a row whose only term were None would be unscorable for TRL.
    with pytest.warns(rk.errors.RewardKitWarning, match="is not rewarded itself"):
        (function,) = rk.to_trl(rk.gate(when=polite, then=silent) + silent)
    assert function(completions=["quiet", "quiet please", "please"], prompts=["p"] * 3) == [0.0, None, 2.0]


def test_terms_are_one_function_per_additive_share() -> None:
    reward = 0.7 * rk.product(short, polite) + 0.3 * short + rk.gate(when=short, then=slow, otherwise=-0.5).named("g")
    functions = rk.to_trl(reward)
    assert [function.__name__ for function in functions] == ["product", "short", "slow", "g.otherwise"]
    assert functions.reward_weights == [1.0] * 4
    columns = call(functions, ["", "xx"])
    assert columns["slow"].tolist() == [0.0, 0.0]
    assert columns["g.otherwise"].tolist() == [0.0, -0.5]


def test_an_unscorable_row_is_none_for_every_function() -> None:
    functions = rk.to_trl(0.5 * unjudged + short)
    keywords: dict[str, Any] = {"completions": ["down", "up"], "prompts": ["p", "p"]}
    assert [function(**keywords) for function in functions] == [[None, 0.25], [None, 1 / 3]]


def test_a_value_that_float32_cannot_hold_is_an_error() -> None:
    huge = (1e39 * short).named("huge")
    for columns in get_args(Columns):
        functions = rk.to_trl(huge + short, outputs=columns)
        with pytest.raises(rk.RewardFailure, match=r"huge 5e\+38.*float32"):
            call(functions, ["a"])


def test_a_total_that_float32_cannot_hold_is_an_error_even_if_each_column_fits() -> None:
    for reward in (2e38 * short + 3e38 * short.named("again"), 3e38 * short):
        functions = rk.to_trl(reward)
        trainer = StandInTrainer(functions)
        if len(functions) == 1:
            assert np.isfinite(trainer.rewards([""])).all()
        else:
            with pytest.raises(rk.RewardFailure, match=r"total in row 0 is 5e\+38 .*again 3e\+38.*float32"):
                trainer.rewards([""])
    weighted = StandInTrainer(rk.to_trl([plain, short]), reward_weights=[3e38, 1.0])
    with pytest.raises(rk.RewardFailure, match=r"total in row 0 is 6e\+38"):
        weighted.rewards(["xx"])


# Components


def test_components_of_a_weighted_sum_are_raw_with_the_weights_beside_them() -> None:
    functions = rk.to_trl(0.7 * short + 2 * (0.3 * polite + 0.5 * short) + rk.monitor(slow), outputs="components")
    assert [function.__name__ for function in functions] == ["short", "polite", "slow"]
    assert functions.reward_weights == pytest.approx([1.7, 0.6, 0.0])
    columns = call(functions, ["", "please"])
    assert columns["short"].tolist() == [1.0, pytest.approx(1 / 7)]
    assert columns["polite"].tolist() == [-1.0, 1.0]


def test_any_other_tree_has_a_total_and_components() -> None:
    functions = rk.to_trl(rk.gate(when=short, then=polite, otherwise=-1.0) + 0.5 * short, outputs="components")
    assert [function.__name__ for function in functions] == ["total", "short", "polite"]
    assert functions.reward_weights == [1.0, 0.0, 0.0]
    columns = call(functions, ["", "please"])
    assert columns["total"].tolist() == [-0.5, pytest.approx(-1.0 + 0.5 / 7)]
    assert np.isnan(columns["polite"][1])


def test_a_component_that_is_called_total_clashes_only_where_the_sum_needs_a_column() -> None:
    named = polite.named("total")
    assert call(rk.to_trl(short + named, outputs="components"), ["please"])["total"].tolist() == [1.0]
    with pytest.raises(rk.RewardDefinitionError, match="'total'"):
        rk.to_trl(rk.gate(when=short, then=named, otherwise=-1.0) + short, outputs="components")


def test_weight_zero_does_not_hide_that_a_row_is_unscorable() -> None:
    functions = rk.to_trl(rk.product(unjudged, short) + rk.monitor(polite), outputs="components")
    columns = call(functions, ["down please"])
    assert all(np.isnan(values).all() for values in columns.values())


def test_scheduled_weights_start_where_training_starts_and_move() -> None:
    reward = short * rk.schedules.linear(0.2, 1.0) + polite * rk.schedules.piecewise({0.0: 1.0, 1.0: 0.0}) + 0.5 * short
    functions = rk.to_trl(reward, outputs="components")
    assert functions.reward_weights == pytest.approx([0.7, 1.0])
    trainer = StandInTrainer([plain, *functions], reward_weights=[1.0, *functions.reward_weights])
    with pytest.warns(rk.errors.RewardKitWarning, match="also has reward functions"):
        trainer.rewards(["a"])
    for step, expected in ((0, [0.7, 1.0]), (5, [1.1, 0.5]), (10, [1.5, 0.0])):
        trainer.state.global_step = step
        total = trainer.rewards(["a"])
        assert trainer.reward_weights.tolist() == pytest.approx([1.0, *expected])
        assert total.tolist() == pytest.approx([1.0 + expected[0] * 0.5 - expected[1]])


@without_trainer
def test_scheduled_weights_that_cannot_be_moved_are_an_error() -> None:
    functions = rk.to_trl(short * rk.schedules.linear(0.2, 1.0) + polite, outputs="components")
    with pytest.raises(rk.RewardFailure, match='outputs="terms"'):
        call(functions, ["a"], trainer_state=SimpleNamespace(global_step=0, max_steps=10))


def test_float32_aggregation_agrees_by_hand() -> None:
    functions = rk.to_trl(0.7 * short + 0.3 * polite, outputs="components")
    columns = call(functions, ["", "please", "x"])
    total = trl_total(list(columns.values()), functions.reward_weights)
    assert total.tolist() == pytest.approx([0.7 - 0.3, 0.1 + 0.3, 0.35 - 0.3])


def test_weights_that_gdpo_would_cancel_are_seen_in_curricula_too() -> None:
    plain = rk.curriculum([rk.Stage("first", short, until=0.5), rk.Stage("then", 0.2 * short + polite)])
    assert not RewardColumns.of(plain, "terms").separable
    assert RewardColumns.of(plain, "components").separable
    assert RewardColumns.of(short + polite, "terms").separable
