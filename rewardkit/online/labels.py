"""Columns for trainers that pass a single label: ``columns("4", "answer")`` is ``{"label": "4", "answer": "4"}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def columns(label: Any, gold: str) -> dict[str, Any]:
    """Return a row's columns: the label as "label" and as `gold`, plus the label's entries if it is a JSON object."""
    entries = label if isinstance(label, Mapping) else _entries(label)
    return {"label": label, gold: label, **{str(name): cell for name, cell in entries.items()}}


def _entries(label: Any) -> Mapping[str, Any]:
    if not isinstance(label, str) or not label.lstrip().startswith("{"):
        return {}
    try:
        parsed = json.loads(label)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
