"""Schemas from the cells of a dataset: dicts as Arrow gives them back.

Arrow gives all dicts of a column the same keys: ``{"type": "object", "required": ["a"]}`` next to ``{"type": "array"}``
comes back as the same dict and ``{"type": "array", "required": None}``. ``without_gaps`` removes what was added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rewardkit.core.errors import shorten
from rewardkit.primitives.schema.checks import read_schema
from rewardkit.primitives.schema.document import LISTS, MAPS, SINGLE, Node, refusal


def without_gaps(schema: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a copy of `schema` without keywords, properties and definitions that are None.

    Example: ``without_gaps({"required": None, "properties": {"a": {}, "b": None}}) == {"properties": {"a": {}}}``.
    Arrays of numpy become lists. Values that are not schemas (of ``enum``, ``default``, ...) stay as they are.
    Raises RewardDefinitionError for what JSON cannot hold or ``read_schema`` refuses, and for a ``const`` that is None:
    it may be a gap, or ask for null.
    """
    try:
        text = json.dumps(dict(schema), allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise refusal(f"the schema cannot be written as JSON: {shorten(str(error))}.") from None
    return _filled(read_schema(text))


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `schema` without its gaps; its depth is limited."""
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if value is None and keyword == "const":
            raise refusal(
                'a "const" is None, which may ask for null, or may come from Arrow, which gives all dicts of a column '
                "the same keys. Store the schemas as JSON text."
            )
        if value is None:
            continue
        if keyword in MAPS and isinstance(value, dict):
            kept[keyword] = {name: _part(part) for name, part in value.items() if part is not None}
        elif keyword in LISTS and isinstance(value, list):
            kept[keyword] = [_part(part) for part in value]
        elif keyword in SINGLE and isinstance(value, dict):
            part = _filled(value)
            if part or not value:  # one of gaps alone is a gap, too
                kept[keyword] = part
        else:
            kept[keyword] = value
    return kept


def _part(part: Node) -> Node:
    return _filled(part) if isinstance(part, dict) else part


def _plain(value: Any) -> Any:
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{shorten(value, 60)} is not a JSON value")
