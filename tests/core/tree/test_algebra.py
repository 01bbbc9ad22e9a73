"""The algebra: what operators build, what they refuse, how it prints, what its fingerprint is."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.algebra import WeightedSum
from rewardkit.core.tree.fingerprints import described
from rewardkit.core.tree.reward import leaves


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


@pytest.mark.parametrize(
    ("build", "hint"),
    [
        (lambda: A * B, "rk.product"),
        (lambda: A + 1, "Remove the constant"),
        (lambda: A + rk.schedules.linear(0, 1), "reward \\* schedule"),
        (lambda: A + rk.extract.boxed(), "extract="),
        (lambda: A + len, "@rk.reward"),
        (lambda: A + "b", "must be a reward"),
        (lambda: A * "2", "must be a number"),
        (lambda: A * True, "must be a number"),
        (lambda: rk.score(len, ["x"]), "@rk.reward"),  # type: ignore[arg-type]
        (lambda: rk.exact("answer", extract=A), "extract="),
    ],
)
def test_what_is_no_reward_is_a_type_error_with_a_hint(build: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: A * float("nan"),
        lambda: A * float("inf"),
        lambda: A / 0,
        lambda: A.clip(1, 0),
        lambda: A.clip(float("nan"), 1),
    ],
)
def test_numbers_that_cannot_be_are_refused(build: Any) -> None:
    with pytest.raises(rk.RewardDefinitionError):
        build()


def test_bounds_follow_the_operators() -> None:
    assert (2 * A - B).bounds == (-1.0, 2.0)
    assert (A * rk.schedules.linear(-1.0, 2.0)).bounds == (-1.0, 2.0)
    assert (5 * A).clip(1, 2).bounds == (1.0, 2.0)
    high = rk.reward(name="high", bounds=(2.0, 3.0))(lambda completion: 2.0)
    assert (high + A).bounds == (0.0, 4.0)  # either may abstain


def test_what_abstained_drops_out_and_a_sum_of_nothing_abstains() -> None:
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


def test_a_constant_zero_never_runs_and_does_not_depend_on_who_else_does() -> None:
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
    from rewardkit.core.progress.schedule import Constant

    with pytest.raises(rk.RewardDefinitionError, match=r"nan"):
        rk.score(A + WeightedSum(((Constant(float("nan")), B),)), ["x"])


def test_rewards_print_as_the_expression_that_made_them() -> None:
    tree = 0.7 * rk.exact("answer") + rk.gate(rk.tags("think", partial=True), (A + B).clip(0, 1), otherwise=-1)
    assert repr(tree) == ("0.7*exact('answer') + gate(tags('think', partial=True), (a + b).clip(0, 1), otherwise=-1)")
    assert repr((A + B).named("x")) == "(a + b).named('x')"
    assert repr(rk.exact("a", extract=my_extractor, gold=rk.extract.after("####"))) == (
        "exact('a', extract=my_extractor, gold=after('####'))"
    )


def test_leaves_from_left_to_right() -> None:
    assert [reward.name for reward in leaves(rk.gate(A, B + A))] == ["a", "b", "a"]


def my_extractor(text: str) -> str | None:
    return text.upper()


def other_extractor(text: str) -> str | None:
    return text.lower()


class Settings:
    def __init__(self) -> None:
        self.words = frozenset(f"word{number}" for number in range(50))


SETTINGS = Settings()


@rk.reward
def module_level(completion: str) -> float:
    return 1.0


def example_tree() -> rk.Reward:
    def enclosing(completion: str) -> float:
        return 1.0 if [SETTINGS.words, my_extractor(completion), words, enclosing] else 0.0

    words = Settings().words
    own = rk.reward(name="own")(enclosing)
    return (
        rk.exact("answer", extract=my_extractor, gold=other_extractor)
        + rk.number("answer", extract=partial(my_extractor))
        + own
        + 0.5 * module_level
    )


DIFFERENT = [
    rk.exact("a"),
    rk.exact("b"),
    rk.exact("a", ignore_case=True),
    rk.exact("a", gold=rk.extract.after("####")),
    rk.exact("a", gold=rk.extract.boxed()),
    rk.exact("a", gold=my_extractor),
    rk.exact("a", gold=other_extractor),
    rk.exact("a", extract=my_extractor),
    rk.exact("a", extract=other_extractor),
    rk.number("a"),
    rk.number("a", thousands=True),
    rk.number("a", gold=rk.extract.after("####")),
    A,
    B,
    2 * A,
    A.clip(0, 1),
    A.named("x"),
    rk.gate(A, B),
    rk.gate(A, B, soft=True),
    A * rk.schedules.linear(0, 1),
    A * rk.schedules.linear(0, 1, end=0.5),
]


def test_different_rewards_differ_and_have_different_fingerprints() -> None:
    assert len(set(DIFFERENT)) == len(DIFFERENT)
    assert len({reward.fingerprint for reward in DIFFERENT}) == len(DIFFERENT)


def test_two_gold_extractors_are_two_rewards_with_two_scores() -> None:
    tree = rk.exact("answer").named("raw") + rk.exact("answer", gold=rk.extract.after("####")).named("marked")
    table = rk.score(tree, ["72"], answer=["so #### 72"])
    assert (table["raw"].tolist(), table["marked"].tolist()) == ([0.0], [1.0])


def test_a_fingerprint_is_16_hexadecimal_digits_and_the_same_in_every_process() -> None:
    here = example_tree().fingerprint
    assert len(here) == 16
    assert int(here, 16) >= 0
    code = "from tests.core.tree.test_algebra import example_tree; print(example_tree().fingerprint)"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == here


def test_nothing_described_holds_an_address() -> None:
    assert " at 0x" not in described(example_tree())


def test_the_source_of_a_user_function_is_part_of_the_fingerprint() -> None:
    def made(changed: bool) -> rk.Reward:
        if changed:

            def function(completion: str) -> float:
                return 0.25

        else:

            def function(completion: str) -> float:
                return 0.5

        return rk.reward(function)

    assert made(changed=True).fingerprint != made(changed=False).fingerprint
    assert made(changed=True).fingerprint == made(changed=True).fingerprint


def test_a_tree_pickles() -> None:
    tree = module_level + 0.5 * rk.gate(rk.tags("a"), rk.exact("answer", extract=my_extractor))
    assert pickle.loads(pickle.dumps(tree)) == tree


def test_traps_are_told() -> None:
    assert "cancels it" in Scorer((A + B) * rk.schedules.linear(0, 1)).traps()[0]
    assert "earns nothing" in Scorer(rk.gate(A, B)).traps()[0]
    assert "failing can beat passing" in Scorer(0.1 * A + rk.gate(A, B, otherwise=0.5)).traps()[0]
    assert Scorer(0.1 * A + rk.gate(A, B)).traps() == []
