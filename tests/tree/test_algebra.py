"""The algebra: what operators build, how it is evaluated, and how it prints."""

from __future__ import annotations

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.tree.algebra import WeightedSum


def leaf(name: str, value: float | None = 0.5) -> rk.Reward:
    def function(completion: str) -> float | None:
        return value

    return rk.reward(name=name)(function)


A, B = leaf("a", 0.5), leaf("b", 0.25)


@pytest.mark.parametrize(
    ("tree", "total"),
    [
        (A + B, 0.75),
        (2 * A, 1.0),
        (A * 2, 1.0),
        (np.float64(2) * A, 1.0),
        (A / 2, 0.25),
        (A - B, 0.25),
        (-A, -0.5),
        (sum([A, B]), 0.75),
        (2 * (A + 3 * B) - B, 2.25),
        (A + A, 1.0),
        (A - A, 0.0),
        (0 * A + B, 0.25),
        ((2 * A).clip(0, 0.75), 0.75),
        (A.clip(), 0.5),
        ((-A).clip(-1, 1), -0.5),
    ],
)
def test_operators_compute_what_they_say(tree: rk.Reward, total: float) -> None:
    table = rk.score(tree, ["x"])
    assert table.total.tolist() == [pytest.approx(total)]
    assert sum(values[0] for values in table.terms.values()) == pytest.approx(total)


def test_sums_of_sums_are_one_sum() -> None:
    tree = 2.0 * (A + 0.5 * (B + A))
    assert isinstance(tree, WeightedSum)
    assert tree.items == ((2.0, A), (1.0, B), (1.0, A))


def test_bounds_follow_the_operators() -> None:
    assert (2 * A - B).bounds == (-1.0, 2.0)
    assert (A * rk.schedules.linear(-1.0, 2.0)).bounds == (-1.0, 2.0)
    assert (5 * A).clip(1, 2).bounds == (1.0, 2.0)
    high = rk.reward(name="high", bounds=(2.0, 3.0))(lambda completion: 2.0)
    assert (high + A).bounds == (0.0, 4.0)  # either may abstain


def test_abstentions_drop_out_and_a_sum_of_nothing_else_abstains() -> None:
    silent = leaf("silent", None)
    assert rk.score(A + silent, ["x"]).total.tolist() == [0.5]
    table = rk.score((silent + 2 * leaf("mute", None)).named("both"), ["x"])
    assert table.outcomes["both"].tolist() == ["abstained"]
    assert np.isnan(table.total).all()


def test_a_sum_whose_weights_are_all_zero_now_is_scored_zero() -> None:
    later = A * rk.schedules.linear(0.0, 1.0)
    table = rk.score(later, ["x"], progress=rk.Progress(0, 10))
    assert table.total.tolist() == [0.0]
    assert table.terms["a"].tolist() == [0.0]
    assert table["a"].tolist() == [0.5]


def test_a_constant_zero_is_never_evaluated_for_its_sum() -> None:
    for tree in ((0 * A).named("off") + A, A + (0 * A).named("off")):
        table = rk.score(tree, ["x"])
        assert table.outcomes["off"].tolist() == ["abstained"]
        assert table.total.tolist() == [0.5]
    table = rk.score(0 * A + B, ["x"])
    assert table.outcomes["a"].tolist() == ["skipped"]
    assert table.terms["a"].tolist() == [0.0]


def test_an_expensive_reward_rests_while_its_weight_is_zero() -> None:
    calls: list[str] = []

    @rk.reward(expensive=True)
    def judge(completion: str) -> float:
        calls.append(completion)
        return 0.5

    tree = A + judge * rk.schedules.linear(0.0, 1.0)
    table = rk.score(tree, ["x"], progress=rk.Progress(0, 10))
    assert table.outcomes["judge"].tolist() == ["skipped"]
    assert calls == []
    assert rk.score(tree, ["x"], progress=rk.Progress(10, 10)).total.tolist() == [1.0]


def test_a_failure_at_weight_zero_fails_nothing() -> None:
    @rk.reward
    def down(completion: str) -> float:
        raise rk.RewardFailure("down")

    table = rk.score(A + down * rk.schedules.linear(0.0, 1.0), ["x"], progress=rk.Progress(0, 10))
    assert table.total.tolist() == [0.5]
    assert table.outcomes["down"].tolist() == ["failed"]


def test_a_schedule_that_gives_nonsense_is_named() -> None:
    from rewardkit.progress.schedule import Constant

    with pytest.raises(rk.RewardDefinitionError, match=r"nan"):
        rk.score(A + WeightedSum(((Constant(float("nan")), B),)), ["x"])


def test_rewards_print_as_the_expression_that_made_them() -> None:
    tree = 0.7 * rk.exact("answer") + rk.gate(rk.tags("think", partial=True), (A + B).clip(0, 1), otherwise=-1)
    assert repr(tree) == ("0.7*exact('answer') + gate(tags('think', partial=True), (a + b).clip(0, 1), otherwise=-1)")
    assert repr((A + B).named("x")) == "(a + b).named('x')"
    assert repr(rk.exact("a", extract=my_extractor, gold=rk.extract.after("####"))) == (
        "exact('a', extract=my_extractor, gold=after('####'))"
    )


def my_extractor(text: str) -> str | None:
    return text.upper()
