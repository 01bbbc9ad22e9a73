"""Rewrite lookaheads at the start of patterns: the engine that checks patterns in linear time does not have them.

A text matches ``^(?!con)[a-z]+$`` exactly if it matches ``^[a-z]+$`` and does not match ``^(?:con)``. Lookaheads
anywhere else cannot be taken apart like this, and the schema is refused.
"""

from __future__ import annotations

from typing import Any

from rewardkit.primitives.schema.document import SchemaDocument


def rewritten(schema: dict[str, Any]) -> None:
    """Rewrite the patterns of `schema` in place.

    Example: ``{"pattern": "^(?=.*[0-9])a"}`` becomes ``{"pattern": "^a", "allOf": [{"pattern": "^(?:.*[0-9])"}]}``.
    Raises RewardDefinitionError for a schema with an unknown draft or a reference to nothing in it.
    """
    # Only a part of the schema has patterns: what looks like one in "const" or "examples" is data.
    parts = [part for part in SchemaDocument(schema).nodes if "(?" in str(part.get("pattern", ""))]
    for part in parts:
        split = _split(part["pattern"]) if isinstance(part["pattern"], str) else None
        around = part.get("allOf", [])
        if split and isinstance(around, list):
            conditions, part["pattern"] = split
            part["allOf"] = [*around, *conditions]


def _split(pattern: str) -> tuple[list[dict[str, Any]], str] | None:
    """Return the schemas of the lookaheads at the start, and the rest of the pattern; None if there are none."""
    closings = _closings(pattern)
    if closings is None or not pattern.startswith("^"):
        return None
    conditions: list[dict[str, Any]] = []
    start = 1
    while pattern.startswith(("(?=", "(?!"), start):
        end = closings[start]
        found = {"pattern": f"^(?:{pattern[start + 3 : end]})"}
        # Patterns say nothing about values that are not texts, so their negation must not either.
        absent = {"anyOf": [{"not": {"type": "string"}}, {"not": found}]}
        conditions.append(absent if pattern[start + 2] == "!" else found)
        start = end + 1
        if pattern[start : start + 1] in ("*", "+", "?", "{"):
            return None
    return (conditions, f"^{pattern[start:]}") if conditions else None


def _closings(pattern: str) -> dict[int, int] | None:
    """Return where each bracket closes, or None: a choice outside all brackets, or a set that engines read differently.

    Example: ``_closings("^(a(b))") == {3: 5, 1: 6}``.
    """
    closings: dict[int, int] = {}
    opened: list[int] = []
    in_set = escaped = False
    for index, character in enumerate(pattern):
        if escaped or character == "\\":
            escaped = not escaped
        elif in_set:
            if character == "[" or (character == "]" and pattern[index - 1] in "[^"):
                return None
            in_set = character != "]"
        elif character == "[":
            in_set = True
        elif character == "(":
            opened.append(index)
        elif character == ")" and opened:
            closings[opened.pop()] = index
        elif character == ")" or (character == "|" and not opened):
            return None
    return None if opened or in_set else closings
