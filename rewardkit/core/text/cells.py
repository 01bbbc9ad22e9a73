"""Cells of a dataset as text: ``cell_text([1, 2])`` is ``"[1, 2]"``, ``cell_text("42")`` is ``"42"``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def cell_text(value: Any) -> str:
    """Return text as it is, "" for a missing value, and anything else as JSON text."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):  # numpy and torch
        value = value.tolist()
    absent = isinstance(value, float) and math.isnan(value)
    if absent or value is None or type(value).__name__ in ("NaTType", "NAType"):  # the latter are pandas'
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain) if _is_json(value) else str(value)
    except (TypeError, ValueError, RecursionError):  # keys that JSON cannot write, an object that contains itself
        return str(value)


def texts_of(example: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a row as texts."""
    return {name: cell_text(value) for name, value in example.items()}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _is_json(value: Any) -> bool:
    return isinstance(value, (bool, int, float, list, tuple, dict))
