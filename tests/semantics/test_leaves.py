"""The exact semantics of leaves: duplicates, errors, columns, limits, progress, pickling, binding.

The number in each test's name is the number of the rule in the design document. The tests for the rules about the
trainer (9, 14, 16, 18) are with the adapter; the rules about the package's layers (22 to 24) are import contracts.
"""

from __future__ import annotations

import pickle
import sys
import threading
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.tree.evaluation.scorer import Scorer
from tests.semantics.leaves import HALF, leaf, lists, marked
from tests.trees import accuracy, form, judge, rank, style

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
    with pytest.raises(rk.errors.RewardBug, match="raised ValueError: bug"):
        rk.score(reward, ["a"])
    table = Scorer(reward).score(rk.Batch(["a"]), strict=False)
    assert table.total.tolist() == [-0.5]
    assert table.outcomes["bug"].tolist() == ["errored"]


def test_7_without_a_finite_lower_bound_a_bug_always_raises_and_on_error_overrides() -> None:
    unbounded = rk.reward(bounds=(-float("inf"), 1.0))(bug)
    with pytest.raises(rk.errors.RewardBug):
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
    with pytest.raises(rk.errors.CoercionError, match="column 'answer', row 1"):
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


@pytest.mark.parametrize("name", ["completion", "messages", "example"])
def test_21_a_column_with_a_reserved_name_is_an_error_that_suggests_another(name: str) -> None:
    with pytest.raises(rk.errors.BindingError, match=f"gold_{name}"):
        rk.score(HALF, ["a"], **{name: ["b"]})  # type: ignore[arg-type]


def test_21_progress_is_reserved_too() -> None:
    with pytest.raises(rk.errors.BindingError, match="'gold_progress'"):
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
        rk.mean({accuracy: 1, style: rk.schedules.piecewise({0.0: 1, 1.0: 2})}),
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
