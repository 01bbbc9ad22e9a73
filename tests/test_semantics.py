"""The exact semantics, line by line: the number in each test's name is the line number in the design document.

The tests for the lines about the trainer (9, 14, 16, 18) are with the adapter; the lines about the package's layers (22
to 24) are import contracts.
"""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.core.evaluation.scorer import Scorer
from tests.trees import accuracy, form, judge, length, rank, style

NAN = float("nan")


def leaf(name: str, value: Callable[[str], float | None], **options: Any) -> rk.Reward:
    def function(completion: str) -> float | None:
        return value(completion)

    made: rk.Reward = rk.reward(name=name, **options)(function)
    return made


def marked(mark: str) -> rk.Reward:
    """1.0 if the completion contains `mark`."""
    return leaf(mark, lambda completion: float(mark in completion))


def down(name: str = "down", when: str = "") -> rk.Reward:
    def function(completion: str) -> float | None:
        if when in completion:
            raise rk.RewardFailure("no answer")
        return 0.5

    return rk.reward(name=name)(function)


def constantly(value: float) -> Callable[[str], float]:
    def function(completion: str) -> float:
        return value

    return function


HALF = leaf("half", lambda completion: 0.5)
SILENT = leaf("silent", lambda completion: None)


def lists(table: rk.ScoreTable) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in table.terms.items()}


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
        lambda *parts: rk.weighted_mean(*parts).named("x"),
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
        rk.weighted_mean({HALF: -1})
    mean = rk.weighted_mean({HALF: rk.schedules.linear(0, 1)}).named("mean")
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

    prompts, answers = ["p", "p", "p", "p", "q", "p"], [1, 1, 1, 2, 2, 1]
    Scorer(sizes).score(rk.Batch(list("abcdef"), prompts=prompts, columns={"answer": answers}))
    assert seen == [3, 1, 1, 1]
    seen.clear()
    Scorer(sizes).score(rk.Batch(list("abcd"), prompts=["p"] * 4, num_generations=2))
    assert seen == [2, 2]


# 6. Deduplication


def test_6_the_key_is_the_leafs_arguments_or_their_json_if_they_have_no_hash() -> None:
    seen: list[Any] = []

    @rk.reward
    def by_answer(answer: Any) -> float:
        seen.append(answer)
        return 0.5

    cells = [{"a": [1], "b": 2}, {"b": 2, "a": [1]}, {"a": [1.0], "b": 2}]
    rk.score(by_answer, ["x", "y", "z"], answer=cells)
    assert seen == [cells[0], cells[2]]


def test_6_a_nondeterministic_reward_scores_every_row() -> None:
    seen: list[str] = []
    drawn = leaf("drawn", lambda completion: seen.append(completion) or 0.5, deterministic=False)  # type: ignore[func-returns-value]
    rk.score(drawn, ["a", "a"])
    assert seen == ["a", "a"]


# 7. Errors


def bug(completion: str) -> float:
    raise ValueError("bug")


def test_7_a_bug_raises_in_score_and_later_scores_the_lowest_bound() -> None:
    reward = rk.reward(bounds=(-0.5, 1.0))(bug)
    with pytest.raises(rk.RewardFailure, match="raised ValueError: bug"):
        rk.score(reward, ["a"])
    table = Scorer(reward).score(rk.Batch(["a"]), strict=False)
    assert table.total.tolist() == [-0.5]
    assert table.outcomes["bug"].tolist() == ["errored"]


def test_7_without_a_finite_lower_bound_a_bug_always_raises_and_on_error_overrides() -> None:
    unbounded = rk.reward(bounds=(-float("inf"), 1.0))(bug)
    with pytest.raises(rk.RewardFailure):
        Scorer(unbounded).score(rk.Batch(["a"]), strict=False)
    overridden = rk.reward(bounds=(-float("inf"), 1.0), on_error=-1.0)(bug)
    assert rk.score(overridden, ["a"]).total.tolist() == [-1.0]


def test_7_ctrl_c_stops_the_run_but_sys_exit_in_a_reward_does_not() -> None:
    def leave(completion: str) -> float:
        sys.exit(1)

    def interrupt(completion: str) -> float:
        raise KeyboardInterrupt

    assert rk.score(rk.reward(on_error=0.0)(leave), ["a"]).outcomes["leave"].tolist() == ["errored"]
    with pytest.raises(KeyboardInterrupt):
        rk.score(rk.reward(on_error=0.0)(interrupt), ["a"])


# 8. Column errors


@rk.reward
def close(completion: str, answer: float) -> float:
    return answer


def test_8_a_cell_of_the_wrong_type_is_an_error_that_names_column_and_row() -> None:
    with pytest.raises(rk.CoercionError, match="column 'answer', row 1"):
        Scorer(close).score(rk.Batch(["a", "b"], columns={"answer": ["1", "one"]}), strict=False)


def test_8_only_live_rows_are_coerced() -> None:
    table = rk.score(rk.gate(marked("o"), close), ["o", ""], answer=["0.5", "one"])
    assert table.total.tolist() == [0.5, 0.0]
    table = rk.score(rk.route({"a": close, "b": HALF}, by="task"), ["", ""], answer=["1", "one"], task=["a", "b"])
    assert table.total.tolist() == [1.0, 0.5]


def test_8_none_in_a_required_column_abstains() -> None:
    assert rk.score(close, ["a"], answer=[None]).outcomes["close"].tolist() == ["abstained"]


