"""Schemas that hang, fool or crash validators: name -> function that makes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Made = Callable[[], Any]


def nested(depth: int, keyword: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {keyword: [schema]} if keyword in ("allOf", "anyOf", "oneOf") else {keyword: schema}
    return schema


def doubling(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {"d0": {"type": "integer"}}
    for level in range(1, levels):
        definitions[f"d{level}"] = {"anyOf": [{"$ref": f"#/$defs/d{level - 1}"}] * 2}
    return {"$defs": definitions, "$ref": f"#/$defs/d{levels - 1}"}


REFUSED: dict[str, Made] = {
    "refers to itself": lambda: {"$ref": "#"},
    "refers to itself by allOf": lambda: {"allOf": [{"$ref": "#"}]},
    "refers to itself by not": lambda: {"not": {"$ref": "#"}},
    "refers to itself by if": lambda: {"if": {"$ref": "#"}, "then": False},
    "loop of two": lambda: {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "loop by dependentSchemas": lambda: {"dependentSchemas": {"a": {"$ref": "#"}}},
    "dynamic loop": lambda: {"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]},
    "remote reference": lambda: {"$ref": "http://127.0.0.1:9/schema.json"},
    "file": lambda: {"$ref": "file:///etc/passwd"},
    "relative file": lambda: {"$ref": "other.json"},
    "remote dialect": lambda: {"$schema": "http://127.0.0.1:9/dialect"},
    "dangling reference": lambda: {"$ref": "#/$defs/none"},
    "reference to a number": lambda: {"maximum": 5, "$ref": "#/maximum"},
    "lookahead": lambda: {"pattern": "a(?=b)"},
    "backreference": lambda: {"pattern": r"(a)\1"},
    "broken pattern": lambda: {"pattern": "("},
    "huge pattern": lambda: {"pattern": "((a{1000}){1000}){1000}"},
    "unknown type": lambda: {"type": "text"},
    "negative length": lambda: {"minLength": -1},
    "required as text": lambda: {"required": "a"},
    "properties as list": lambda: {"properties": ["a"]},
    "empty enum of no list": lambda: {"enum": "a"},
    "NaN": lambda: {"maximum": float("nan")},
    "objects inside": lambda: {"const": object()},
    "list": lambda: [{"type": "object"}],
    "number": lambda: 5,
    "text that is not JSON": lambda: "{",
    "JSON that is not a schema": lambda: '{"name": "text"}',
    "keys twice": lambda: '{"type": "object", "type": "array"}',
    "a thousand levels": lambda: nested(1_000, "items"),
    "doubles 40 times": lambda: doubling(40),
}

USABLE: dict[str, Made] = {
    "tree": lambda: {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}, "required": ["value"]},
    "list of itself": lambda: {"items": {"$ref": "#"}, "minItems": 1},
    "pattern that backtracks": lambda: {"pattern": "^(a+)+$"},
    "pattern of key": lambda: {"patternProperties": {"^(a|aa)+$": {"type": "integer"}}, "additionalProperties": False},
    "100 levels": lambda: nested(100, "items"),
    "50 times allOf": lambda: nested(50, "allOf"),
    "nothing is valid": lambda: {"not": {}},
    "needs what it forbids": lambda: {"required": ["a"], "properties": {"a": False}},
    "many properties": lambda: {"required": [f"k{n}" for n in range(500)], "additionalProperties": False},
    "many branches": lambda: {"anyOf": [{"required": [f"k{n}"]} for n in range(200)]},
    "unique items": lambda: {"uniqueItems": True, "items": {"type": "object"}},
    "contains": lambda: {"contains": {"type": "object"}, "maxContains": 0, "type": "array"},
    "unevaluated": lambda: {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False, "minProperties": 1},
    "multiple of a fraction": lambda: {"multipleOf": 0.0001, "type": "number"},
    "const of null": lambda: {"const": None},
    "formats": lambda: {"anyOf": [{"format": "email"}, {"format": "regex"}], "type": "string"},
    "reference with escapes": lambda: {"$defs": {"a/b~c": {"type": "null"}}, "$ref": "#/$defs/a~1b~0c"},
}

DOCUMENTS: dict[str, Made] = {
    "empty object": lambda: "{}",
    "empty array": lambda: "[]",
    "null": lambda: "null",
    "text": lambda: '"' + "a" * 50_000 + '!"',
    "number": lambda: "1" * 300,
    "fraction": lambda: "1e-300",
    "many keys": lambda: "{" + ",".join(f'"{"a" * (n % 50)}{n}": 1' for n in range(9_000)) + "}",
    "many items": lambda: "[" + ",".join(["{}"] * 60_000) + "]",
    "items that differ at their end": lambda: (
        "[" + ",".join(f'["aaaaaaaaaaaaaaaaaaaa", {n}]' for n in range(5_000)) + "]"
    ),
    "deep": lambda: "[" * 60 + "]" * 60,
    "deep tree": lambda: '{"left": ' * 60 + "{}" + "}" * 60,
    "wide tree": lambda: '{"left": {"right": 1}, "right": {"left": [' + ",".join(["{}"] * 9_000) + "]}}",
}
