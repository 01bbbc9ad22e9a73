"""Conversations as completions: ``split_row({"messages": [...]})`` returns a row with a ``prompt`` and a
``completion``.

``[system, user, assistant, tool, assistant]`` splits into the prompt ``[system, user]`` and the completion
``[assistant, tool, assistant]``. Three formats are supported: OpenAI's chat messages, the items of OpenAI's Responses
API (``{"type": "function_call", ...}``), and ShareGPT (``{"from": "gpt", "value": ...}``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]

COLUMNS = ("messages", "conversations", "conversation", "trajectory", "traj", "items")
"""Columns that may contain whole conversations, in the order in which they are tried."""

_ASSISTANT = ("assistant", "model", "ai")
_OPENING = ("system", "developer", "user")
"""Roles that never start a completion. Messages with these roles at the start of a conversation belong to the
prompt."""
_OF_THE_CALLER = ("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call")
"""Call types in the Responses API whose results are separate items. All other calls run on the provider's side."""
_RESULTS = ("output", "outputs", "results", "result")
_SHAREGPT = {
    "system": "system",
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "observation": "tool",
    "tool": "tool",
    "function_response": "tool",
    "tool_response": "tool",
}


def split_row(row: Mapping[str, Any], column: str | None = None) -> Mapping[str, Any]:
    """Return a row with its conversation split into prompt and completion; rows without a conversation are unchanged.

    Args:
        row: a row from a data file.
        column: the conversation column, which keeps its name. The default is the first that exists: "completion", one
            of `COLUMNS`, or "input" and "output" from the Responses API.
    """
    name = column or ("completion" if row.get("completion") is not None else None)
    if name is not None:
        prompt = row.get("prompt")
        if type(row.get(name)) is str and not (type(prompt) is str and prompt.lstrip().startswith("[")):
            return row  # plain text, as in most rows
        row = _unpacked(row, name)
        messages = messages_of(row.get(name))
        return row if messages is None else _add_messages(row, name, name, messages)
    for name in COLUMNS:
        messages = messages_of(_parsed(row.get(name)))
        if messages is not None:
            return _add_messages(row, name, "completion", [*_system(row, messages), *messages])
    return _response(row)


def messages_of(value: Any) -> Sequence[Message] | None:
    """Return a conversation as chat messages, or None if `value` is not one. Chat messages are returned unchanged."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(item, Mapping) for item in value):
        return None
    if all("role" in item and item.get("type", "message") == "message" for item in value):
        return value
    if all("from" in item and "value" in item for item in value):
        return [_of_sharegpt(item) for item in value]
    kinds = [item.get("type", "message" if "role" in item else None) for item in value]
    if all(isinstance(kind, str) for kind in kinds) and any(map(_is_item, kinds)):
        return _of_items(value)
    return None


def split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Return the messages before the first assistant message, and the rest."""
    first = next((index for index, message in enumerate(messages) if message.get("role") in _ASSISTANT), len(messages))
    return list(messages[:first]), list(messages[first:])


def _system(row: Mapping[str, Any], messages: Sequence[Message]) -> list[Message]:
    """Return the system message from a separate column in the row, as in the formats of Anthropic and LLaMA-Factory."""
    system_prompt = row.get("system")
    has_system = messages[0].get("role") in ("system", "developer")
    return (
        [{"role": "system", "content": system_prompt}]
        if isinstance(system_prompt, str) and system_prompt and not has_system
        else []
    )


def _add_messages(row: Mapping[str, Any], source: str, target: str, messages: Sequence[Message]) -> Mapping[str, Any]:
    """Return the row with the completion in `target`, and with the prompt if the row does not have one."""
    has_prompt = row.get("prompt") is not None
    prompt: list[Message] = []
    completion = messages
    if messages[0].get("role") in _OPENING and (source != target or not has_prompt):
        prompt, completion = split(messages)
    if source == target and completion is row[source]:
        return row
    placed = {**{name: value for name, value in row.items() if name != source}, target: list(completion)}
    return placed if has_prompt or not prompt else {"prompt": prompt, **placed, **{"prompt": prompt}}


