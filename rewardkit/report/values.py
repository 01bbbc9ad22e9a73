"""Formatting of numbers and texts for reports, and conversion of values to plain JSON.

``percent(0.625)`` is ``62.5%``; ``middle_cut("a" * 500, 30)`` keeps the beginning and the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from rewardkit.batch.table_text import visible

UNKNOWN = "-"
"""The text that stands for a missing number."""


def percent(share: float | None) -> str:
    """Format 0.625 as ``62.5%``; ``0%`` and ``100%`` are always exact and never the result of rounding."""
    if share is None:
        return UNKNOWN
    for exact, label in ((0.0, "0%"), (1.0, "100%")):
        # 1.0 as a sum of shares may differ in its last digits.
        if abs(share - exact) < 1e-9:
            return label
    text = f"{100.0 * share:.1f}%"
    return {"0.0%": "<0.1%", "-0.0%": ">-0.1%", "100.0%": ">99.9%"}.get(text, text)


def decimal(value: float | None) -> str:
    """Format 0.93333 as ``0.933``."""
    return UNKNOWN if value is None else f"{value:.3f}"


def short(value: float | None, digits: int = 3) -> str:
    """Format a number of any size with `digits` significant digits: ``1``, ``0.125``, ``1.2e+06``."""
    return UNKNOWN if value is None else f"{value:.{digits}g}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, singular or plural: ``1 group``, ``2 groups``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def excerpt(text: str, width: int = 80) -> str:
    """Return the beginning and the end of `text` on one line, because the answer is often at the end."""
    if len(text) <= width:
        return visible(text)
    # Five characters for " ... ".
    half = (width - 5) // 2
    return f"{visible(text[:half])} ... {visible(text[-half:])}"


def middle_cut(text: str, limit: int) -> str:
    """If a text is longer than `limit`, replace its middle with the length of the omitted part."""
    if len(text) <= limit + 30:  # the mark of the cut has about 30 characters, so a shorter cut saves nothing
        return text
    # Two thirds for the beginning, which shows what the text is about; the rest for the end, where the answer is.
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]} [... {len(text) - head - tail:,} characters ...] {text[-tail:]}"


def quoted(value: Any, limit: int) -> str:
    """Return a value's repr on one line, shortened in the middle to `limit`, with control characters escaped."""
    return visible(repr(middle_cut(value, limit)) if isinstance(value, str) else middle_cut(repr_of(value), limit))


def repr_of(value: Any) -> str:
    """Return a value's repr, or a placeholder if the repr raises an exception."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"


def json_ready(value: Any) -> Any:
    """Return `value` as plain JSON values: dataclasses as objects, tuples as lists, non-finite numbers as null."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_ready(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
