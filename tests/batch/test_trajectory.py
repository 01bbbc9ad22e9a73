"""Trajectory: its turns, calls and results as a reward sees them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.call_arguments import Arguments, json_key
from rewardkit.batch.rollouts import RolloutInfo
from rewardkit.batch.trajectory import ToolCall, ToolResult, Turn
from rewardkit.check.variants import strategies
from tests.record.conversations import OPENED, PENDING, asks, result, says

Message = dict[str, Any]

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def called(arguments: Any) -> ToolCall:
    (call,) = rk.Trajectory.of([asks(("f", arguments))]).calls
    return call


def test_the_example_of_the_class() -> None:
    trajectory = rk.Trajectory.of(OPENED)
    assert trajectory.calls[0].has(color="red")
    assert (trajectory.stop, trajectory.answer, trajectory.finished) == ("answered", "It is 18.", True)
    assert [turn.text for turn in trajectory.turns] == ["", "It is 18."]
    assert trajectory.results == (ToolResult("18", "open", None, "name"),)


def test_a_trajectory_cannot_be_changed() -> None:
    trajectory = rk.Trajectory.of(OPENED)
    for held, name in ((trajectory, "stop"), (trajectory.turns[0], "text"), (trajectory.calls[0], "name")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(held, name, "other")
        assert not hasattr(held, "__dict__")
    with pytest.raises(TypeError):
        trajectory.calls[0].arguments["color"] = "blue"  # type: ignore[index]


def test_what_a_function_does_to_an_argument_stays_with_it() -> None:
    given_by_policy = {"items": [1, {"deep": [2]}]}
    call = called(given_by_policy)
    assert call.arguments is not None
    call.arguments["items"].clear()
    given_by_policy["items"].clear()
    assert call.has(items=[1, {"deep": [2]}])


@given(strategies.trajectories())
def test_trajectories_can_be_pickled_copied_hashed_and_compared(messages: list[Message]) -> None:
    trajectory = rk.Trajectory.of(messages)
    for other in (pickle.loads(pickle.dumps(trajectory)), copy.deepcopy(trajectory), rk.Trajectory.of(messages)):
        assert other == trajectory
        assert hash(other) == hash(trajectory)
        assert repr(other) == repr(trajectory)


@given(JSON)
def test_arguments_are_equal_by_json_value(value: Any) -> None:
    arguments = Arguments({"a": value})
    assert arguments == Arguments({"a": copy.deepcopy(value)})
    assert hash(arguments) == hash(Arguments({"a": copy.deepcopy(value)}))
    assert arguments == {"a": value}
    assert arguments != {"a": [value]}
    assert arguments != {"b": value}
    assert called({"a": value}).has(a=value)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (0.0, -0.0, True),
        (1, True, False),
        (0, False, False),
        (0, None, False),
        ("1", 1, False),
        ("a", "A", False),
        ("a", "a ", False),
        ([1, [2.0]], [1.0, [2]], True),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": {"c": 2}}, {"b": {"c": 2.0}, "a": 1.0}, True),
        ({"a": None}, {}, False),
        (10**20, 1e20, True),
        (2**53 + 1, float(2**53), False),
        ("\ud800", "\ud800", True),
    ],
)
def test_values_as_json_compares_them(one: Any, other: Any, equal: bool) -> None:
    assert (json_key(one) == json_key(other)) is equal
    assert called({"a": one}).has(a=other) is equal


def test_has_asks_for_some_of_the_arguments() -> None:
    call = called({"city": "Rome", "days": 2.0, "units": "C"})
    assert call.has(city="Rome", days=2)
    assert call.has()
    assert not call.has(city="Rome", hours=2)
    assert not called("[1]").has()


def test_ok_is_unknown_without_a_result() -> None:
    failed, waiting = rk.Trajectory.of(PENDING).calls
    assert (failed.ok, failed.ran, waiting.ok, waiting.ran) == (False, True, None, None)


def test_errors_are_bad_results_and_malformed_calls_not_waiting_ones() -> None:
    assert rk.Trajectory.of(PENDING).errors == 1
    assert rk.Trajectory.of([asks(("f", "[1]"))]).errors == 1
    assert rk.Trajectory.of([asks(("f", "[1]")), result("f", "{'error': 'no mapping'}")]).errors == 1
    assert rk.Trajectory.of([asks(("f", {}))]).errors == 0


def test_calls_are_written_as_a_person_would() -> None:
    assert str(called({"color": "red", "n": 2, "on": True})) == 'f(color="red", n=2, on=true)'
    assert str(called('{"a": ')).startswith("f(the arguments are not valid JSON")
    assert str(ToolCall("", None, "the call has no name")) == "?(the call has no name)"


def test_thinking_is_what_is_apart_else_what_is_before_the_visible_text() -> None:
    assert Turn("<think>6*7</think>42").visible == "42"
    assert Turn("<think>6*7</think>42").thinking == "<think>6*7</think>"
    assert Turn("42", reasoning="6*7").thinking == "6*7"
    assert Turn("42").thinking == ""


def test_the_answer_is_the_visible_text_of_a_finished_trajectory() -> None:
    assert rk.Trajectory.of([*OPENED[:2], says("<think>18?</think>18")]).answer == "18"
    assert rk.Trajectory.of([asks(("f", {}), text="42")]).answer == ""
    assert rk.Trajectory.of([says("42"), asks(("f", {}))]).answer == ""
    assert rk.Trajectory.of("42", cut=True).answer == ""
    assert rk.Trajectory.of("42").answer == "42"


def test_rounds_are_the_turns_between_messages_of_the_user() -> None:
    user = {"role": "user", "content": "And now?"}
    trajectory = rk.Trajectory.of([*OPENED, user, says("Blue."), user, user, *OPENED])
    assert [len(turns) for turns in trajectory.rounds] == [2, 1, 2]
    assert rk.Trajectory.of([user, *OPENED]).rounds == (rk.Trajectory.of(OPENED).turns,)
    assert rk.Trajectory.of([]).rounds == ()


@given(strategies.trajectories())
def test_a_prefix_is_the_beginning(messages: list[Message]) -> None:
    whole = rk.Trajectory.of(messages)
    assert whole.upto(len(whole.turns)) == whole
    assert whole.upto(0) == rk.Trajectory((), "silent", whole.opening)
    for count in range(len(whole.turns)):
        part = whole.upto(count)
        assert part.turns == whole.turns[:count]
        assert part.finished is (count > 0 and not part.turns[-1].calls)
        assert part.rounds == () if not count else part.rounds[0] == whole.rounds[0][: len(part.rounds[0])]


@rk.reward
def first_tool(way: rk.Trajectory) -> float:
    return float(bool(way.calls) and way.calls[0].name == "open")


@rk.reward
def by_name(trajectory) -> float:  # type: ignore[no-untyped-def]
    return float(trajectory.finished)


@rk.reward
def maybe(trajectory: rk.Trajectory | None) -> float:
    return 0.0 if trajectory is None else len(trajectory.turns) / 10


@rk.reward(scope="group")
def fewest(way: list[rk.Trajectory]) -> list[float]:
    calls = [len(one.calls) for one in way]
    return [float(count == min(calls)) for count in calls]


@rk.reward(scope="group")
def fewest_by_name(trajectory: list[Any]) -> list[float]:
    return [1.0 / (1 + len(one.calls)) for one in trajectory]


@pytest.mark.parametrize(
    ("reward", "expected"),
    [
        (first_tool, [1.0, 1.0, 0.0]),
        (by_name, [1.0, 0.0, 1.0]),
        (maybe, [0.2, 0.2, 0.1]),
        (fewest, [0.0, 0.0, 1.0]),
        (fewest_by_name, [1 / 2, 1 / 3, 1.0]),
    ],
)
def test_functions_get_trajectories(reward: rk.Reward, expected: list[float]) -> None:
    table = rk.score(reward, [OPENED, PENDING, [says("x")]], prompts=["p"] * 3)
    assert table.total.tolist() == expected


def test_an_annotation_that_says_something_else_is_refused() -> None:
    with pytest.raises(rk.RewardDefinitionError, match=r"it is annotated str, but it receives an rk\.Trajectory"):

        @rk.reward
        def wrong(trajectory: str) -> float:
            return 0.0

    with pytest.raises(rk.RewardDefinitionError, match=r"'completion': it is annotated rk\.Trajectory"):

        @rk.reward
        def other(completion: rk.Trajectory) -> float:
            return 0.0


def test_a_column_of_that_name_is_refused() -> None:
    with pytest.raises(rk.errors.BindingError, match="'gold_trajectory'"):
        rk.score(by_name, ["x"], trajectory=["y"])


def test_equal_messages_are_read_once_and_scored_once() -> None:
    batch = rk.Batch([OPENED, copy.deepcopy(OPENED), PENDING])
    assert batch.trajectory(0) is batch.trajectory(1)
    assert batch.trajectory(2) is not batch.trajectory(0)
    seen: list[rk.Trajectory] = []

    @rk.reward
    def watching(trajectory: rk.Trajectory) -> float:
        seen.append(trajectory)
        return 0.0

    rk.Scorer(watching).score(batch)
    assert len(seen) == 2


def test_rows_with_equal_messages_differ_if_one_was_cut() -> None:
    batch = rk.Batch(["x", "x"], rollouts=RolloutInfo(cut=[True, False]))
    assert [batch.trajectory(row).stop for row in range(2)] == ["cut", "answered"]
    np.testing.assert_array_equal(rk.Scorer(rk.agents.finished()).score(batch).total, [0.0, 1.0])


def test_own_marks_of_errors_are_honored_everywhere() -> None:
    completion = [asks(("f", {})), result("f", "ERR 7: busy"), says("x")]
    assert rk.score(rk.agents.tool_success("f"), [completion]).total.tolist() == [1.0]
    table = rk.score(rk.agents.tool_success("f"), [completion], is_error=lambda text: text.startswith("ERR"))
    assert table.total.tolist() == [0.0]
    assert rk.Trajectory.of(completion, is_error=lambda text: text[4:]).calls[0].result == ToolResult(
        "ERR 7: busy", "f", "7: busy", "name"
    )
