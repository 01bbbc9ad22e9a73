"""Transcripts of recorded environments: what ran, with which arguments, and which result belongs to which call."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.transcripts import CallRecord, read
from tests.record.conversations import asks, result, says

Message = dict[str, Any]

ERROR = "{'error': 'no such letter'}"


def recorded(messages: list[Message], *records: CallRecord, **options: Any) -> tuple[rk.agents.ToolCall, ...]:
    return read(messages, records=records, **options).calls


def test_records_say_what_ran() -> None:
    asked = asks(("f", {"a": 1}), ("f", {"a": 2}))
    ran, never = recorded([asked], CallRecord("f", {"a": 1}, "one"))
    assert (ran.ran, ran.ok, ran.result and ran.result.text) == (True, True, "one")  # its result was dropped
    assert (never.ran, never.ok, never.result) == (False, None, None)
    assert read([asked], records=[CallRecord("f", {"a": 1}, "one")]).stop == "pending"


def test_records_have_the_arguments_from_before_a_tool_changed_them() -> None:
    (call,) = recorded(
        [asks(("sort", {"items": []})), result("sort", "ok")], CallRecord("sort", {"items": [2, 1]}, "ok")
    )
    assert call.arguments == {"items": [2, 1]}


def test_records_pair_exactly() -> None:
    asked = asks(("f", {"n": 1}), ("g", {}), ("f", {"n": 2}))
    came = [result("g", "3"), result("f", "?"), result("f", "?")]
    records = [CallRecord("g", {}, "3"), CallRecord("f", {"n": 1}, "1"), CallRecord("f", {"n": 2}, "2")]
    assert [call.result and call.result.text for call in recorded([asked, *came], *records)] == ["1", "3", "2"]
    assert {call.result.source for call in recorded([asked, *came], *records) if call.result} == {"recorded"}


@pytest.mark.parametrize("bad", ['{"a": 1}', '{"a": ', "[1]"])
def test_a_call_that_cannot_be_passed_takes_no_record(bad: Any) -> None:
    """Trainers pass mappings; arguments as text end in an error before the tool is reached."""
    messages = [asks(("f", bad)), result("f", ERROR), asks(("f", {})), result("f", "fine"), says("x")]
    first, second = recorded(messages, CallRecord("f", {}, "fine"))
    assert (first.ran, first.ok) == (False, False)
    assert (second.ran, second.result and second.result.text) == (True, "fine")


def test_own_loops_pass_arguments_that_are_text() -> None:
    messages = [asks(("f", '{"n": 1}')), result("f", "1"), asks(("f", '{"n": 2}')), result("f", "2")]
    found = recorded(messages, CallRecord("f", {"n": 1}, "one"), CallRecord("f", {"n": 2}, "two"))
    assert [call.result and call.result.text for call in found] == ["one", "two"]


def test_arguments_that_are_not_json_reach_the_tool_in_python() -> None:
    messages = [asks(("f", {"x": float("nan")})), result("f", "1"), asks(("f", {})), result("f", "2")]
    found = recorded(messages, CallRecord("f", {"x": float("nan")}, "one"), CallRecord("f", {}, "two"))
    assert [call.result and call.result.text for call in found] == ["one", "two"]
    assert found[0].fault.startswith("the arguments are not JSON")


def test_an_unknown_tool_never_ran() -> None:
    (call,) = recorded([asks(("sing", {})), result("sing", "{'error': 'Tool sing not found.'}")])
    assert (call.ran, call.ok) == (False, False)


def test_a_tool_besides_those_of_the_environment_ran() -> None:
    (call,) = recorded([asks(("calculator", {})), result("calculator", "7")])
    assert (call.ran, call.ok, call.result and call.result.source) == (True, True, "name")


def test_an_error_is_what_was_raised_or_what_looks_like_one() -> None:
    asked = asks(("f", {}))
    assert recorded([asked], CallRecord("f", {}, ERROR, "no such letter"))[0].ok is False
    assert recorded([asked], CallRecord("f", {}, "fine", "raised"))[0].ok is False
    assert recorded([asked], CallRecord("f", {}, ERROR))[0].result == rk.agents.ToolResult(
        ERROR, "f", "no such letter", "recorded"
    )
    assert recorded([asked], CallRecord("f", {}, "ERR"), is_error=lambda text: text == "ERR")[0].ok is False
    assert recorded([asked], CallRecord("f", {}, "fine"))[0].ok is True


@given(st.integers(0, 4), st.randoms())
def test_records_in_the_order_in_which_trainers_run_them(size: int, chance: random.Random) -> None:
    """Synchronous tools first, all of one turn before the next: the n-th call of a name has its n-th record."""
    names = ["f", "g", "h"]
    messages, records, expected = [], [], []
    for turn in range(size):
        made = [(chance.choice(names), {"n": 10 * turn + place}) for place in range(chance.randint(1, 4))]
        ran = sorted(made, key=lambda call: names.index(call[0]))
        messages += [asks(*made), *[result(name, "?") for name, _ in ran]]
        records += [CallRecord(name, arguments, str(arguments["n"])) for name, arguments in ran]
        expected += [str(arguments["n"]) for _, arguments in made]
    while chance.random() < 0.5 and messages and messages[-1]["role"] == "tool":
        messages.pop()  # results that were dropped
    found = recorded(messages, *records)
    assert [call.result and call.result.text for call in found] == expected