def _unpacked(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the row with prompt and completion parsed as messages, if both are JSON text.

    If only the completion is JSON, the policy may have written JSON itself. The policy never writes the prompt.
    """
    prompt = row.get("prompt")
    prompt_messages = messages_of(_parsed(prompt)) if isinstance(prompt, str) else None
    completion_messages = None if prompt_messages is None else messages_of(_parsed(row.get(name)))
    return row if completion_messages is None else {**row, "prompt": prompt_messages, name: completion_messages}


def _parsed(value: Any) -> Any:
    """Return the parsed list if a cell is a JSON list as text; otherwise, the cell."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _response(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Split ``input`` and ``output`` from the Responses API; return the row unchanged if they are plain text."""
    output = messages_of(row.get("output"))
    if output is None:
        return row
    user_input = row.get("input")
    prompt = [{"role": "user", "content": user_input}] if isinstance(user_input, str) else messages_of(user_input)
    if prompt is None and user_input is not None:
        return row
    if isinstance(row.get("instructions"), str):
        prompt = [{"role": "system", "content": row["instructions"]}, *(prompt or ())]
    rest = {name: value for name, value in row.items() if name not in ("input", "output")}
    prompt_fields = {"prompt": list(prompt)} if prompt else {}
    return {**prompt_fields, **rest, "completion": list(output)}


def _of_sharegpt(item: Message) -> Message:
    sender, value = item["from"], item["value"]
    role = _SHAREGPT.get(sender, sender)
    if sender in ("function_call", "tool_call"):
        calls = _calls(value)
        return {"role": role, "content": "", "tool_calls": calls if isinstance(calls, list) else [calls]}
    return {"role": role, "content": value}


def _calls(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value  # an unreadable call is kept as it is


def _is_item(kind: str) -> bool:
    """Return whether only items in the Responses API have this type."""
    return kind == "reasoning" or kind.endswith(("_call", "_call_output"))


def _of_items(items: Sequence[Message]) -> list[Message]:
    """Return Responses API items as chat messages; a turn is all of the policy's output between two results."""
    messages: list[Message] = []
    turn: dict[str, Any] | None = None
    for item in items:
        kind = item.get("type", "message")
        if kind.endswith("_call_output"):
            turn = None
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
        elif item.get("role", "assistant") not in _ASSISTANT:
            turn = None
            messages.append({name: value for name, value in item.items() if name != "type"})
        elif kind == "message" or _is_item(kind):
            if turn is None or (kind == "message" and turn["content"]):
                turn = {"role": "assistant", "content": ""}
                messages.append(turn)
            if kind == "message":
                turn.update({name: value for name, value in item.items() if name not in ("type", "id", "status")})
            elif kind == "reasoning":
                reasoning = "".join(part.get("text", "") for part in item.get("content") or item.get("summary") or ())
                turn["reasoning_content"] = turn.get("reasoning_content", "") + reasoning
            else:
                turn["tool_calls"] = [*turn.get("tool_calls", ()), _call_of(kind, item)]
                if kind not in _OF_THE_CALLER:
                    messages.append(_result_of(item))
                    turn = None
    return messages


def _call_of(kind: str, item: Message) -> Message:
    arguments = item.get("arguments", item.get("action"))
    if arguments is None:
        arguments = {name: item[name] for name in ("input", "code", "queries") if name in item}
    function = {"name": item.get("name") or kind.removesuffix("_call"), "arguments": arguments}
    return {"id": item.get("call_id") or item.get("id"), "type": "function", "function": function}


def _result_of(item: Message) -> Message:
    """Return the result of a tool that the provider ran, which is included in the call; empty if it is missing."""
    result = {"role": "tool", "tool_call_id": item.get("call_id") or item.get("id")}
    if item.get("error") is not None:
        return {**result, "content": item["error"], "is_error": True}
    content = next((item[name] for name in _RESULTS if item.get(name) is not None), "")
    return {**result, "content": content}
