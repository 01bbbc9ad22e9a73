"""Transcripts: messages of any shape become turns, calls and results; nothing makes reading raise."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.batch.transcripts import pieces
from rewardkit.check.variants import strategies
from rewardkit.text import json_text
from tests.record.conversations import OPENED, PENDING, asks, result, says

Message = dict[str, Any]

USER = {"role": "user", "content": "Go on."}
ERROR = "{'error': 'no such letter'}"


def calls(completion: Any, **options: Any) -> tuple[rk.agents.ToolCall, ...]:
    return rk.Trajectory.of(completion, **options).calls


def texts(completion: Any) -> list[str | None]:
    """The text of the result of each call, None without one."""
    return [None if call.result is None else call.result.text for call in calls(completion)]


def with_id(call: Message, number: str) -> Message:
    return {**call, "tool_calls": [{**one, "id": number} for one in call["tool_calls"]]}


OPENAI = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "open", "arguments": '{"color": "red"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "18"},
    {"role": "assistant", "content": "It is 18."},
]
ANTHROPIC = [
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Look first."},
            {"type": "tool_use", "id": "toolu_1", "name": "open", "input": {"color": "red"}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "18"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It is 18."}]},
]
LANGCHAIN = [
    {
        "role": "ai",
        "content": "",
        "tool_calls": [{"name": "open", "args": {"color": "red"}, "id": "c1", "type": "tool_call"}],
    },
    {"role": "tool", "content": "18", "tool_call_id": "c1", "id": "message_7", "status": "success"},
    {"role": "ai", "content": "It is 18."},
]
OLD_OPENAI = [
    {"role": "assistant", "content": None, "function_call": {"name": "open", "arguments": '{"color": "red"}'}},
    {"role": "function", "name": "open", "content": "18"},
    {"role": "assistant", "content": "It is 18."},
]
ONE_AS_TEXT = [
    {"role": "assistant", "content": "", "tool_calls": '[{"name": "open", "arguments": {"color": "red"}}]'},
    {"role": "tool", "name": "open", "content": "18"},
    "It is 18.",
]


@pytest.mark.parametrize("messages", [OPENED, OPENAI, ANTHROPIC, LANGCHAIN, OLD_OPENAI, ONE_AS_TEXT])
def test_all_forms_of_providers_read_alike(messages: list[Any]) -> None:
    trajectory = rk.Trajectory.of(messages)
    (call,) = trajectory.calls
    assert (call.name, call.fault, call.ok) == ("open", "", True)
    assert call.arguments == {"color": "red"}
    assert call.result is not None
    assert (call.result.text, call.result.name) == ("18", "open")
    assert (trajectory.stop, trajectory.answer) == ("answered", "It is 18.")
    assert rk.score(rk.tool_calls("gold"), [messages], gold=['[{"name": "open", "arguments": {"color": "red"}}]'])


def test_reasoning_apart_from_the_text_is_kept() -> None:
    assert rk.Trajectory.of(ANTHROPIC).turns[0].reasoning == "Look first."
    assert rk.Trajectory.of([{**says("42"), "reasoning_content": "6*7"}]).turns[0].thinking == "6*7"


def test_who_speaks() -> None:
    trajectory = rk.Trajectory.of([USER, says("a"), USER, {"role": "system", "content": "s"}, says("b")])
    assert trajectory.opening == ("Go on.",)
    assert [turn.heard for turn in trajectory.turns] == [("Go on.", "s"), ()]
    assert rk.Trajectory.of({"content": "a"}).turns[0].text == "a"


@pytest.mark.parametrize(
    ("completion", "cut", "stop"),
    [
        ("text", False, "answered"),
        ("text", True, "cut"),
        ([says("a")], False, "answered"),
        ([says("a")], True, "cut"),
        ([], False, "silent"),
        ([], True, "silent"),
        ([USER], False, "silent"),
        (None, False, "silent"),
        (OPENED, False, "answered"),
        (OPENED[:1], False, "pending"),
        (OPENED[:1], True, "pending"),
        (OPENED[:2], False, "silent"),
        (OPENED[:2], True, "silent"),
        (PENDING, False, "pending"),
        ([asks(("f", {}), ("g", {})), result("f", "1")], False, "pending"),
        ([says("a"), USER], False, "answered"),
        ([says("a"), result("f", "1")], False, "silent"),
    ],
)
def test_why_it_stopped(completion: Any, cut: bool, stop: str) -> None:
    assert rk.Trajectory.of(completion, cut=cut).stop == stop


def test_the_place_of_a_call() -> None:
    found = calls([asks(("a", {}), ("b", {})), result("a", ""), asks(("c", {}))])
    assert [(call.name, call.turn, call.place) for call in found] == [("a", 0, 0), ("b", 0, 1), ("c", 1, 0)]


# Arguments


@pytest.mark.parametrize(
    ("given_arguments", "read_arguments"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        (' {"a": {"b": [1, null]}} ', {"a": {"b": [1, None]}}),
        ("", {}),
        ("  ", {}),
        (None, {}),
        ({}, {}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ({"a": np.array([1, 2])}, {"a": [1, 2]}),
        ({"a": np.float64(0.5)}, {"a": 0.5}),
        ('{"a": ' + "[" * 63 + "]" * 63 + "}", None),
    ],
)
def test_arguments_are_an_object(given_arguments: Any, read_arguments: Any) -> None:
    (call,) = calls([asks(("f", given_arguments))])
    assert call.fault == ""
    if read_arguments is not None:
        assert call.arguments == read_arguments


@pytest.mark.parametrize(
    ("given_arguments", "fault"),
    [
        ('{"a": ', "the arguments are not valid JSON"),
        ('{"a": 1} {"b": 2}', "the arguments are not valid JSON"),
        ('{"a": 1, "a": 2}', "the arguments are not valid JSON"),
        ("{'a': 1}", "the arguments are not valid JSON"),
        ('{"a": NaN}', "the arguments are not valid JSON"),
        ('{"a": 1e999}', "the arguments are holds a number that is too large"),
        ('{"a": ' + "9" * 401 + "}", "the arguments are holds a number that is too large"),
        ('{"a": ' + "[" * 64 + "]" * 64 + "}", "the arguments are nested deeper than 64 levels"),
        ("[1]", r"the arguments are \[1\], not an object"),
        ("7", "the arguments are 7, not an object"),
        ([1], r"the arguments are \[1\], not an object"),
        (7, "the arguments are 7, not an object"),
        ({1: 2}, "the arguments are not JSON: the key 1 is not text"),
        ({"a": float("nan")}, "the arguments are not JSON: nan is not a finite number"),
        ({"a": 10**401}, "the arguments are not JSON: a number is too large"),
        ({"a": {1, 2}}, r"the arguments are not JSON: \{1, 2\} \(set\)"),
    ],
)
def test_anything_else_is_a_call_with_a_fault(given_arguments: Any, fault: str) -> None:
    (call,) = calls([asks(("f", given_arguments))])
    assert (call.name, call.arguments) == ("f", None)
    assert re.match(fault, call.fault)


def test_text_and_mapping_have_the_same_limits() -> None:
    for value in (nested(63), nested(64), nested(70), 10**400, 2**1330, 1e308):
        as_mapping, as_text = (calls([asks(("f", form))])[0] for form in ({"a": value}, json.dumps({"a": value})))
        assert (as_mapping.arguments is None) == (as_text.arguments is None)
        assert as_mapping.arguments == as_text.arguments


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("given_call", "name", "fault"),
    [
        ({"function": {"arguments": {}}}, "", "the call has no name"),
        ({"function": {"name": 7}}, "", "the call has no name"),
        ({}, "", "the call has no name"),
        (7, "", "the call is 7, not an object"),
        (None, "", "the call is None, not an object"),
        ({"function": "open", "arguments": {}}, "open", ""),
        ({"name": "open", "parameters": {}}, "open", ""),
    ],
)
def test_calls_without_a_name(given_call: Any, name: str, fault: str) -> None:
    (call,) = calls([{"role": "assistant", "tool_calls": [given_call]}])
    assert (call.name, call.fault) == (name, fault)


@pytest.mark.parametrize("listed", [{"name": "open"}, [{"name": "open"}], '{"name": "open"}', ({"name": "open"},)])
def test_one_call_may_be_alone(listed: Any) -> None:
    assert [call.name for call in calls([{"role": "assistant", "tool_calls": listed}])] == ["open"]


# Which result belongs to which call


def test_results_without_ids_are_paired_by_name_and_then_in_order() -> None:
    asked = asks(("slow", {"a": 1}), ("fast", {}), ("slow", {"a": 2}))
    came = [result("fast", "3"), result("slow", "1"), result("slow", "2")]
    assert texts([asked, *came]) == ["1", "3", "2"]
    assert [call.result.source for call in calls([asked, *came]) if call.result] == ["guessed", "name", "guessed"]


def test_ids_decide_whatever_the_order() -> None:
    asked = [with_id(asks(("f", {})), "a"), with_id(asks(("f", {})), "b")]
    both = {**asked[0], "tool_calls": [*asked[0]["tool_calls"], *asked[1]["tool_calls"]]}
    came = [{**result("f", "second"), "tool_call_id": "b"}, {**result("f", "first"), "tool_call_id": "a"}]
    assert texts([both, *came]) == ["first", "second"]
    assert {call.result.source for call in calls([both, *came]) if call.result} == {"id"}


def test_an_id_that_occurs_in_each_turn_belongs_to_its_turn() -> None:
    first, second = with_id(asks(("f", {"n": 1})), "call_0"), with_id(asks(("f", {"n": 2})), "call_0")
    came = [{**result("f", text), "tool_call_id": "call_0"} for text in ("one", "two")]
    assert texts([first, came[0], second, came[1]]) == ["one", "two"]
    assert texts([first, came[0], second]) == ["one", None]


def test_a_late_result_finds_its_call_by_id() -> None:
    late = {**result("f", "late"), "tool_call_id": "a"}
    assert texts([with_id(asks(("f", {})), "a"), says("Meanwhile."), late]) == ["late"]
    assert texts([late, with_id(asks(("f", {})), "a")]) == [None]  # nothing is answered before it is asked


def test_the_only_result_of_the_only_call_needs_no_name() -> None:
    (call,) = calls([asks(("f", {})), {"role": "tool", "content": "1"}])
    assert call.result is not None
    assert (call.result.text, call.result.name, call.result.source) == ("1", "f", "order")


def test_a_result_of_another_name_belongs_to_no_call() -> None:
    trajectory = rk.Trajectory.of([asks(("f", {})), result("g", "1")])
    assert trajectory.calls[0].result is None
    assert trajectory.results[0].text == "1"
    assert trajectory.stop == "pending"


def test_surplus_results_stay_results() -> None:
    trajectory = rk.Trajectory.of([asks(("f", {})), result("f", "1"), result("f", "2")])
    assert [one.text for one in trajectory.results] == ["1", "2"]
    assert texts([asks(("f", {})), result("f", "1"), result("f", "2")]) == ["1"]


# Errors


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (ERROR, "no such letter"),
        ('{"error": "no such letter"}', "no such letter"),
        ('  {"error": {"code": 7}}\n', '{"code": 7}'),
        ("{'error': \"it's\"}", "it's"),
        ("{'error': ''}", ""),
        ("{'error': 'a', 'code': 1}", None),
        ("{'errors': 'a'}", None),
        ("error: a", None),
        ("Traceback: {'error': 'a'}", None),
        ("{'error': __import__('os')}", None),
        ("{'error': ", None),
        ("[{'error': 'a'}]", None),
        ("", None),
        ("{'error': '" + "a" * 20_000 + "'}", None),
    ],
)
def test_an_object_with_the_one_key_error_is_one(content: str, error: str | None) -> None:
    (call,) = calls([asks(("f", {})), result("f", content)])
    assert call.result is not None
    assert call.result.error == error
    assert call.ok is (error is None)


@pytest.mark.parametrize("mark", [{"is_error": True}, {"status": "error"}, {"error": "down"}])
def test_marks_of_providers_are_errors(mark: dict[str, Any]) -> None:
    (call,) = calls([asks(("f", {})), {**result("f", "down"), **mark}])
    assert (call.ok, call.result and call.result.error) == (False, "down")


def test_an_error_of_anthropic() -> None:
    messages = copy.deepcopy(ANTHROPIC)
    messages[1]["content"][0]["is_error"] = True  # type: ignore[index]
    assert calls(messages)[0].ok is False


def test_results_that_are_no_text() -> None:
    def told(content: Any) -> Any:
        return texts([asks(("f", {})), result("f", content)])[0]

    assert (
        told([{"type": "text", "text": "a"}, {"type": "image", "image": None}, {"type": "text", "text": "b"}]) == "ab"
    )
    assert told([1, 2]) == "[1, 2]"
    assert told({"twice": "DD"}) == '{"twice": "DD"}'
    assert told(None) == ""


def test_without_the_parser_calls_and_errors_are_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings log conversations, whatever is installed."""
    completion = [
        asks(("f", '{"a": [1]}'), ("g", '{"a": 1, "a": 2}')),
        result("f", ERROR),
        result("g", '{"error": "b"}'),
    ]
    before = rk.Trajectory.of(completion)
    monkeypatch.setitem(sys.modules, "jiter", None)
    json_text._parser.cache_clear()
    try:
        after = rk.Trajectory.of(completion)
    finally:
        json_text._parser.cache_clear()
    assert [(call.arguments, call.ok) for call in after.calls] == [(call.arguments, call.ok) for call in before.calls]
    assert [call.ok for call in after.calls] == [False, False]


