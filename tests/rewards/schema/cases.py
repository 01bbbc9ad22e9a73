"""Schemas for the tests of partial credit, each with a valid value."""

from __future__ import annotations

from typing import Any, Literal, Optional, TypeAlias

from pydantic import BaseModel, Field

Json: TypeAlias = Any


class Line(BaseModel):
    model_config = {"extra": "forbid"}
    sku: str = Field(min_length=1)
    qty: int = Field(ge=1)


class Invoice(BaseModel):
    """The model of the tests: nested, optional, closed and open objects, arrays, an enumeration."""

    number: str = Field(pattern="^[A-Z]{2}-[0-9]+$")
    total: float
    currency: Literal["EUR", "USD"]
    customer: Optional[Line]  # noqa: UP045 - the "X or null" form is what is tested
    lines: list[Line] = Field(min_length=1)
    note: Optional[str] = None  # noqa: UP045
    tags: list[str] = []


INVOICE: Json = {
    "number": "AB-12",
    "total": 3.5,
    "currency": "EUR",
    "customer": {"sku": "c", "qty": 1},
    "lines": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 2}],
    "note": "fine",
    "tags": ["x"],
}
FLAT: Json = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}, "color": {"enum": ["red", "blue"]}},
    "required": ["sku", "qty", "color"],
    "additionalProperties": False,
}
TREE: Json = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value"],
        }
    },
    "$ref": "#/$defs/node",
}
MERGED: Json = {
    "$id": "https://example.com/order.json",
    "$defs": {
        "person": {
            "$id": "person.json",
            "$anchor": "top",
            "properties": {"name": {"$ref": "#/$defs/name"}, "age": {"type": "integer", "minimum": 0}},
            "required": ["name", "age"],
            "$defs": {"name": {"type": "string", "minLength": 2}},
        },
        "ship/to~": {"type": "object", "required": ["street"], "properties": {"street": {"type": "string"}}},
    },
    "type": "object",
    "allOf": [
        {"required": ["buyer"], "properties": {"buyer": {"$ref": "person.json#top"}}},
        {"required": ["ship"], "properties": {"ship": {"$ref": "#/$defs/ship~1to~0"}}},
    ],
    "patternProperties": {"^x-": {"type": "integer"}},
    "additionalProperties": {"type": "object"},
    "minProperties": 2,
    "maxProperties": 6,
}
MERGED_VALUE: Json = {"buyer": {"name": "Ann", "age": 3}, "ship": {"street": "s"}, "x-1": 5, "more": {"a": 1}}
LEGACY: Json = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {"pair": {"items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False}},
    "required": ["pair", "free"],
    "properties": {"pair": {"$ref": "#/definitions/pair", "maxItems": 1}},
    "dependencies": {"left": ["right"]},
}


class Card(BaseModel):
    model_config = {"extra": "forbid"}
    kind: Literal["card"]
    number: str = Field(min_length=4)
    year: int


class Transfer(BaseModel):
    kind: Literal["transfer", "sepa"] = "sepa"
    iban: str = Field(pattern="^[A-Z]{2}[0-9]+$")


class Payment(BaseModel):
    """Unions with and without a tag, and maps."""

    amount: float
    how: Card | Transfer = Field(discriminator="kind")
    item: Line | str
    prices: dict[str, Line] = Field(min_length=1)
    parts: list[Card | Transfer | None] = []


PAYMENT: Json = {
    "amount": 3,
    "how": {"kind": "card", "number": "1234", "year": 30},
    "item": {"sku": "a", "qty": 1},
    "prices": {"left": {"sku": "b", "qty": 1}, "right": {"sku": "c", "qty": 2}},
    "parts": [{"kind": "sepa", "iban": "DE1"}, None, {"kind": "card", "number": "4321", "year": 31}],
}
MIXED: Json = {
    "type": "object",
    "required": ["id", "kind"],
    "properties": {"id": {"type": "integer"}, "more": {"type": "object", "additionalProperties": FLAT}},
    "patternProperties": {"^n": {"type": "integer"}},
    "anyOf": [
        {"$ref": "#/$defs/circle"},
        {"properties": {"kind": {"enum": ["box", "cube"]}, "a": {"minimum": 0}, "b": {}}, "required": ["a", "b"]},
    ],
    "$defs": {
        "circle": {"allOf": [{"required": ["radius"]}, {"properties": {"kind": {"const": "circle"}, "n0": False}}]}
    },
}
MIXED_VALUE: Json = {
    "id": 1, "kind": "cube", "a": 1, "b": 2, "n1": 1, "more": {"z": {"sku": "a", "qty": 1, "color": "red"}}
}  # fmt: skip
CASES: list[tuple[Any, Json]] = [
    (Payment, PAYMENT),
    (MIXED, MIXED_VALUE),
    (MIXED, {"id": 1, "kind": "circle", "radius": None, "more": {}}),
    ({"additionalProperties": {"items": FLAT}}, {"x": [{"sku": "a", "qty": 1, "color": "red"}]}),
    (Invoice, INVOICE),
    (FLAT, {"sku": "a", "qty": 1, "color": "red"}),
    (TREE, {"value": 1, "children": [{"value": 2}, {"value": 3, "children": [{"value": 4}]}]}),
    (MERGED, MERGED_VALUE),
    (LEGACY, {"pair": [1, "a"], "free": None, "left": 1, "right": 2}),
    ({"type": "array", "items": FLAT, "minItems": 1}, [{"sku": "a", "qty": 1, "color": "red"}] * 3),
    ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "contains": {"const": 1}}, [1, 2]),
]
