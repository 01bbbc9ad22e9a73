"""Refuse schemas that cannot be checked safely, and find values that JSON cannot hold.

``{"$ref": "#"}`` refers to itself on the same value. Validators then call every value valid, so every completion would
score 1.0; ``check_document`` refuses it and names the loop. A tree that refers to itself through ``properties`` or
``items`` is fine: each step goes one level down into the value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

from rewardkit.core.errors import near_miss, shorten
from rewardkit.primitives.schema.document import STRUCTURE, SchemaDocument, refusal

SCHEMA_CHARACTERS = 2_000_000
SCHEMA_DEPTH = 128
VALUE_DEPTH = 128
SAFE_INTEGER_BITS = 2_100
"""Integers below 640 digits can be printed whatever the interpreter's limit is."""

SAME_VALUE_PARTS = 10_000
"""How many parts of a schema may apply to one value: ``anyOf`` of ``anyOf`` doubles with every level."""

_KEYWORDS = STRUCTURE.union(
    ("type", "enum", "const", "format", "pattern", "minLength", "maxLength", "minimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems"),
    ("minContains", "maxContains", "required", "minProperties", "maxProperties", "dependentRequired"),
    ("contentMediaType", "contentEncoding", "title", "description", "default", "examples", "deprecated"),
    ("readOnly", "writeOnly", "$schema", "$id", "id", "$anchor", "$comment"),
)


def read_schema(text: str) -> dict[str, Any]:
    """Parse a schema from JSON text.

    Example: ``read_schema('{"type": "object"}') == {"type": "object"}``.
    Raises RewardDefinitionError for text that is not a JSON object, for repeated keys, for more than
    2,000,000 characters or 128 levels, and for an object without any schema keyword.
    """
    if len(text) > SCHEMA_CHARACTERS:
        raise refusal(f"the schema has {len(text):,} characters; the limit is {SCHEMA_CHARACTERS:,}.")
    try:
        schema = json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise refusal(f"the schema is not valid JSON: {shorten(str(error))} in {shorten(text)}.") from None
    if not isinstance(schema, dict):
        raise refusal(f"a schema must be a JSON object, got {shorten(schema)}.")
    if schema and not _KEYWORDS.intersection(schema):
        hint = next(filter(None, (near_miss(key, _KEYWORDS) for key in schema)), "")
        raise refusal(
            f"no key of the schema is a JSON Schema keyword ({shorten(list(schema))}), so every value would "
            f'pass.{hint} A schema looks like {{"type": "object", "properties": {{"name": {{"type": '
            '"string"}}, "required": ["name"]}.'
        )
    _check_depth(schema)
    return schema


def check_document(document: SchemaDocument) -> None:
    """Refuse a schema that refers to itself, or branches excessively, on the same value.

    Example: ``check_document(SchemaDocument({"allOf": [{"$ref": "#"}]}))`` raises.
    Raises RewardDefinitionError that names the loop or the place.
    """
    parts_from: dict[int, int] = {}
    for start in document.nodes:
        if id(start) not in parts_from:
            _explore(document, start, parts_from)


def _explore(document: SchemaDocument, start: dict[str, Any], parts_from: dict[int, int]) -> None:
    # Depth first, with an explicit stack: a chain of references may be longer than Python's stack.
    path: dict[int, tuple[dict[str, Any], Iterator[dict[str, Any]]]] = {}
    totals: dict[int, int] = {}

    def enter(node: dict[str, Any]) -> None:
        path[id(node)] = (node, iter(document.on_same_value(node)))
        totals[id(node)] = 1

    enter(start)
    while path:
        key, (node, following) = next(reversed(path.items()))
        part = next(following, None)
        if part is None:
            if totals[key] > SAME_VALUE_PARTS:
                raise refusal(
                    f"more than {SAME_VALUE_PARTS:,} parts of the schema apply to one value, starting at "
                    f"#{document.pointer(node)}; checking it would never end. Simplify the nested anyOf, oneOf, allOf."
                )
            parts_from[key] = totals[key]
            del path[key]
            if path:
                totals[next(reversed(path))] += totals[key]
        elif id(part) in path:
            loop = [f"#{document.pointer(step)}" for step, _ in path.values()]
            loop = loop[loop.index(f"#{document.pointer(part)}") :]
            shown = shorten(" -> ".join([*loop, loop[0]]))
            raise refusal(
                f"the schema refers to itself on the same value ({shown}), so "
                "every value would pass. Recurse through properties or items instead."
            )
        elif id(part) in parts_from:
            totals[key] += parts_from[id(part)]
        else:
            enter(part)


def _check_depth(schema: dict[str, Any]) -> None:
    waiting: list[tuple[Any, int]] = [(schema, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > SCHEMA_DEPTH:
            raise refusal(f"the schema is nested deeper than {SCHEMA_DEPTH} levels.")
        if isinstance(node, dict | list):
            below = node.values() if isinstance(node, dict) else node
            waiting.extend((part, depth + 1) for part in below)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError(f"a key occurs twice in {shorten([key for key, _ in pairs])}")
    return read


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def why_no_json(value: Any, depth: int = VALUE_DEPTH) -> str:
    """Return why JSON cannot hold `value`; empty if it can.

    Example: ``why_no_json(float("nan")) == "a number is not finite"``.
    The validator reads such values as null, skips them or raises: ``{"maximum": 5}`` accepted ``10**5000``.
    """
    kind = type(value)
    if kind is str:
        return "" if value.isascii() else _why_no_text(value)
    if kind is int:
        return "" if value.bit_length() < SAFE_INTEGER_BITS else _why_no_integer(value)
    if kind is float:
        return "" if isfinite(value) else "a number is not finite"
    if kind is bool or value is None:
        return ""
    if kind is not dict and kind is not list:
        return f"{kind.__name__} is not a JSON type"
    if depth == 0:
        return f"nested deeper than {VALUE_DEPTH} levels"
    for key in value if kind is dict else ():
        if type(key) is not str:
            return f"a key is of type {type(key).__name__}"
        if not key.isascii() and _why_no_text(key):
            return _why_no_text(key)
    for part in value.values() if kind is dict else value:
        problem = why_no_json(part, depth - 1)
        if problem:
            return problem
    return ""


def _why_no_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a text contains half a character (a lone surrogate)"
    return ""


def _why_no_integer(number: int) -> str:
    try:
        str(number)  # the validator prints it, too, under the same limit of the interpreter
    except ValueError:
        return "an integer has more digits than Python can print"
    return ""
