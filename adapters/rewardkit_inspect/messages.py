"""Messages of inspect_ai as OpenAI writes them: ``{"function": "add"}`` of a result becomes ``{"name": "add"}``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]

_ATTACHMENTS = ("attachment://", "tc://")
"""How a log refers to what it keeps apart; logs of 2024 have the second form."""


def attached(value: Any, attachments: Mapping[str, str]) -> Any:
    """Return messages with what the log keeps apart, such as images, put back into its place."""
    if not attachments:
        return value
    if isinstance(value, str):
        name = value.partition("://")[2] if value.startswith(_ATTACHMENTS) else value
        return attachments.get(name, value)
    if isinstance(value, Mapping):
        return {name: attached(item, attachments) for name, item in value.items()}
    return [attached(item, attachments) for item in value] if isinstance(value, list) else value


def split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """Return the prompt and what follows: the first message that the model generated, and all after it."""
    spoken = [at for at, one in enumerate(messages) if one.get("role") == "assistant"]
    generated = [at for at in spoken if messages[at].get("source") == "generate"]
    unknown = [at for at in spoken if messages[at].get("source") != "input"]
    first = next(iter(generated or unknown), len(messages))
    return list(messages[:first]), list(messages[first:])


def chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages of inspect_ai as chat messages."""
    return [{**one, "content": _parts(one["content"])} for message in messages for one in _converted(message)]


def _parts(content: Any) -> Any:
    """Return content with its images as OpenAI writes them."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "image_url", "image_url": {"url": part.get("image")}}
        if isinstance(part, Mapping) and part.get("type") == "image"
        else part
        for part in content
    ]


def _converted(message: Message) -> Iterator[dict[str, Any]]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        yield _result(message.get("tool_call_id"), message.get("function"), content, message.get("error"))
        return
    if role != "assistant":
        yield {"role": role, "content": content}
        return
    calls = [_call(one, one.get("function"), one.get("parse_error")) for one in message.get("tool_calls") or ()]
    parts = content if isinstance(content, list) else []
    served = [at for at, part in enumerate(parts) if isinstance(part, Mapping) and part.get("type") == "tool_use"]
    if served:  # tools that ran at the provider: their results are in the message itself
        before = [part for at, part in enumerate(parts[: served[-1]]) if at not in served]
        uses = [parts[at] for at in served]
        yield {"role": "assistant", "content": before, "tool_calls": [_call(one, one.get("name")) for one in uses]}
        yield from (_result(one.get("id"), one.get("name"), one.get("result"), one.get("error")) for one in uses)
        content = parts[served[-1] + 1 :]
    if content or calls or not served:
        yield {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}


def _call(call: Message, name: Any, fault: Any = None) -> dict[str, Any]:
    """Return a call. The log has no arguments of a call that could not be parsed, so it says why: that is no JSON."""
    given = call.get("arguments")
    text = fault or (given if isinstance(given, str) else json.dumps(given or {}))
    return {"id": call.get("id"), "type": "function", "function": {"name": name, "arguments": text}}


def _result(number: Any, name: Any, content: Any, error: Any) -> dict[str, Any]:
    result = {"role": "tool", "tool_call_id": number, "name": name, "content": content}
    if not error:
        return result
    said = error.get("message", "") if isinstance(error, Mapping) else str(error)
    return {**result, "content": content or said, "is_error": True}
