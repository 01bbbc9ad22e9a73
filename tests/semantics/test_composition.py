"""The exact semantics of composed rewards: components, terms, composites, names, gates, sharing.

The number in each test's name is the number of the rule in the design document.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from tests.semantics.leaves import HALF, NAN, SILENT, constantly, down, leaf, lists, marked
from tests.trees import accuracy, length

# 1. Rows, components, terms


def test_1_a_component_has_a_value_where_scored_and_nan_elsewhere_and_an_outcome_for_each_row() -> None:
    table = rk.score(rk.gate(marked("o"), HALF), ["o", ""])
    np.testing.assert_array_equal(table["half"], [0.5, NAN])
    assert table.outcomes["half"].tolist() == ["scored", "skipped"]


def test_1_a_live_component_that_failed_makes_every_term_and_the_total_nan() -> None:
    table = rk.score(HALF + down(when="x"), ["x", ""])
    np.testing.assert_array_equal(table.total, [NAN, 1.0])
    np.testing.assert_array_equal(table.terms["half"], [NAN, 0.5])


def test_1_if_nothing_was_scored_every_term_and_the_total_are_nan() -> None:
    table = rk.score(SILENT + 0 * HALF, ["a"])
    assert np.isnan([table.total[0], table.terms["silent"][0], table.terms["half"][0]]).all()


def test_1_a_term_behind_a_closed_gate_is_zero() -> None:
    assert rk.score(rk.gate(marked("o"), HALF), [""]).terms["half"].tolist() == [0.0]


def test_1_a_term_is_zero_where_another_branch_of_the_route_is_scored() -> None:
    table = rk.score(rk.route({"a": HALF, "b": marked("o")}, by="task"), ["", "o"], task=["a", "b"])
    assert lists(table) == {"half": [0.5, 0.0], "o": [0.0, 1.0]}


def test_1_a_term_with_weight_zero_is_zero() -> None:
    tree = HALF + marked("o") * rk.schedules.linear(0, 1)
    assert rk.score(tree, ["o"], progress=rk.Progress(0, 9)).terms["o"].tolist() == [0.0]


def test_1_a_term_that_abstained_is_nan_and_drops_out_of_the_sum() -> None:
    table = rk.score(HALF + SILENT, ["a"])
    assert np.isnan(table.terms["silent"][0])
    assert table.total.tolist() == [0.5]


def test_1_a_closed_gate_counts_as_scored_at_otherwise_which_is_a_term_unless_zero() -> None:
    table = rk.score(rk.gate(marked("o"), SILENT, otherwise=-0.5), [""])
    assert table.total.tolist() == [-0.5]
    assert lists(table) == {"silent": [0.0], "o_gate.otherwise": [-0.5]}
    assert rk.score(rk.gate(marked("o"), SILENT), [""]).total.tolist() == [0.0]


def test_1_a_malformed_completion_behind_a_gate_never_becomes_unscorable() -> None:
    assert rk.score(rk.gate(marked("o"), down()), [""]).total.tolist() == [0.0]


# 2. Live, composites


@pytest.mark.parametrize(
    "composite",
    [
        lambda *parts: (parts[0] + parts[1]).named("x"),
        lambda *parts: rk.mean(*parts).named("x"),
        lambda *parts: rk.product(*parts).named("x"),
        lambda *parts: rk.minimum(*parts).named("x"),
        lambda *parts: rk.maximum(*parts).named("x"),
    ],
)
def test_2_a_composite_fails_if_any_part_fails_and_abstains_only_if_all_parts_abstain(composite: Any) -> None:
    def outcome(*parts: rk.Reward) -> str:
        return str(rk.score(composite(*parts), ["a"]).outcomes["x"][0])

    other = leaf("other", lambda completion: None)
    assert outcome(HALF, down()) == "failed"
    assert outcome(SILENT, down()) == "failed"
    assert outcome(SILENT, other) == "abstained"
    assert outcome(SILENT, HALF) == "scored"


def test_2_rewards_that_are_gated_or_routed_off_or_have_no_weight_are_not_live() -> None:
    off = [
        rk.gate(marked("o"), down()),
        rk.route({"a": HALF, "b": down()}, by="task"),
        down() * rk.schedules.linear(0, 1),
    ]
    for tree in off:
        table = rk.score(HALF + tree, [""], task=["a"], progress=rk.Progress(0, 9))
        assert np.isfinite(table.total).all()


def test_2_a_mean_rejects_negative_weights_and_abstains_if_its_weights_add_up_to_zero() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="negative"):
        rk.mean({HALF: -1})
    mean = rk.mean({HALF: rk.schedules.linear(0, 1)}).named("mean")
    assert rk.score(mean, ["a"], progress=rk.Progress(0, 9)).outcomes["mean"].tolist() == ["abstained"]


# 3. Keys and names


def test_3_equal_nodes_are_one_component_one_evaluation_and_one_merged_term() -> None:
    calls: list[str] = []

    def function(completion: str) -> float:
        calls.append(completion)
        return 0.5

    part = rk.reward(name="part")(function)
    again = rk.reward(name="part")(function)
    table = rk.score(0.5 * part + rk.gate(marked("o"), 2 * again), ["o", ""])
    assert calls == ["o", ""]
    assert list(table.components) == ["part", "o"]
    assert table.terms["part"].tolist() == [1.25, 0.25]


def test_3_different_nodes_with_the_same_name_are_an_error_but_get_a_prefix_inside_routes() -> None:
    other = leaf("half", lambda completion: 0.25)
    with pytest.raises(rk.RewardDefinitionError, match="half"):
        Scorer(HALF + other)
    assert Scorer(rk.route({"a": HALF, "b": other}, by="task")).terms == ["a.half", "b.half"]


# 4. Gates


def test_4_a_gate_opens_at_the_threshold_minus_one_billionth() -> None:
    for value, total in ((0.5, 0.5), (0.5 - 9e-10, 0.5), (0.5 - 2e-9, 0.0)):
        condition = rk.reward(name="condition", bounds=(value, 1.0))(constantly(value))
        assert rk.score(rk.gate(condition, HALF, threshold=0.5), ["a"]).total.tolist() == [total]


def test_4_a_soft_gate_needs_a_bounded_condition_and_no_threshold_and_mixes() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="within"):
        rk.gate(length, HALF, soft=True)
    with pytest.raises(rk.RewardDefinitionError, match="threshold"):
        rk.gate(accuracy, HALF, soft=True, threshold=1.0)
    condition = leaf("condition", lambda completion: 0.25)
    assert rk.score(rk.gate(condition, HALF, otherwise=-1.0, soft=True), ["a"]).total.tolist() == [0.125 - 0.75]


def test_4_a_soft_gate_skips_its_reward_where_the_condition_is_zero() -> None:
    table = rk.score(rk.gate(marked("o"), HALF, soft=True), ["o", ""])
    assert table.outcomes["half"].tolist() == ["scored", "skipped"]


# 5. Sharing and scopes


def test_5_a_node_in_several_places_is_evaluated_on_the_union_of_its_live_rows() -> None:
    seen: list[str] = []
    part = leaf("part", lambda completion: seen.append(completion) or 0.5)  # type: ignore[func-returns-value]
    rk.score(rk.gate(marked("a"), part) + rk.gate(marked("b"), part), ["a", "b", "ab", ""])
    assert sorted(seen) == ["a", "ab", "b"]


@pytest.mark.parametrize(("scope", "calls"), [("group", [["o", ""]]), ("batch", [["o", "", "", ""]])])
def test_5_group_and_batch_scope_see_all_rows_and_closed_rows_are_masked(scope: Any, calls: list[list[str]]) -> None:
    seen: list[list[str]] = []

    def function(completion: list[str]) -> list[float]:
        seen.append(list(completion))
        return [0.5] * len(completion)

    part = rk.reward(name="part", scope=scope)(function)
    table = rk.score(rk.gate(marked("o"), part), ["o", "", "", ""], prompts=["p", "p", "q", "q"])
    assert seen == calls
    np.testing.assert_array_equal(table["part"], [0.5, NAN, NAN, NAN])


def test_5_groups_are_contiguous_rows_with_equal_prompt_and_columns_split_by_num_generations() -> None:
    seen: list[int] = []

    @rk.reward(scope="group")
    def sizes(completion: list[str]) -> list[float]:
        seen.append(len(completion))
        return [0.5] * len(completion)

    prompts, answers = ["p", "p", "p", "p", "q", "r"], [1, 1, 1, 2, 2, 1]
    Scorer(sizes).score(rk.Batch(list("abcdef"), prompts=prompts, columns={"answer": answers}))
    assert seen == [3, 1, 1, 1]
    seen.clear()
    Scorer(sizes).score(rk.Batch(list("abcd"), prompts=["p"] * 4, num_generations=2))
    assert seen == [2, 2]
