"""How the plain functions of the bench read a completion without the library, correctly and in linear time.

``tagged("<think>6 * 7</think><answer>42</answer>")`` is ``"42"``; the thinking never counts.
"""

from __future__ import annotations

import json
import re
from typing import Any

Messages = list[dict[str, Any]]

_NUMBER = re.compile(r"[-+]?(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d{1,15})?", re.ASCII)


def text_of(completion: str | Messages) -> str:
    """Return the text of the last assistant message, or the text itself; tool calls and images have none."""
    if isinstance(completion, str):
        return completion
    for message in reversed(completion):
        if message.get("role", "assistant") == "assistant":
            content = message.get("content")
            if isinstance(content, list):
                parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
                return "".join(part for part in parts if isinstance(part, str))
            return content if isinstance(content, str) else ""
    return ""


def visible(text: str) -> str:
    """Return the text after the thinking; unclosed thinking hides everything after it."""
    return text.rpartition("</think>")[2].partition("<think>")[0].strip()


def tagged(text: str, tag: str = "answer") -> str | None:
    """Return the body of the only visible tag; None if it is missing, duplicated or blank."""
    shown = visible(text)
    opening, closing = f"<{tag}>", f"</{tag}>"
    if shown.count(opening) != 1 or shown.count(closing) != 1:
        return None
    body, closed, _ = shown.partition(opening)[2].partition(closing)
    return (body.strip() or None) if closed else None


def number_in(text: str | None) -> float | None:
    """Return the finite number that `text` spells, with or without thousands separators, or None."""
    said = (text or "").strip()
    return float(said.replace(",", "")) if _NUMBER.fullmatch(said) else None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object, for ``json.loads(object_pairs_hook=...)``; a duplicate key is an error."""
    document = dict(pairs)
    if len(document) != len(pairs):
        raise json.JSONDecodeError("duplicate key", "", 0)
    return document


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def document_in(text: str) -> Any:
    """Parse `text` as JSON; None if it is not JSON, or has duplicate keys or NaN."""
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
