"""Edit the messages in a completion: its calls, its results, and its turns.

``answering(completion, "42")`` returns the completion with ``42`` as the text of its last turn. The calls are kept.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rewardkit.batch.messages import content_text
from rewardkit.batch.trajectory import ToolCall, Trajectory

Messages = list[dict[str, Any]]
Made = tuple[str, Mapping[str, Any]]
"""A call to make: the tool's name and its arguments."""

UNKNOWN_TOOL: Made = ("no_such_tool", {})


def messages_of(completion: Any) -> Messages:
    """Return a copy of a completion as messages, which the caller may modify."""
    if isinstance(completion, str):
        return [{"role": "assistant", "content": completion}]
    entries = completion if isinstance(completion, (list, tuple)) else [completion]
    return [dict(message) for message in entries if isinstance(message, Mapping)]


def has_calls(completion: Any) -> bool:
    """Return whether a completion has a tool call."""
    return not isinstance(completion, str) and bool(Trajectory.of(completion).calls)


def repeatable_calls(calls: Sequence[ToolCall]) -> list[Made]:
    """Return the name and arguments of each call, to make it again. Calls without arguments are omitted."""
    return [(call.name, dict(call.arguments)) for call in calls if call.arguments is not None]


def is_assistant(message: Mapping[str, Any]) -> bool:
    return bool(message.get("role", "assistant") == "assistant")


def is_result(message: Mapping[str, Any]) -> bool:
    return bool(message.get("role") == "tool")


def last_turn(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return the index of the last assistant message, or the number of messages if there is none."""
    indices = [index for index, message in enumerate(messages) if is_assistant(message)]
    return indices[-1] if indices else len(messages)


def answering(completion: Any, text: str) -> Messages:
    """Return the completion with `text` in its last turn. The calls are kept."""
    messages = messages_of(completion)
    last = last_turn(messages)
    if last == len(messages) or messages[last].get("tool_calls") or any(map(is_result, messages[last:])):
        return [*messages, {"role": "assistant", "content": text}]
    messages[last] = {**messages[last], "content": text}
    return messages


def with_results(messages: Messages, text: str) -> Messages:
    """Return the messages with `text` as the content of each message that the policy did not write."""
    return [message if is_assistant(message) else {**message, "content": text} for message in messages]


def without_calls(completion: Any) -> Messages:
    """Return a single message with the text of the last turn, without any calls and results."""
    messages = messages_of(completion)
    last = last_turn(messages)
    text = content_text(messages[last].get("content")) if last < len(messages) else ""
    return [{"role": "assistant", "content": text}]


def calling(*calls: Made) -> dict[str, Any]:
    """Return an assistant message that makes `calls`, in TRL's format."""
    written = [
        {"type": "function", "function": {"name": name, "arguments": copy.deepcopy(dict(arguments))}}
        for name, arguments in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": written}


def inserted(completion: Any, calls: Sequence[Made], result: Callable[[str, Mapping[str, Any]], str]) -> Messages:
    """Return the completion with further calls and their results before its last turn, one turn per call."""
    messages = messages_of(completion)
    last = last_turn(messages)
    further: Messages = []
    for name, arguments in calls:
        further += [calling((name, arguments)), {"role": "tool", "name": name, "content": result(name, arguments)}]
    return [*messages[:last], *further, *messages[last:]]


def known_results(completion: Any) -> Callable[[str, Mapping[str, Any]], str]:
    """Return a function that answers a call as in the completion, or with an error for a call that is not in it."""
    answers = {
        (call.name, json.dumps(dict(call.arguments), sort_keys=True)): call.result.text
        for call in Trajectory.of(completion).calls
        if call.arguments is not None and call.result is not None
    }
    names = {name for name, _ in answers}

    def result(name: str, arguments: Mapping[str, Any]) -> str:
        answer = answers.get((name, json.dumps(dict(arguments), sort_keys=True)))
        if answer is not None:
            return answer
        return "{'error': 'not found'}" if name in names else str({"error": f"Tool {name} not found."})

    return result


def only(completion: Any, call: ToolCall) -> Messages:
    """Return the completion with only `call` and its result. The text of the last turn is kept."""
    last = without_calls(completion)
    if call.arguments is None:
        return last
    result = [] if call.result is None else [{"role": "tool", "name": call.name, "content": call.result.text}]
    return [calling((call.name, call.arguments)), *result, *last]


def permuted(completion: Any) -> Messages | None:
    """Return the completion with the calls and results in each turn reversed, or None if nothing changes."""
    messages = messages_of(completion)
    trajectory = Trajectory.of(completion)
    changed = False
    reordered: Messages = []
    index = number = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        if not is_assistant(message):
            reordered.append(message)
            continue
        turn = trajectory.turns[number]
        number += 1
        results = []
        while index < len(messages) and is_result(messages[index]):
            results.append(messages[index])
            index += 1
        calls = message.get("tool_calls")
        if isinstance(calls, list) and 1 < len(calls) == len(turn.calls) and len(results) in (0, len(calls)):
            changed = True
            reordered += [{**message, "tool_calls": calls[::-1]}, *results[::-1]]
        else:
            reordered += [message, *results]
    return reordered if changed else None


def split(completion: Any) -> Messages | None:
    """Return the completion with each parallel call in a separate turn, or None if there are no parallel calls."""
    messages = messages_of(completion)
    trajectory = Trajectory.of(completion)
    separated: Messages = []
    changed, number = False, 0
    for index, message in enumerate(messages):
        if is_result(message):
            before = next((entry for entry in reversed(messages[:index]) if is_assistant(entry)), {})
            if len(before.get("tool_calls") or []) < 2:
                separated.append(message)
            continue
        if not is_assistant(message):
            separated.append(message)
            continue
        turn = trajectory.turns[number]
        number += 1
        calls = message.get("tool_calls")
        if not isinstance(calls, list) or len(calls) < 2 or len(calls) != len(turn.calls):
            separated.append(message)
            continue
        changed = True
        for entry, call in zip(calls, turn.calls, strict=True):
            separated.append({**message, "tool_calls": [entry]})
            if call.result is not None:
                separated.append({"role": "tool", "name": call.name, "content": call.result.text})
    return separated if changed else None