# Laws


def known(messages: list[Message]) -> Counter[Any]:
    """What each call is, and what came of it."""
    found = calls(messages)
    return Counter((call.name, call.arguments, call.result and call.result.text, call.ok) for call in found)


def pairs(*edits: Any) -> st.SearchStrategy[Any]:
    return strategies.trajectories().flatmap(
        lambda messages: st.tuples(st.just(messages), strategies.edited(messages, *edits))
    )


@given(pairs("parallel order", "arguments", "ids"))
def test_forms_of_calls_make_no_difference(pair: Any) -> None:
    messages, (edit, other) = pair
    one, two = rk.Trajectory.of(messages), rk.Trajectory.of(other)
    assert known(other) == known(messages)
    assert (one.stop, one.answer, one.errors) == (two.stop, two.answer, two.errors)
    if edit != "parallel order":
        assert [call.arguments for call in one.calls] == [call.arguments for call in two.calls]


@given(strategies.trajectories())
def test_every_message_and_call_is_somewhere(messages: list[Message]) -> None:
    trajectory = rk.Trajectory.of(messages)
    roles = Counter(message["role"] for message in messages)
    assert len(trajectory.turns) == roles["assistant"]
    assert len(trajectory.results) == roles["tool"]
    assert sum(len(turn.heard) for turn in trajectory.turns) + len(trajectory.opening) == roles["user"]
    assert len(trajectory.calls) == sum(len(message.get("tool_calls") or []) for message in messages)
    given_results = [call.result for call in trajectory.calls if call.result is not None]
    assert len({id(one) for one in given_results}) == len(given_results)
    assert not messages or trajectory.turns[-1].text == rk.Batch([messages]).texts[0]


