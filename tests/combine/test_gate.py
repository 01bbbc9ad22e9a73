"""Gates, hard and soft."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer

wrong: Any = rk.gate  # for arguments that a type checker refuses too


@rk.reward
def when(completion: str) -> float | None:
    if completion == "down":
        raise rk.RewardFailure("down")
    return None if completion == "abstain" else float(completion)


@rk.reward(bounds=(-1.0, 1.0))
def then(completion: str) -> float | None:
    return 0.8


@rk.reward(bounds=(-1.0, 1.0))
def signed(completion: str) -> float:
    return float(completion)


@rk.reward
def silent(completion: str) -> float | None:
    return None


def test_a_hard_gate_pays_otherwise_where_it_is_closed_and_is_open_where_the_condition_abstains() -> None:
    table = rk.score(rk.gate(when, then, otherwise=-0.5), ["1", "0.5", "abstain", "down"])
    np.testing.assert_array_equal(table.total, [0.8, -0.5, 0.8, np.nan])
    np.testing.assert_array_equal(table.terms["then"], [0.8, 0.0, 0.8, np.nan])
    np.testing.assert_array_equal(table.terms["when_gate.otherwise"], [0.0, -0.5, 0.0, np.nan])
    assert table.outcomes["then"].tolist() == ["scored", "skipped", "scored", "skipped"]
    assert table.gates == {"when_gate": pytest.approx(2 / 3)}


def test_a_closed_gate_is_scored_zero_never_unscorable() -> None:
    table = rk.score(rk.gate(when, silent), ["0", "1"])
    np.testing.assert_array_equal(table.total, [0.0, np.nan])


@pytest.mark.parametrize(("value", "is_open"), [("1", True), ("0.9999999999", True), ("0.99999999", False)])
def test_thresholds_compare_with_a_tolerance_of_one_billionth(value: str, is_open: bool) -> None:
    assert rk.score(rk.gate(when, then), [value]).total.tolist() == [0.8 if is_open else 0.0]


def test_a_threshold_may_be_a_schedule() -> None:
    tree = rk.gate(when, then, threshold=rk.schedules.linear(0.0, 1.0))
    totals = [rk.score(tree, ["0.5"], progress=rk.Progress(step, 10)).total[0] for step in (0, 5, 10)]
    assert totals == [0.8, 0.8, 0.0]
    assert rk.score(tree, ["0.5"]).total[0] == 0.0


def test_a_soft_gate_mixes() -> None:
    table = rk.score(rk.gate(when, then, otherwise=-1.0, soft=True), ["1", "0.25", "0", "abstain", "down"])
    np.testing.assert_allclose(table.total, [0.8, 0.25 * 0.8 - 0.75, -1.0, 0.8, np.nan])
    np.testing.assert_allclose(table.terms["then"], [0.8, 0.2, 0.0, 0.8, np.nan])
    np.testing.assert_allclose(table.terms["when_gate.otherwise"], [0.0, -0.75, -1.0, 0.0, np.nan])
    assert table.outcomes["then"].tolist() == ["scored", "scored", "skipped", "scored", "skipped"]


def test_a_soft_gate_abstains_where_its_inside_does() -> None:
    table = rk.score(rk.gate(when, silent, otherwise=-1.0, soft=True) + then, ["0.5", "0"])
    np.testing.assert_allclose(table.total, [0.8, -0.2])
    np.testing.assert_allclose(table.terms["silent"], [np.nan, 0.0])
    np.testing.assert_allclose(table.terms["when_gate.otherwise"], [0.0, -1.0])


def test_the_same_reward_may_be_condition_and_inside() -> None:
    assert rk.score(rk.gate(when, when, threshold=0.5), ["0.25", "0.75"]).total.tolist() == [0.0, 0.75]


def test_a_negative_threshold_suits_a_condition_that_can_be_negative() -> None:
    assert rk.score(rk.gate(signed, then, threshold=-0.5), ["-0.6", "-0.4"]).total.tolist() == [0.0, 0.8]


def told(place: int) -> rk.Reward:
    """A condition that reads its value from the completion: "0.5 - x" scores, abstains and fails."""

    def function(completion: str) -> float | None:
        word = completion.split()[place]
        if word == "x":
            raise rk.RewardFailure("down")
        return None if word == "-" else float(word)

    return rk.reward(name=f"told_{place}")(function)


A, B, C = (told(place) for place in range(3))


def test_several_conditions_open_where_all_do_and_later_ones_are_asked_only_there() -> None:
    table = rk.score(rk.gate([A, B], then), ["1 1", "1 0", "0 1", "0 x", "1 x", "- -", "- 0"])
    np.testing.assert_array_equal(table.total, [0.8, 0.0, 0.0, 0.0, np.nan, 0.8, 0.0])
    assert [str(outcome) for outcome in table.outcomes["told_1"]] == [
        *("scored", "scored", "skipped", "skipped", "failed", "abstained", "scored")
    ]
    assert table.gates == {"told_0_gate": pytest.approx(5 / 7), "told_1_gate": pytest.approx(2 / 4)}


def test_a_mapping_gives_each_condition_its_own_threshold() -> None:
    tree = rk.gate({A: 0.5, B: rk.schedules.linear(0.0, 1.0)}, then, otherwise=-0.25)
    assert tree == rk.gate(A, rk.gate(B, then, rk.schedules.linear(0.0, 1.0), -0.25), 0.5, -0.25)
    assert rk.score(tree, ["0.5 0.5", "0.4 1", "1 0.4"]).total.tolist() == [-0.25] * 3
    half = rk.Progress(5, 10)
    assert rk.score(tree, ["0.5 0.5", "0.4 1", "1 0.4"], progress=half).total.tolist() == [0.8, -0.25, -0.25]


def test_several_soft_conditions_multiply() -> None:
    assert rk.score(rk.gate([A, B], then, soft=True), ["0.5 0.25", "1 -"]).total.tolist() == [0.1, 0.8]
    mixed = rk.score(rk.gate([A, B], then, otherwise=-1.0, soft=True), ["0.5 0.25"]).total[0]
    assert mixed == pytest.approx(0.5 * (0.25 * 0.8 - 0.75) - 0.5)


def test_one_condition_in_a_list_is_that_condition_and_the_same_twice_is_fine() -> None:
    assert rk.gate([A], then, threshold=0.5) == rk.gate(A, then, threshold=0.5)
    table = rk.score(rk.gate([A, A], then, otherwise=-1.0), ["1", "0"])
    assert table.total.tolist() == [0.8, -1.0]
    assert table.gates == {"told_0_gate": 0.5, "told_0_gate_2": 1.0}


words = st.sampled_from(["0", "0.25", "0.5", "0.75", "1", "-"])
rows = st.lists(st.tuples(words, words, words).map(" ".join), min_size=1, max_size=8)


@given(
    st.lists(st.tuples(st.sampled_from([A, B]), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=3),
    st.sampled_from([-2.0, -1.0, 0.25]),
    rows,
)
def test_failing_never_beats_passing_if_otherwise_is_not_above_the_lowest_then(
    conditions: list[tuple[rk.Reward, float]], otherwise: float, completions: list[str]
) -> None:
    inside = C.clip(0.25, 1) if otherwise > 0 else 2 * C - 1 * C.clip(0.5, 1)
    assert otherwise <= inside.bounds[0]
    tree = rk.gate(dict(conditions), inside, otherwise=otherwise)
    assert not [trap for trap in Scorer(tree).traps() if "failing may score higher than passing" in trap]
    totals = rk.score(tree, completions).total
    opened = [
        all(
            word == "-" or float(word) >= limit
            for reward, limit in dict(conditions).items()
            for word in [said(row, reward)]
        )
        for row in completions
    ]
    for one, is_open in enumerate(opened):
        if not is_open:
            assert totals[one] == otherwise
        for other, other_open in enumerate(opened):
            if is_open and not other_open and not np.isnan(totals[one]):
                assert totals[other] <= totals[one]


def said(completion: str, reward: rk.Reward) -> str:
    return completion.split()[[A, B, C].index(reward)]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: rk.gate([], then), "gate: when= is empty"),
        (lambda: rk.gate({}, then), "gate: when= is empty"),
        (lambda: wrong([A, 0.5], then), "gate: when must be a reward, got 0.5"),
        (lambda: wrong({"form": A}, then), "gate: when must be a reward, got 'form'"),
        (lambda: wrong((A, 0.5), then), "gate: when must be a reward, got 0.5"),
        (lambda: wrong([A, B], "then"), "gate: then must be a reward"),
        (lambda: rk.gate({A: 0.5}, then, threshold=0.5), "already has its own threshold"),
        (lambda: rk.gate({A: 0.5}, then, soft=True), "a soft gate multiplies scores, so it has no threshold"),
        (lambda: rk.gate({A: 2.0}, then), "never reached"),
        (lambda: wrong({A: "high"}, then), "gate: threshold must be a number"),
        (lambda: wrong({A, B}, then), "gate: when must be a reward"),
        (lambda: rk.gate(when, then, threshold=-0.1), "every completion would pass"),
        (lambda: rk.gate(signed, then, threshold=-1.5), "every completion would pass"),
        (lambda: rk.gate(when, then, threshold=1.1), "never reached"),
        (lambda: rk.gate(when, then, threshold=float("nan")), "must be finite"),
        (lambda: rk.gate(when, then, otherwise=float("inf")), "must be finite"),
        (
            lambda: rk.gate(when, then, threshold=0.5, soft=True),
            "a soft gate multiplies scores, so it has no threshold",
        ),
        (lambda: rk.gate(signed, then, soft=True), r"within \[0, 1\]"),
        (lambda: wrong(float, then), "gate: when must be a reward"),
        (lambda: wrong(when, 1.0), "gate: then must be a reward"),
    ],
)
def test_gates_that_cannot_work_are_refused(build: Any, message: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=message):
        build()


def test_bounds_hold_otherwise_too() -> None:
    assert rk.gate(when, then, otherwise=-2.0).bounds == (-2.0, 1.0)
    assert rk.gate(when, then.clip(0.5, 1)).bounds == (0.0, 1.0)


def test_named_names_the_gate_and_its_otherwise() -> None:
    table = rk.score(rk.gate(when, then, otherwise=-0.5).named("format"), ["0", "1"])
    assert list(table.terms) == ["then", "format.otherwise"]
    assert table["format"].tolist() == [-0.5, 0.8]


def test_a_threshold_outside_the_bounds_of_the_condition_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"rises to 1\.5, which is never reached"):
        rk.gate(rk.tags("a"), rk.tags("b"), threshold=rk.schedules.linear(0.5, 1.5))
