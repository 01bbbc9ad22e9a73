"""Trajectories, their edits, and episodes: what is drawn, and what it shrinks to."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings, strategies as st

import rewardkit as rk
from rewardkit.batch.environments import journal_of
from rewardkit.check.variants import strategies
from tests.record.conversations import OPENED, asks, result

Message = dict[str, Any]
quick = settings(database=None)
still = settings(database=None, deadline=None, derandomize=True, max_examples=1_000)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


def paint(color: Color, coats: int = 1, *, dry: bool = False) -> str:
    return f"{color} {coats} {dry}"


async def wait(seconds: float) -> str:
    return f"{seconds}"


def first(drawn: Any, condition: Any = lambda _: True) -> Any:
    return find(drawn, condition, settings=still)


def trajectory(messages: list[Message]) -> rk.Trajectory:
    return rk.Trajectory.of(messages)


@pytest.mark.slow
def test_it_shrinks_to_one_turn_with_an_answer() -> None:
    assert first(strategies.trajectories()) == [{"role": "assistant", "content": "0"}]
    failed = first(strategies.trajectories(), lambda messages: trajectory(messages).errors > 0)
    assert [message["role"] for message in failed][:1] == ["assistant"]
    assert len(failed) <= 3


@pytest.mark.parametrize("stop", ["answered", "pending", "silent"])
def test_all_ways_to_stop_are_drawn(stop: str) -> None:
    assert len(first(strategies.trajectories(), lambda messages: trajectory(messages).stop == stop)) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "feature",
    [
        lambda messages: messages == [],
        lambda messages: any(len(message.get("tool_calls") or []) == 3 for message in messages),
        lambda messages: any(message["content"] is None for message in messages),
        lambda messages: any(isinstance(message["content"], list) for message in messages),
        lambda messages: any(message["role"] == "user" for message in messages),
        lambda messages: any("tool_call_id" in message for message in messages),
        lambda messages: any(call.name == "sing" for call in trajectory(messages).calls),
        lambda messages: any(call.fault for call in trajectory(messages).calls),
        lambda messages: any(isinstance(arguments, str) for arguments in given_arguments(messages)),
        lambda messages: any(message["content"] == "{'error': 'no such letter'}" for message in messages),
    ],
)
def test_each_shape_is_drawn(feature: Any) -> None:
    assert feature(first(strategies.trajectories(), feature))


def given_arguments(messages: list[Message]) -> list[Any]:
    return [call["function"]["arguments"] for message in messages for call in message.get("tool_calls") or []]


@quick
@given(strategies.trajectories([paint, wait], faults=False))
def test_without_faults_all_calls_fit_and_are_answered(messages: list[Message]) -> None:
    read = trajectory(messages)
    assert read.stop == "answered"
    assert read.errors == 0
    for call in read.calls:
        assert call.ok
        assert call.arguments is not None
        if call.name == "paint":
            assert call.arguments["color"] in ("red", "blue")
            assert set(call.arguments) <= {"color", "coats", "dry"}
        else:
            assert call.name == "wait"
            assert set(call.arguments) == {"seconds"}


@quick
@given(strategies.trajectories([paint, wait], faults=False))
def test_results_of_asynchronous_tools_come_last(messages: list[Message]) -> None:
    for turn in trajectory(messages).turns:
        names = [one.name for one in turn.results]
        assert names == sorted(names)
        assert Counter(names) == Counter(call.name for call in turn.calls)


@quick
@given(strategies.trajectories(turns=(2, 3)))
def test_turns_are_as_many_as_asked(messages: list[Message]) -> None:
    assert 2 <= len(trajectory(messages).turns) <= 3


@pytest.mark.slow
def test_schemas_are_tools() -> None:
    schema = {"name": "add", "parameters": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}}}
    for tool in (schema, {"type": "function", "function": schema}):
        messages = first(
            strategies.trajectories([tool], faults=False), lambda drawn: "n" in str(given_arguments(drawn))
        )
        assert trajectory(messages).calls[0].has(n=5)


@pytest.mark.parametrize(
    ("tools", "options", "problem"),
    [
        ([], {}, "at least one tool"),
        (["search"], {}, "got 'search'"),
        ([{"parameters": {}}], {}, "a schema with a name"),
        ([paint], {"turns": (3, 2)}, r"got \(3, 2\)"),
        ([paint], {"turns": (0, 0)}, r"got \(0, 0\)"),
    ],
)
def test_arguments_are_checked(tools: Any, options: Any, problem: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=problem):
        strategies.trajectories(tools, **options)


def edited(*edits: Any) -> st.SearchStrategy[Any]:
    return strategies.trajectories().flatmap(
        lambda messages: st.tuples(st.just(messages), strategies.edited(messages, *edits))
    )


@quick
@given(edited("further calls"))
def test_further_calls(drawn: Any) -> None:
    messages, (_, other) = drawn
    before, after = Counter(map(str, trajectory(messages).calls)), Counter(map(str, trajectory(other).calls))
    assert before <= after
    assert sum(after.values()) - sum(before.values()) in (1, 2, 20)
    assert trajectory(other).answer == trajectory(messages).answer


@quick
@given(edited("idle turns"))
def test_idle_turns(drawn: Any) -> None:
    messages, (_, other) = drawn
    assert [message for message in other if message in messages] == messages or "" in str(messages)
    assert len(trajectory(other).turns) - len(trajectory(messages).turns) in (1, 2, 5)
    assert len(trajectory(other).calls) == len(trajectory(messages).calls)


@quick
@given(edited("prefix"))
def test_prefixes(drawn: Any) -> None:
    messages, (_, other) = drawn
    assert other == messages[: len(other)]


def test_edits_really_change_something() -> None:
    parallel = [asks(("f", {"a": 1, "b": 2}), ("g", {})), result("f", "1"), result("g", "2"), *OPENED]
    for edit in ("parallel order", "arguments", "ids", "prefix", "further calls", "idle turns"):
        before = repr(parallel)
        kind, other = first(strategies.edited(parallel, edit), lambda pair: pair[1] != parallel)
        assert kind == edit
        assert repr(parallel) == before
        assert other != parallel
    _, permuted = first(strategies.edited(parallel, "parallel order"), lambda pair: pair[1] != parallel)
    assert [message.get("name") for message in permuted[1:3]] == ["g", "f"]


def test_an_unknown_edit() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="'sideways'"):
        strategies.edited(OPENED, "sideways")  # type: ignore[arg-type]


class Shop:
    def reset(self, stock: int = 1, **row: Any) -> None:
        self.stock = stock

    def buy(self, count: int) -> str:
        """Buy some."""
        if count > self.stock:
            raise ValueError("sold out")
        self.stock -= count
        return "bought"

    async def ask(self, what: str) -> str:
        """Ask."""
        return what.upper()


@settings(quick, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.episodes(Shop, row={"stock": 9}))
def test_episodes_are_played(episode: strategies.Episode) -> None:
    environment, read = episode.environment, trajectory(episode.messages)
    assert isinstance(environment, Shop)
    bought = [call.arguments["count"] for call in read.calls if call.name == "buy" and call.ok and call.arguments]
    assert environment.stock == 9 - sum(bought)
    journal = journal_of(environment)
    assert journal is not None
    assert len(journal.records) == len(read.calls)
    table = rk.score(rk.agents.tool_errors(), [episode.messages], environments=[environment])
    assert table.total[0] == pytest.approx(max(-0.5, -0.1 * read.errors))


@pytest.mark.slow
def test_a_policy_is_played() -> None:
    policy: list[Any] = [("buy", {"count": 1}), [("ask", {"what": "a"}), ("buy", {"count": 1})]]
    episode = first(strategies.episodes(Shop, st.just(policy)))
    told = [(message["name"], message["content"]) for message in episode.messages if message["role"] == "tool"]
    assert told == [("buy", "bought"), ("buy", "{'error': 'sold out'}"), ("ask", "A")]
    assert first(strategies.episodes(Shop), lambda one: one.environment.stock < 1).environment.stock == 0


def test_policies_and_environments_are_checked() -> None:
    with pytest.raises(rk.RewardDefinitionError, match="a policy must be a list of calls"):
        first(strategies.episodes(Shop, st.just([["buy"]])))  # type: ignore[list-item]
    with pytest.raises(rk.RewardDefinitionError, match="reset"):
        strategies.episodes(object)
