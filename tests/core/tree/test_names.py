"""Naming: one name per distinct node, prefixes under routes, numbers for names that nobody chose."""

from __future__ import annotations

import pytest

import rewardkit as rk
from rewardkit.core.evaluation.scorer import Scorer


def leaf(name: str, value: float = 0.5) -> rk.Reward:
    return rk.reward(name=name)(lambda completion: value)


A, B, C = leaf("a"), leaf("b"), leaf("c")


def test_components_and_terms_come_in_the_order_of_the_tree() -> None:
    scorer = Scorer(0.2 * B + 0.8 * A + rk.gate(A, C))
    assert scorer.components == ["b", "a", "c"]
    assert scorer.terms == ["b", "a", "c"]


def test_equal_nodes_are_one_component_and_one_term() -> None:
    scorer = Scorer(A + 0.5 * A + rk.gate(B, A))
    assert scorer.components == ["a", "b"]
    assert scorer.terms == ["a"]


def test_different_rewards_of_one_name_are_refused_and_shown() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"name 'a'.*named"):
        Scorer(A + leaf("a"))
    with pytest.raises(rk.RewardDefinitionError, match="'a'"):
        Scorer(A + B.named("a"))


def test_inside_routes_the_key_prefixes_a_clashing_name_and_no_other() -> None:
    scorer = Scorer(rk.route({"math": leaf("a") + B, "code": leaf("a") + C}, by="task"))
    assert scorer.components == ["math.a", "b", "code.a", "c"]


def test_a_reward_in_two_branches_keeps_its_plain_name() -> None:
    assert Scorer(rk.route({"math": A, "code": A}, by="task")).components == ["a"]


def test_a_default_branch_has_a_prefix_too() -> None:
    scorer = Scorer(rk.route({"math": leaf("a")}, by="task", default=leaf("a")))
    assert scorer.components == ["math.a", "default.a"]


def test_nested_routes_prefix_with_all_their_keys() -> None:
    inner = rk.route({1: leaf("a"), 2: leaf("a")}, by="level")
    assert Scorer(rk.route({"math": inner, "code": B}, by="task")).components == ["math.1.a", "math.2.a", "b"]


def test_names_that_nobody_chose_get_numbers() -> None:
    scorer = Scorer(rk.product(A, B) + rk.product(B, C) + rk.product(A, C) + A.clip(0, 0.5) + A.clip(0, 0.6))
    assert scorer.terms == ["product", "product_2", "product_3", "a_clipped", "a_clipped_2"]


def test_generic_names_under_one_key_are_numbered_within_it() -> None:
    both = rk.product(A, B) + rk.product(B, C)
    scorer = Scorer(rk.route({"math": both, "code": rk.product(A, C)}, by="task"))
    assert scorer.terms == ["math.product", "math.product_2", "code.product"]


def test_a_number_gives_way_to_a_name_that_somebody_chose() -> None:
    scorer = Scorer(rk.product(A, B) + rk.product(B, C) + C.named("product_2"))
    assert scorer.terms == ["product", "product_3", "product_2"]


def test_two_gates_with_one_condition_may_pay_differently() -> None:
    tree = rk.gate(A, B, otherwise=-0.1) + rk.gate(A, C, otherwise=-0.2)
    assert Scorer(tree).terms == ["b", "a_gate.otherwise", "c", "a_gate.otherwise_2"]
    table = rk.score(tree, ["x"])
    assert table.terms["a_gate.otherwise"].tolist() == [-0.1]
    assert table.terms["a_gate.otherwise_2"].tolist() == [-0.2]
    assert list(table.gates) == ["a_gate", "a_gate_2"]


def test_named_makes_a_sum_one_component_and_one_term() -> None:
    table = rk.score((0.5 * A + 0.5 * B).named("quality") + C, ["x"])
    assert list(table.components) == ["quality", "a", "b", "c"]
    assert table.terms["quality"].tolist() == [0.5]
    assert list(table.terms) == ["quality", "c"]


def test_named_on_a_leaf_replaces_its_name() -> None:
    assert Scorer(A.named("x").named("y")).components == ["y"]


def test_named_on_a_gate_and_a_route_only_names_it() -> None:
    gate = rk.gate(A, B + C, otherwise=-1.0).named("format")
    table = rk.score(gate, ["x"])
    assert list(table.terms) == ["b", "c", "format.otherwise"]
    assert list(table.gates) == ["format"]
    assert table.total.tolist() == [-1.0]
    assert "format" in table.components
    route = rk.route({"math": A, "code": B}, by="task").named("by_task")
    assert list(rk.score(route, ["x"], task=["math"]).terms) == ["a", "b"]
