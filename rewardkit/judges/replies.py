"""Replies: what an endpoint answered, read with care: ``usage_of({"usage": {...}})`` is two numbers, or nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

_MOST_TOKENS = 10**9
"""That one request can take: a server that claims more is not believed."""

_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and why it stopped."""

    text: str
    finish: str
    tokens_in: int
    tokens_out: int


def no_quota(error: Any) -> bool:
    """Whether an answer with an error's status says that there is nothing left to pay with."""
    return error.status_code == 402 or str(error.code) in _QUOTA or str(error.type) in _QUOTA


def text_of(content: Any) -> str:
    """The text of a message, which may come in parts, or be missing where there is a call of a tool or a refusal."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError
    return content or ""


def usage_of(completion: Any) -> tuple[int, int] | None:
    """The tokens of the request and of the reply; None where the server does not say, or nothing that can be."""
    usage = completion.get("usage")
    given = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(usage, dict) else [None]
    sent, written = given[0], given[-1]
    believed = all(type(count) is int and 0 <= count <= _MOST_TOKENS for count in given)
    return (int(sent), int(written)) if believed and sent and written is not None else None  # no request is empty


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, or None: from a number, or from a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        given = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", given, re.ASCII):
            return float(given) * unit
        if given and unit == 1.0:
            try:
                return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
            except (TypeError, ValueError, OverflowError):
                return None
    return None
