"""Gold calls: what a cell means, and what a made call is worth."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.check.variants import strategies
from rewardkit.rewards.tool_calls import GoldCall, GoldCalls, read_gold_calls
from tests.record.conversations import asks

JSON = strategies.json_values()


def gold(arguments: Any, name: str = "f") -> GoldCall:
    return read_gold_calls([{"name": name, "arguments": arguments}]).rounds[0][0]


def made(arguments: Any, name: str = "f") -> rk.agents.ToolCall:
    return rk.Trajectory.of([asks((name, arguments))]).calls[0]


@given(JSON, JSON)
def test_a_call_is_worth_1_exactly_if_it_is_the_gold_call(one: Any, other: Any) -> None:
    assert gold({"a": one}).worth(made({"a": one}), {}) == 1.0
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    if not same and one != other:
        assert gold({"a": one}).worth(made({"a": other}), {}) == 0.0
    assert gold({"a": one}).worth(made({"a": one, "b": other}), {}) == 0.5
    assert gold({"a": one}).worth(made({"a": one}, "g"), {}) == 0.0


@given(JSON)
def test_a_key_and_a_comparison_say_the_same(value: Any) -> None:
    call, wanted = made({"a": value}), gold({"a": value})
    assert call.arguments is not None
    if wanted.key is not None:
        assert wanted.key == ("f", frozenset(call.arguments.keys_by_name.items()))


def test_calls_with_choices_have_no_key() -> None:
    for arguments in ({"a": {"any_of": [1, 2]}}, {"a": {"optional": 1}}, {"a": [1]}, {"a": {"b": 1}}):
        assert gold(arguments).key is None
    assert gold({"a": 1}).key is not None
    assert gold({"a": {"any_of": [1, 1.0]}}).key is not None  # one value


def test_a_cell_is_read_once() -> None:
    read = read_gold_calls('[{"name": "f"}]')
    assert isinstance(read, GoldCalls)
    assert read_gold_calls(read) is read
    assert (read.count, read.by_round) == (1, False)


def test_rounds() -> None:
    read = read_gold_calls('[[{"name": "f"}], [], [{"name": "g"}, {"name": "h"}]]')
    assert ([len(one) for one in read.rounds], read.count, read.by_round) == ([1, 0, 2], 3, True)
    assert read_gold_calls("[]").by_round is False
    assert read_gold_calls("[[]]").by_round is True


def test_the_cell_is_not_changed_and_gold_calls_pickle() -> None:
    cell = [{"name": "f", "arguments": {"a": [{"any_of": [1]}], "b": {"optional": {}}}}]
    before = copy.deepcopy(cell)
    read = read_gold_calls(cell)
    assert cell == before
    again = pickle.loads(pickle.dumps(read))
    assert again.rounds[0][0].worth(made({"a": [1]}), {}) == 1.0


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({}, "f()"),
        ({"a": "x", "b": [1]}, 'f(a="x", b=[1])'),
        ({"a": {"any_of": [1, 2]}}, "f(a=1 or 2)"),
        ({"a": {"optional": None}}, "f(a=null)"),
    ],
)
def test_it_is_shown_as_a_call(arguments: Any, shown: str) -> None:
    assert str(gold(arguments)) == shown


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3) | st.floats(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "arguments", "function", "any_of", "optional", "a"]), inner, max_size=3
            )
        ),
    )
)
def test_junk_is_read_or_is_an_error_of_the_data(junk: Any) -> None:
    for cell in (junk, [junk], [{"name": "f", "arguments": {"a": junk}}], [[junk]]):
        try:
            read = read_gold_calls(cell)
        except ValueError:
            continue
        else:
            assert isinstance(read, GoldCalls)
            assert 0.0 <= sum(one.worth(made({"a": junk}), {}) for calls in read.rounds for one in calls) <= read.count
            assert all(map(str, read.rounds))


def test_a_cell_that_is_nested_without_end_is_an_error_of_the_data() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(ValueError, match="are not JSON"):
        read_gold_calls([{"name": "f", "arguments": {"a": deep}}])
