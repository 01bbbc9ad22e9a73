"""Parsing of an endpoint's reply, which may be malformed: ``reply_of({"choices": [...], "usage": {...}})``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_MOST_TOKENS = 10**9
"""The largest plausible number of tokens in one request. Larger numbers are ignored. The limit is arbitrary, but sums
must stay exact."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply.

    Attributes:
        text: the text that the model wrote.
        finish: the reason why the model stopped.
        tokens: the token counts for the request and the reply; None if the server does not report them.
    """

    text: str
    finish: str
    tokens: tuple[int, int] | None


def reply_of(completion: Any) -> Reply | None:
    """Return the reply in the response body `completion`; None if it is not a chat completion."""
    try:
        choice = completion["choices"][0]
        text = _text_of(choice["message"].get("content"))
        return Reply(text, str(choice.get("finish_reason")), _usage_of(completion.get("usage")))
    except (AttributeError, LookupError, TypeError):
        return None


def _text_of(content: Any) -> str:
    """Return a message's text, which may consist of parts or be missing (for a tool call or a refusal)."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


def _usage_of(usage: Any) -> tuple[int, int] | None:
    """Return the token counts for the request and the reply; None if they are missing or implausible."""
    if not isinstance(usage, dict):
        return None
    sent, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if type(sent) is not int or type(written) is not int:
        return None
    return (sent, written) if 1 <= sent <= _MOST_TOKENS and 0 <= written <= _MOST_TOKENS else None