@given(strategies.trajectories(), st.booleans())
def test_pieces_join_to_the_whole(messages: list[Message], prefixes: bool) -> None:
    whole = rk.Trajectory.of(messages)
    found = pieces(messages, whole, prefixes=prefixes)
    assert len(found) == len(whole.turns)
    if prefixes:
        run = whole.calls_are_run  # no text of a conversation with calls is read as a call, also in its first turns
        expected = [replace(whole.upto(count + 1), runs_calls=run) for count in range(len(whole.turns))]
        assert [part for _, part in found] == expected
        assert not found or found[-1][0] == messages
    else:
        assert [message for own, _ in found for message in own] == messages
        assert [part.turns[0].text for _, part in found] == [turn.text for turn in whole.turns]
        assert all(call.turn == 0 for _, part in found for call in part.calls)


def test_text_is_one_piece() -> None:
    ((messages, trajectory),) = pieces("42", rk.Trajectory.of("42", cut=True), prefixes=True)
    assert rk.Batch([messages]).texts == ["42"]
    assert trajectory.stop == "cut"


def test_an_is_error_that_raises_says_so() -> None:
    def broken(text: str) -> bool:
        raise KeyError(text)

    messages = [asks(("open", {})), {"role": "tool", "name": "open", "content": "18"}]
    with pytest.warns(rk.errors.RewardKitWarning, match="is_error= raised KeyError: '18'"):
        assert rk.Trajectory.of(messages, is_error=broken).calls[0].ok is True
