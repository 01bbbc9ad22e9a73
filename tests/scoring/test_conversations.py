"""Conversations split into prompt and completion: chat messages, items of the Responses API, ShareGPT."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import rewardkit as rk
from rewardkit.scoring.conversations import COLUMNS, messages_of, split, split_row

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "What is 1 + 2?"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "function": {"name": "add", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "3"}
SAID = {"role": "assistant", "content": "It is 3."}
THANKS = {"role": "user", "content": "Thanks."}
CONVERSATION = [SYSTEM, USER, CALL, RESULT, SAID, THANKS]

messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": st.text()}),
    min_size=1,
)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_conversation_is_split_before_the_first_word_of_the_assistant(column: str) -> None:
    row = split_row({"id": 7, column: CONVERSATION})
    assert row == {"id": 7, "prompt": [SYSTEM, USER], "completion": [CALL, RESULT, SAID, THANKS]}
    assert next(iter(row)) == "prompt"


def test_json_text_is_read_in_columns_of_conversations_alone() -> None:
    text = json.dumps(CONVERSATION)
    assert split_row({"messages": text})["completion"] == CONVERSATION[2:]
    assert split_row({"completion": text}) == {"completion": text}
    assert split_row({"messages": "[not json"}) == {"messages": "[not json"}


def test_a_table_may_hold_prompt_and_completion_as_json_text() -> None:
    row = {"prompt": json.dumps([USER]), "completion": json.dumps([SAID]), "answer": "3"}
    assert split_row(row) == {"prompt": [USER], "completion": [SAID], "answer": "3"}
    for other in ({**row, "prompt": "6*7?"}, {**row, "completion": "[3]"}, {**row, "completion": "It is 3."}):
        assert split_row(other) is other


@pytest.mark.parametrize(
    "row",
    [
        {"completion": "42", "messages": CONVERSATION},
        {"prompt": [USER], "completion": [SAID]},
        {"prompt": "6*7?", "completion": CONVERSATION},
        {"completion": [SAID]},
        {"messages": "What is 1 + 2?"},
        {"messages": []},
        {"items": [{"type": "fruit", "name": "apple"}]},
        {"trajectory": [{"action": "ls", "observation": "a.txt"}]},
        {"input": "a text", "output": "another one"},
        {"messages": None, "answer": "42"},
    ],
)
def test_other_rows_stay_as_they_are(row: dict[str, Any]) -> None:
    assert split_row(row) is row


def test_a_prompt_of_its_own_stays() -> None:
    assert split_row({"prompt": "short", "messages": CONVERSATION}) == {
        "prompt": "short",
        "completion": CONVERSATION[2:],
    }
    assert split_row({"prompt": None, "messages": [USER, SAID]}) == {"prompt": [USER], "completion": [SAID]}


def test_a_named_column_keeps_its_name() -> None:
    row = split_row({"said": CONVERSATION, "messages": "x"}, "said")
    assert row == {"prompt": [SYSTEM, USER], "messages": "x", "said": CONVERSATION[2:]}
    assert split_row({"completion": [USER, SAID]}) == {"prompt": [USER], "completion": [SAID]}


def test_a_system_message_may_have_a_column() -> None:
    assert split_row({"system": "Be brief.", "messages": [USER, SAID]})["prompt"] == [SYSTEM, USER]
    assert split_row({"system": "Be kind.", "messages": CONVERSATION})["prompt"] == [SYSTEM, USER]


@given(messages)
def test_nothing_is_lost(conversation: list[dict[str, str]]) -> None:
    prompt, completion = split(conversation)
    assert prompt + completion == conversation
    assert all(message["role"] != "assistant" for message in prompt)
    assert not completion or completion[0]["role"] == "assistant"


@given(messages, st.booleans())
def test_splitting_twice_changes_nothing(conversation: list[dict[str, str]], has_prompt: bool) -> None:
    once = split_row({"messages": conversation, **({"prompt": "p"} if has_prompt else {})})
    assert split_row(once) == once


def test_sharegpt_is_read() -> None:
    call = {"name": "add", "arguments": {"x": 1, "y": 2}}
    row = split_row(
        {
            "conversations": [
                {"from": "system", "value": "Be brief."},
                {"from": "human", "value": "What is 1 + 2?"},
                {"from": "function_call", "value": json.dumps(call)},
                {"from": "observation", "value": "3"},
                {"from": "gpt", "value": "It is 3."},
            ]
        }
    )
    assert row["prompt"] == [SYSTEM, USER]
    read = rk.Trajectory.of(row["completion"])
    assert [(one.name, dict(one.arguments or {}), one.ok) for one in read.calls] == [("add", call["arguments"], True)]
    assert (read.answer, read.stop) == ("It is 3.", "answered")


def test_a_call_of_sharegpt_that_cannot_be_read_stays_a_call() -> None:
    found = messages_of([{"from": "human", "value": "?"}, {"from": "function_call", "value": "<function=ls>"}])
    assert found is not None
    (call,) = rk.Trajectory.of(found[1:]).calls
    assert call.arguments is None
    several = messages_of([{"from": "function_call", "value": '[{"name": "a"}, {"name": "b"}]'}])
    assert [one.name for one in rk.Trajectory.of(several).calls] == ["a", "b"]


ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "What is 1 + 2?"},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "Use the tool."}]},
    {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"x": 1, "y": 2}'},
    {"type": "function_call", "call_id": "c2", "name": "add", "arguments": '{"x": 5, "y": 2}'},
    {"type": "function_call_output", "call_id": "c2", "output": "7"},
    {"type": "function_call_output", "call_id": "c1", "output": "3"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 3."}]},
]


@pytest.mark.parametrize(
    "row",
    [
        {"messages": ITEMS},
        {"items": ITEMS},
        {"input": ITEMS[:1], "output": ITEMS[1:]},
        {"input": "What is 1 + 2?", "output": ITEMS[1:]},
    ],
)
def test_items_of_responses_are_read(row: dict[str, Any]) -> None:
    found = split_row(row)
    assert found["prompt"] == [USER]
    read = rk.Trajectory.of(found["completion"])
    assert [len(turn.calls) for turn in read.turns] == [2, 0]
    assert [call.result.text for call in read.calls if call.result] == ["3", "7"]
    assert (read.turns[0].thinking, read.answer) == ("Use the tool.", "It is 3.")


def test_instructions_of_a_response_are_its_system_message() -> None:
    row = split_row({"instructions": "Be brief.", "input": "What is 1 + 2?", "output": ITEMS[1:]})
    assert row["prompt"] == [SYSTEM, USER]


def test_tools_at_the_provider_have_results_of_their_own() -> None:
    items = [
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "3"}},
        {"type": "mcp_call", "id": "m", "name": "add", "arguments": "{}", "error": "no such tool"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 3."}]},
    ]
    read = rk.Trajectory.of(messages_of(items))
    assert [(call.name, call.ok) for call in read.calls] == [("web_search", True), ("add", False)]
    assert read.stop == "answered"


@given(st.lists(st.sampled_from(ITEMS), min_size=1))
def test_every_call_and_every_result_of_a_response_is_kept(items: list[dict[str, Any]]) -> None:
    found = messages_of(items)
    assert found is not None
    kinds = [item.get("type") for item in items]
    assert sum(len(message.get("tool_calls", ())) for message in found) == kinds.count("function_call")
    assert sum(message["role"] == "tool" for message in found) == kinds.count("function_call_output")
