"""Replies: what an endpoint answered, read with care: ``reply_of({"choices": [...], "usage": {...}})``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_MOST_TOKENS = 10**9
"""That one request can take: a server that claims more is not believed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, why it stopped, and the tokens of the request and of the reply, if the server says them."""

    text: str
    finish: str
    tokens: tuple[int, int] | None


def reply_of(completion: Any) -> Reply | None:
    """The reply in the body of an answer; None where it is no chat completion."""
    try:
        choice = completion["choices"][0]
        text = _text_of(choice["message"].get("content"))
        return Reply(text, str(choice.get("finish_reason")), _usage_of(completion.get("usage")))
    except (AttributeError, LookupError, TypeError):
        return None


def _text_of(content: Any) -> str:
    """The text of a message, which may come in parts, or be missing where there is a call of a tool or a refusal."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


def _usage_of(usage: Any) -> tuple[int, int] | None:
    """The tokens of the request and of the reply; None where the server does not say, or nothing that can be."""
    if not isinstance(usage, dict):
        return None
    sent, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(sent) is not int or type(written) is not int:
        return None
    return (sent, written) if 1 <= sent <= _MOST_TOKENS and 0 <= written <= _MOST_TOKENS else None