def test_8_an_unknown_route_key_is_an_error_unless_there_is_a_default() -> None:
    with pytest.raises(rk.RewardFailure, match="'c'"):
        rk.score(rk.route({"a": HALF}, by="task"), ["x"], task=["c"])
    assert rk.score(rk.route({"a": close}, by="task", default=HALF), ["x"], task=["c"], answer=[1]).total[0] == 0.5


# 10. Limits


def test_10_a_synchronous_function_runs_in_the_callers_thread() -> None:
    seen: list[threading.Thread] = []
    rk.score(leaf("here", lambda completion: seen.append(threading.current_thread()) or 0.5), ["a"])  # type: ignore[func-returns-value]
    assert seen == [threading.current_thread()]


def test_10_primitives_read_200_000_characters_and_user_functions_get_everything() -> None:
    long = "<answer>" + "a" * 200_000 + "</answer>"
    everything = leaf("everything", lambda completion: float(len(completion) == len(long)))
    table = rk.score(rk.tags("answer") + everything, [long])
    assert lists(table) == {"tags": [0.0], "everything": [1.0]}
    assert "200,000" in table.notes["tags"][0]


# 11 to 13. Progress and schedules


def test_11_a_schedule_is_a_pure_function_of_progress() -> None:
    schedule = rk.schedules.linear(0, 1)
    steps = [5, 1, 9, 5]
    assert [schedule(rk.Progress(step, 10)) for step in steps] == [0.5, 0.1, 0.9, 0.5]


def test_12_without_progress_schedules_have_their_end_value() -> None:
    tree = HALF * rk.schedules.linear(0, 1)
    assert rk.score(tree, ["a"]).total.tolist() == [0.5]
    assert rk.score(tree, ["a"], progress=rk.Progress(0, 9, training=False)).total.tolist() == [0.5]
    assert rk.score(tree, ["a"], progress=rk.Progress(0, 9)).total.tolist() == [0.0]


def test_13_positions_are_fractions_or_steps_and_the_int_one_is_an_error() -> None:
    assert rk.schedules.linear(0, 1, end=0.5)(rk.Progress(5, 20)) == 0.5
    assert rk.schedules.linear(0, 1, start=0, end=10)(rk.Progress(5, 20)) == 0.5
    with pytest.raises(rk.RewardDefinitionError, match=r"1\.0"):
        rk.schedules.linear(0, 1, end=1)


# 15, 17. Evaluation, pickling


def test_15_score_works_inside_a_running_event_loop() -> None:
    import asyncio

    async def notebook() -> list[float]:
        return list(rk.score(judge, ["----9-"]).total)

    assert asyncio.run(notebook()) == [1.0]


def test_17_a_leaf_pickles_to_the_decorated_object_and_a_lambda_is_an_error() -> None:
    assert pickle.loads(pickle.dumps(accuracy)) is accuracy
    with pytest.raises(TypeError, match="top level of a module"):
        pickle.dumps(HALF)


# 19 to 21. Binding


def test_19_group_and_batch_scope_get_lists_coerced_by_row_but_a_single_progress() -> None:
    seen: list[Any] = []

    @rk.reward(scope="group")
    def watch(completion: list[str], answer: list[float], prompt: str, progress: rk.Progress) -> list[float]:
        seen.append((completion, answer, prompt, progress.step))
        return [0.5] * len(completion)

    rk.score(watch, ["a", "b"], prompts=["p", "p"], answer=["1", "1"], progress=rk.Progress(3, 9))
    assert seen == [(["a", "b"], [1.0, 1.0], "p", 3)]


def test_20_columns_may_have_any_name_except_those_of_the_options() -> None:
    @rk.reward
    def odd(reward: float, completions: float, self: float) -> float:
        return reward + completions + self

    assert rk.score(odd, ["a"], reward=["0.1"], completions=["0.2"], self=["0.3"]).total[0] == pytest.approx(0.6)


@pytest.mark.parametrize("name", ["completion", "messages", "prompt", "example"])
def test_21_a_column_with_a_reserved_name_is_an_error_that_suggests_another(name: str) -> None:
    with pytest.raises(rk.BindingError, match=f"gold_{name}"):
        rk.score(HALF, ["a"], **{name: ["b"]})  # type: ignore[arg-type]


def test_21_progress_is_reserved_too() -> None:
    with pytest.raises(rk.BindingError, match="'gold_progress'"):
        rk.Scorer(rk.tags("answer")).score(rk.Batch(["a"], columns={"progress": ["b"]}))


# 25. Values


@pytest.mark.parametrize(
    "reward",
    [
        accuracy,
        rank,
        accuracy + 0.5 * style,
        rk.gate(accuracy, form),
        rk.route({"a": accuracy, 1: style}, by="task"),
        rk.json_schema({"type": "object", "required": ["a"]}),
        rk.weighted_mean({accuracy: 1, style: rk.schedules.piecewise({0.0: 1, 1.0: 2})}),
        rk.tags("a", "b"),
        rk.product([accuracy, style]),
    ],
    ids=repr,
)
def test_25_rewards_are_frozen_hashable_and_equal_to_their_pickle(reward: rk.Reward) -> None:
    again = pickle.loads(pickle.dumps(reward))
    assert again == reward
    assert hash(again) == hash(reward)
    with pytest.raises(AttributeError):
        reward.items = ()  # type: ignore[attr-defined]
