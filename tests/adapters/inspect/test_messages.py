"""Messages of inspect_ai as chat messages: errors of tools, calls that could not be parsed, tools at the provider."""

from __future__ import annotations

from typing import Any

import rewardkit as rk
from rewardkit_adapters.inspect.logs import chat, split
from tests.adapters.inspect.written import ANSWER, CALL, RESULT, USER


def read(*messages: dict[str, Any]) -> rk.Trajectory:
    return rk.Trajectory.of(chat(messages))


def test_an_error_of_a_tool_is_an_error() -> None:
    failed = {**RESULT, "content": "", "error": {"type": "timeout", "message": "took too long"}}
    (call,) = read(CALL, failed, ANSWER).calls
    assert call.result is not None
    assert (call.ok, call.result.text, call.result.error) == (False, "took too long", "took too long")


def test_a_call_that_could_not_be_parsed_has_a_fault() -> None:
    fault = "Error parsing the following tool call arguments:\n\n{x: }"
    asked = {**CALL, "tool_calls": [{"id": "c1", "function": "add", "arguments": {}, "parse_error": fault}]}
    (call,) = read(asked).calls
    assert (call.name, call.arguments) == ("add", None)
    assert call.fault


def test_thinking_is_kept_apart() -> None:
    said = [{"type": "reasoning", "reasoning": "1 + 2 is 3."}, {"type": "text", "text": "It is 3."}]
    (turn,) = read({**ANSWER, "content": said}).turns
    assert (turn.thinking, turn.text) == ("1 + 2 is 3.", "It is 3.")


def test_a_tool_at_the_provider_has_its_result() -> None:
    use = {"type": "tool_use", "id": "s1", "name": "search", "arguments": '{"q": "sum"}', "result": "3", "error": None}
    parts = [{"type": "text", "text": "Let me see."}, use, {"type": "text", "text": "It is 3."}]
    seen = read({**ANSWER, "content": parts})
    assert [(call.name, call.ok, call.has(q="sum")) for call in seen.calls] == [("search", True, True)]
    assert (seen.answer, seen.stop, len(seen.turns)) == ("It is 3.", "answered", 2)
    assert read({**ANSWER, "content": parts[:2]}).stop == "silent"
    assert [call.ok for call in read({**ANSWER, "content": [{**use, "error": "no answer"}]}).calls] == [False]


def test_without_sources_the_first_assistant_message_starts_the_completion() -> None:
    plain = {"role": "assistant", "content": "3"}
    assert split([USER, plain, USER]) == ([USER], [plain, USER])
    assert split([USER, {**plain, "source": "input"}]) == ([USER, {**plain, "source": "input"}], [])
