"""Small conversations with tool calls for the tests of records and of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Message = dict[str, Any]


def asks(*calls: tuple[str, Mapping[str, Any] | str], text: str = "") -> Message:
    """Return a message that calls tools: ``asks(("open", {"color": "red"}))``."""
    functions = [{"type": "function", "function": {"name": name, "arguments": given}} for name, given in calls]
    return {"role": "assistant", "content": text, "tool_calls": functions}


def result(name: str, text: str) -> Message:
    return {"role": "tool", "name": name, "content": text}


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


OPENED = [asks(("open", {"color": "red"})), result("open", "18"), says("It is 18.")]
"""One call, its result and an answer."""
PENDING = [asks(("open", {"color": "red"})), result("open", "{'error': 'stuck'}"), asks(("open", {"color": "red"}))]
"""A call with an error, and the same call again, without a result."""
