"""The text of a completion or prompt, in every form that trainers pass.

``completion_text([{"role": "assistant", "content": "42"}])`` is ``"42"``. Trainers pass strings or lists of chat
messages. A message's content may be None (a tool call) or a list of parts (text, images). Tool loops pass several
messages; the last assistant message contains the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.errors import BindingError, shorten

Message = Mapping[str, Any]

_THINKING = ("thinking", "reasoning", "reasoning_text")
"""Types of message parts that contain the model's thinking, which is not part of its answer."""


def completion_text(completion: object, row: int = 0) -> str:
    """Return a completion's text; for a conversation, the text of the last assistant message.

    Raises:
        BindingError: the completion is neither text nor messages.
    """
    if isinstance(completion, str):
        return completion
    messages = as_messages(completion, "completions", row)
    for message in reversed(messages):
        if message.get("role", "assistant") == "assistant":
            return content_text(message.get("content"))
    return ""


def prompt_text(prompt: object, row: int = 0) -> str:
    """Return a prompt's text: the contents of all its messages, separated by blank lines."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    texts = [content_text(message.get("content")) for message in as_messages(prompt, "prompts", row)]
    return "\n\n".join(text for text in texts if text)


def as_messages(value: object, label: str, row: int) -> Sequence[Message]:
    """Return `value` as chat messages. A string becomes one assistant message, and None becomes an empty list."""
    if value is None:
        return []
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}]
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, Sequence) and all(isinstance(message, (Mapping, str)) for message in value):
        return [{"role": "assistant", "content": item} if isinstance(item, str) else item for item in value]
    raise BindingError(
        f"{label}[{row}] must be text or a list of chat messages, got {shorten(value)} ({type(value).__name__})"
    )


def in_form_of(prompt: object, completion: Any) -> Any:
    """Return `completion` in TRL's form: if the prompt is conversational, text becomes one message."""
    if type(completion) is str and isinstance(prompt, (list, tuple)):
        return [{"role": "assistant", "content": completion}]
    return completion


def content_text(content: object) -> str:
    """Return the text in a message's content, without thinking, images, audio, or other content that is not text."""
    parts = content if isinstance(content, (list, tuple)) else [content]
    return "".join(text for text in map(_part_text, parts) if isinstance(text, str))


def _part_text(part: object) -> object:
    if isinstance(part, Mapping):
        return None if part.get("type") in _THINKING else part.get("text")
    return part
