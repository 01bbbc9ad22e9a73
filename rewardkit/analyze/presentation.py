"""Output of an analysis: aligned plain text for a terminal, and plain values for JSON.

``aligned([["", "AUC"], ["total", "0.93"]])`` is ``["        AUC", "total  0.93"]``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from rewardkit.batch.table_text import visible

UNKNOWN = "-"
"""The text for a missing number."""


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: first column left-aligned, others right-aligned, two spaces between them."""
    if not lines:
        return []
    shown = [[visible(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if position else cell.ljust(width)
            for position, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in shown
    ]


def percent(share: float | None) -> str:
    """Format 0.625 as ``62.5 %``; ``0 %`` and ``100 %`` are exact, never rounded."""
    if share is None:
        return UNKNOWN
    for exact, shown in ((0.0, "0 %"), (1.0, "100 %")):
        if abs(share - exact) < 1e-9:
            return shown
    text = f"{100.0 * share:.1f} %"
    return {"0.0 %": "<0.1 %", "-0.0 %": ">-0.1 %", "100.0 %": ">99.9 %"}.get(text, text)


def decimal(value: float | None) -> str:
    """Format 0.93333 as ``0.933``."""
    return UNKNOWN if value is None else f"{value:.3f}"


def short(value: float | None) -> str:
    """Format a number of any size with three digits: ``1``, ``0.125``, ``1.2e+06``."""
    return UNKNOWN if value is None else f"{value:.3g}"


def excerpt(text: str, width: int = 80) -> str:
    """Return the beginning and the end of `text` on one line; the answer is often at the end."""
    if len(text) <= width:
        return visible(text)
    half = (width - 5) // 2
    return f"{visible(text[:half])} ... {visible(text[-half:])}"


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
