"""Calls that a policy writes as text are found under any tag, and changed, removed, and added in the same form."""

from __future__ import annotations

import pytest

from rewardkit.check.variants.episodes.written_calls import WrittenCalls, other_objects

CALL = '<action>{"tool": "cancel", "id": "A1"}</action>'


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        (CALL, "cancel", {"id": "A1"}),
        ('<tool_call>\n{"name": "pay", "arguments": {"to": "Ann"}}\n</tool_call>', "pay", {"to": "Ann"}),
        ('<function=pay>{"to": "Ann"}</function>', "pay", {"to": "Ann"}),
        ('Now:\n{"name": "pay", "parameters": {"to": "Ann"}}', "pay", {"to": "Ann"}),
        ('<call>{"device": "lamp", "on": true}</call>', "", {"device": "lamp", "on": True}),
    ],
)
def test_forms(text: str, name: str, arguments: dict[str, object]) -> None:
    written = WrittenCalls.of(text)
    (call,) = written.calls
    assert (call.name, call.arguments) == (name, arguments)
    changed = written.saying(call, written.written(call, {**arguments, "more": 1}))
    assert WrittenCalls.of(changed).calls[0].arguments == {**arguments, "more": 1}
    assert written.without(call) in ("", "Now:\n")


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ann", "age": 3}',
        '<answer>{"name": "Ann"}</answer>',
        f"<think>{CALL}</think>",
        "{",
        '<call>{"a"</call>',
    ],
)
def test_other_texts_are_no_calls(text: str) -> None:
    assert not WrittenCalls.of(text).calls


def test_a_call_in_its_own_message_has_a_result() -> None:
    first, result, last = (
        {"role": "assistant", "content": CALL},
        {"role": "tool", "content": "ok"},
        {"content": "Done."},
    )
    written = WrittenCalls.of([first, result, last])
    (call,) = written.calls
    assert written.without(call) == [last]
    more = written.written(call, {"id": "A2"})
    assert written.with_more(call, more) == [first, result, {"role": "assistant", "content": more}, result, last]
    assert WrittenCalls.of(f"I do. {CALL}").with_more(call, more) != ""


@pytest.mark.parametrize(
    ("value", "source", "others"),
    [
        ("A1", '{"A1": {"open": true}, "A2": {}}', ["A2"]),
        ("A1", "Orders A1, A2 and B 17, X9z", ["A2"]),
        ("lamp", {"devices": ["lamp", "fan"]}, ["fan"]),
        ("Ann", [{"who": "Ann"}, {"who": "Bo"}, {"what": "Cy"}], ["Bo"]),
        ("Ann", "Ann and Bo", []),
    ],
)
def test_other_objects(value: str, source: object, others: list[str]) -> None:
    assert other_objects(value, [source]) == others
