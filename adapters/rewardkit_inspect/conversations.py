"""Chat messages, as OpenAI writes them, as messages of inspect_ai: the other direction of ``messages.chat``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rewardkit.core.batch.messages import content_text

Message = Mapping[str, Any]

_OF_INSPECT = ("image", "audio", "video", "document", "data", "tool_use")
"""Types of parts that inspect_ai writes itself; they stay as they are."""
_THINKING = ("thinking", "reasoning", "reasoning_text")


def conversation(messages: Iterable[Message], source: str) -> list[Any]:
    """Return messages of inspect_ai.

    Args:
        source: where assistant messages come from: ``"input"`` for a prompt, ``"generate"`` for a completion.
    """
    return [_converted(message, source) for message in messages]


def _converted(message: Message, source: str) -> Any:
    from inspect_ai import model

    role = message.get("role", "assistant")
    content = _content(message)
    if role == "assistant":
        calls = [_call(call, place) for place, call in enumerate(message.get("tool_calls") or ())]
        return model.ChatMessageAssistant(content=content, source=source, tool_calls=calls or None)
    if role in ("tool", "function"):
        return model.ChatMessageTool(
            content=content,
            tool_call_id=message.get("tool_call_id"),
            function=message.get("name"),
            error=_error(message),
        )
    if role in ("system", "developer"):
        return model.ChatMessageSystem(content=content, source="input" if source == "input" else None)
    return model.ChatMessageUser(content=content, source="input" if source == "input" else None)


def _content(message: Message) -> Any:
    content = message.get("content")
    thinking = message.get("reasoning_content")
    if not isinstance(content, (list, tuple)):
        text = "" if content is None else content_text(content)
        if not thinking:
            return text
        content = [text]
    parts = [part for part in map(_part, content) if part is not None]
    return [{"type": "reasoning", "reasoning": str(thinking)}, *parts] if thinking else parts


def _part(part: Any) -> dict[str, Any] | None:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        return None
    kind = part.get("type")
    if kind == "image_url":
        image = part.get("image_url")
        return {"type": "image", "image": image.get("url") if isinstance(image, Mapping) else image}
    if kind in _THINKING:
        said = next((part[name] for name in (kind, "thinking", "reasoning", "text") if part.get(name)), "")
        return {"type": "reasoning", "reasoning": str(said)}
    if kind in _OF_INSPECT:
        return dict(part)
    return {"type": "text", "text": part["text"]} if isinstance(part.get("text"), str) else None


def _call(call: Message, place: int) -> Any:
    from inspect_ai.tool import ToolCall

    function = call.get("function")
    held = function if isinstance(function, Mapping) else call
    name = held.get("name") or (function if isinstance(function, str) else "")
    given = held.get("arguments")
    arguments, fault = given, None
    if isinstance(given, str):
        try:
            arguments = json.loads(given or "{}")
        except (ValueError, RecursionError):
            fault = given
    if not isinstance(arguments, Mapping):
        arguments, fault = {}, fault or f"the arguments are not an object: {given!r}"
    return ToolCall(
        id=str(call.get("id") or f"call_{place}"), function=str(name), arguments=dict(arguments), parse_error=fault
    )


def _error(message: Message) -> Any:
    from inspect_ai.tool import ToolCallError

    return ToolCallError("unknown", content_text(message.get("content"))) if message.get("is_error") else None
