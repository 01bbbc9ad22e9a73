"""Names: one per distinct node, prefixes inside routes, numbers for generated names."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from pydantic import BaseModel

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.names import difference


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


def test_different_rewards_with_the_same_name_are_refused() -> None:
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


def test_generated_names_get_numbers() -> None:
    scorer = Scorer(rk.product(A, B) + rk.product(B, C) + rk.product(A, C) + A.clip(0, 0.5) + A.clip(0, 0.6))
    assert scorer.terms == ["product", "product_2", "product_3", "a_clipped", "a_clipped_2"]


def test_generic_names_under_one_key_are_numbered_within_it() -> None:
    both = rk.product(A, B) + rk.product(B, C)
    scorer = Scorer(rk.route({"math": both, "code": rk.product(A, C)}, by="task"))
    assert scorer.terms == ["math.product", "math.product_2", "code.product"]


def test_a_chosen_name_wins_over_a_generated_one() -> None:
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


class Order(BaseModel):
    sku: str


class Invoice(BaseModel):
    total: float


ANSWER, PRICE, CLOSE = rk.number("answer"), rk.number("price"), rk.number("price", tolerance=0.5)


def test_a_second_primitive_of_a_kind_derives_its_name_from_what_differs() -> None:
    assert Scorer(ANSWER + PRICE + CLOSE).components == ["number", "number_price", "number_price_tolerance_0_5"]
    assert Scorer(PRICE + CLOSE).components == ["number", "number_tolerance_0_5"]
    assert Scorer(CLOSE + PRICE).components == ["number", "number_without_tolerance"]
    assert Scorer(rk.json_schema(Invoice) + rk.json_schema(Order)).terms == ["json_schema", "json_schema_Order"]
    assert Scorer(rk.tags("think") + rk.tags("think", "answer")).terms == ["tags", "tags_answer"]
    assert Scorer(rk.tags("think", "answer") + rk.tags("think")).terms == ["tags", "tags_2"]
    assert Scorer(rk.regex("a+") + rk.regex("b+")).terms == ["regex", "regex_b"]
    assert Scorer(rk.regex("[.]") + rk.regex("[!]")).terms == ["regex", "regex_2"]  # no word that differs


def test_a_name_does_not_change_because_another_reward_was_added() -> None:
    tree = 0.5 * ANSWER + PRICE
    for more in (CLOSE, rk.exact("answer"), leaf("own"), rk.gate(A, B)):
        assert Scorer(tree + more).components[:2] == Scorer(tree).components == ["number", "number_price"]


def test_a_chosen_name_wins_over_that_of_a_primitive() -> None:
    assert Scorer(PRICE + leaf("number") + ANSWER).components == ["number_price", "number", "number_answer"]
    assert Scorer(ANSWER + PRICE + B.named("number_price")).components == ["number", "number_price_2", "number_price"]
    assert Scorer(ANSWER.named("right") + PRICE).components == ["right", "number"]
    with pytest.raises(rk.RewardDefinitionError, match="'right'"):
        Scorer(ANSWER.named("right") + PRICE.named("right"))


def test_inside_routes_primitives_have_the_prefix_of_their_key_and_derive_within_it() -> None:
    tree = rk.route({"math": ANSWER + PRICE, "code": CLOSE}, by="task")
    assert Scorer(tree).components == ["math.number", "math.number_price", "code.number"]


@given(st.permutations([ANSWER, PRICE, CLOSE, rk.number("answer", thousands=False), rk.number("price", relative=0.5)]))
def test_all_primitives_have_a_name_that_only_those_before_them_decide(rewards: list[rk.Reward]) -> None:
    names: list[str] = []
    for count in range(1, len(rewards) + 1):
        found = Scorer(rk.weighted_sum(rewards[:count])).components
        assert found[: count - 1] == names
        assert len(set(found)) == count
        names = found


def test_derived_names_are_those_of_notes_faults_errors_and_schedules() -> None:
    tree = ANSWER + rk.schedules.when_reached("number_price", 0.5) * A + PRICE
    table = rk.score(tree, ["42", "dunno"], answer=[42, 42], price=[42, 42])
    with pytest.raises(rk.RewardDefinitionError, match="Pass the name 'number_price'"):
        Scorer(ANSWER + rk.schedules.when_reached(PRICE, 0.5) * A + PRICE)
    assert table.notes["number_price"] == ["", "no number found"]
    assert table.components["number_price"].values.tolist() == [1.0, 0.0]
    with pytest.raises(rk.errors.CoercionError, match="'number_price'"):
        rk.score(tree, ["42"], answer=[42], price=["much"])
    with pytest.raises(rk.errors.BindingError, match="'number_price'"):
        rk.score(tree, ["42"], answer=[42])

    def broken(text: str) -> str:
        raise ValueError(text)

    faulty = ANSWER + rk.number("answer", extract=broken)
    scored = Scorer(faulty).score(rk.Batch(["42"], columns={"answer": [42]}), strict=False)
    assert [fault.component for fault in scored.faults] == ["number_2"] == list(scored.components)[1:]


def test_a_fault_has_the_name_that_the_user_chose() -> None:
    @rk.reward(on_error=0.0)
    def broken(completion: str) -> float:
        raise ValueError(completion)

    table = Scorer(broken.named("chosen")).score(rk.Batch(["a"]), strict=False)
    assert [fault.component for fault in table.faults] == ["chosen"]


@pytest.mark.parametrize(
    ("call", "other", "word"),
    [
        ("a('x')", "a('y')", "x"), ("a('x', k=1)", "a('x')", "k_1"), ("a('x')", "a('x', k=1)", "without_k"),
        ("a(X)", "", "X"), ("a('x', 'y')", "a('x', 'z')", "y"), ("a({'b': ...", "a('b')", ""), ("a('+')", "a()", ""),
        (f"a({'x' * 99!r}, k=1)", "a('y')", "k_1"), ("a('\\n b')", "a()", "n_b"), ("a", "b", ""),
    ],
)  # fmt: skip
def test_what_differs_between_two_calls(call: str, other: str, word: str) -> None:
    assert difference(call, other) == word
