"""Conversion of what users write into a Reward."""

from __future__ import annotations

from typing import Any

import pytest

import rewardkit as rk
from rewardkit.tree.conversion import reward_of, tree_of


def short(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(len(completion) < 5) for completion in completions]


def right(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    return [float(gold in completion) for completion, gold in zip(completions, answer, strict=True)]


def test_a_plain_function_is_what_from_trl_makes_of_it() -> None:
    assert reward_of(short, "x") == rk.from_trl(short)
    assert tree_of([short, rk.exact("answer")], "x") == rk.from_trl(short) + rk.exact("answer")


@pytest.mark.parametrize("other", [rk.exact, rk.extract.tag("answer"), rk.schedules.linear(0.0, 1.0), float, 0.5, None])
def test_other_things_are_no_rewards(other: Any) -> None:
    with pytest.raises(rk.errors.RewardTypeError, match=r"gate: when must be a reward"):
        reward_of(other, "gate: when")


S, R = rk.from_trl(short), rk.from_trl(right)


@pytest.mark.parametrize(
    ("made", "same"),
    [
        (rk.weighted_sum([short, right]), S + R),
        (rk.weighted_sum(short, right), S + R),
        (rk.weighted_sum({short: 1, right: 2}), S + 2 * R),
        (rk.weighted_sum([(1, short), (right, 2)]), S + 2 * R),
        (rk.weighted_sum({"size": short, "ok": (2, right)}), S.named("size") + 2 * R.named("ok")),
        (rk.weighted_sum(short), 1 * S),
        (rk.mean(short, right), rk.mean(S, R)),
        (rk.minimum(short, right), rk.minimum(S, R)),
        (rk.gate(right, short), rk.gate(R, S)),
        (rk.gate([short, right], right), rk.gate([S, R], R)),
        (rk.gate({right: 0.5}, short), rk.gate({R: 0.5}, S)),
        (rk.fallback(short, right), rk.fallback(S, R)),
        (rk.monitor(short), rk.monitor(S)),
        (rk.rank_in_group(short), rk.rank_in_group(S)),
        (rk.route({"a": short, "b": right}, by="kind"), rk.route({"a": S, "b": R}, by="kind")),
        (
            rk.curriculum(rk.Stage("a", short, until=0.5), rk.Stage("b", right)),  # type: ignore[arg-type]
            rk.curriculum(rk.Stage("a", S, until=0.5), rk.Stage("b", R)),
        ),
    ],
    ids=lambda reward: repr(reward)[:40],
)
def test_functions_that_combine_rewards_take_plain_functions(made: rk.Reward, same: rk.Reward) -> None:
    assert made == same


def test_weights_of_plain_functions_count() -> None:
    table = rk.score(rk.weighted_sum({short: 1, right: 2}), ["42", "long text"], answer=["42", "42"])
    assert table.total.tolist() == [3.0, 0.0]
