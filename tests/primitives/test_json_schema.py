"""JSON schema credit: what pays, what does not, what is refused, and what a hostile value can do (nothing)."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Literal, Optional, TypeAlias

import jsonschema
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from rewardkit.core.errors import MissingExtraError, RewardDefinitionError
from rewardkit.primitives import json_schema as module
from rewardkit.primitives.json_schema import JsonSchema

Json: TypeAlias = Any
Path_: TypeAlias = tuple[Any, ...]


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
CASES: list[tuple[Any, Json]] = [
    (Invoice, INVOICE),
    (FLAT, {"sku": "a", "qty": 1, "color": "red"}),
    (TREE, {"value": 1, "children": [{"value": 2}, {"value": 3, "children": [{"value": 4}]}]}),
    (MERGED, MERGED_VALUE),
    (LEGACY, {"pair": [1, "a"], "free": None, "left": 1, "right": 2}),
    ({"type": "array", "items": FLAT, "minItems": 1}, [{"sku": "a", "qty": 1, "color": "red"}] * 3),
    ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "contains": {"const": 1}}, [1, 2]),
]


def credit(schema: Any, value: Json) -> float:
    return JsonSchema.of(schema).credit_of(value)[0]


def note(schema: Any, value: Json) -> str:
    return JsonSchema.of(schema).credit_of(value)[1]


# --- What pays -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_a_valid_value_has_one_and_no_note(schema: Any, value: Json) -> None:
    for way in ("partial", "binary"):
        assert JsonSchema.of(schema, credit=way).credit_of(value) == (1.0, "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (FLAT, {"sku": "a", "qty": "31"}, 1 / 3),
        (FLAT, {"sku": "a", "qty": 1}, 2 / 3),
        (FLAT, {"sku": "a", "qty": 1, "color": "red", "extra": 0}, 3 / 4),
        (FLAT, {"sku": "a", "qty": "1", "color": "red", "x": 0, "y": 0}, 2 / 5),
        (FLAT, {}, 0),
        (FLAT, [], 0),
        (FLAT, None, 0),
        (FLAT, {"sku": None, "qty": None, "color": None}, 0),
        (FLAT, {f"spam{index}": 1 for index in range(50)}, 0),
        (Line, {"sku": "a", "qty": "three"}, 1 / 2),
        (Invoice, {**INVOICE, "note": 5}, 5 / 6),
        (Invoice, {**INVOICE, "lines": [{"sku": "a"}]}, 4.5 / 5),
        (Invoice, {**INVOICE, "customer": {"sku": "c"}}, 4.5 / 5),
        (Invoice, {**INVOICE, "customer": None}, 1),
        (Invoice, {**INVOICE, "customer": {}}, 4 / 5),
        (Invoice, {**INVOICE, "customer": "none"}, 4 / 5),
        (Invoice, {**INVOICE, "lines": []}, 4 / 5),
        (MERGED, {"buyer": {"name": "Ann"}, "ship": {}}, 0.5 / 3),
        ({"required": ["a", "b"]}, {"a": None}, 1 / 2),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"c": 1}, 0),
        ({"required": ["a"], "minProperties": 3}, {"a": 1}, 1 / 2),
        ({"required": ["a"], "not": {"required": ["b"]}}, {"a": 1, "b": 1}, 1 / 2),
        ({"properties": {"a": {"type": "integer"}}}, {"a": "x"}, 0),
        ({"type": "array", "required": ["a"]}, {"a": 1}, 0),
        (LEGACY, {"pair": [1, "a", 3], "free": 1}, 1 / 3),
    ],
)
def test_the_formula(schema: Any, value: Json, expected: float) -> None:
    assert credit(schema, value) == pytest.approx(expected)
    assert JsonSchema.of(schema, credit="binary").credit_of(value)[0] == float(expected == 1)


def test_an_array_is_worth_its_worst_item_and_padding_is_worth_nothing() -> None:
    lines = {"type": "array", "items": Line.model_json_schema(), "minItems": 1}
    good, half, bad = {"sku": "a", "qty": 1}, {"sku": "a", "qty": 0}, {}
    assert credit(lines, [half]) == 0.5
    assert credit(lines, [half] + [good] * 500) == 0.5
    assert credit(lines, [half, half]) == 0.25
    assert credit(lines, [half, bad]) == credit(lines, [bad] + [good] * 500) == 0.0
    assert credit(lines, [half] * 101) == 0.0
    assert credit(lines, []) == 0.0
    assert credit({**lines, "uniqueItems": True}, [half, half]) == 0.0
    assert credit({**lines, "maxItems": 2}, [half, good, {"sku": "c", "qty": 1}]) == 0.0
    assert credit({**lines, "contains": {"required": ["z"]}}, [half]) == 0.0


def test_a_mistake_does_not_weigh_less_for_being_wrapped_in_a_recursive_schema() -> None:
    wrong: Json = {"value": "x", "children": []}
    schema = {**TREE["$defs"]["node"], "required": ["value", "children"], "$defs": TREE["$defs"]}
    strict = {
        "$defs": {"node": {**TREE["$defs"]["node"], "required": ["value", "children"]}},
        "$ref": TREE["$ref"],
    }
    assert credit(schema, wrong) == credit(strict, wrong) == 0.5
    for _ in range(30):
        wrong = {"value": 1, "children": [wrong]}
        assert credit(strict, wrong) == 0.5


def test_an_invalid_value_stays_away_from_one_however_small_its_fault() -> None:
    names = [f"p{index}" for index in range(5_000)]
    wide = {"required": names, "properties": {name: {"type": "integer"} for name in names}}
    value: Json = {**dict.fromkeys(names, 1), "p0": "x"}
    for _ in range(6):
        wide, value = (
            {"required": names, "properties": {"p0": wide}},
            {**dict.fromkeys(names, 1), "p0": value},
        )
    assert 0.99 < credit(wide, value) < 1 - 1e-7


# --- Laws ----------------------------------------------------------------------------------------------


def at(value: Json, path: Path_) -> Json:
    return reduce(lambda inner, key: inner[key], path, value)


def paths_of(value: Json, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        yield from paths_of(part, (*path, key))


@dataclass(frozen=True)
class Fault:
    """One place made wrong: its value replaced, its key removed, or a key added beside it."""

    path: Path_
    kind: str
    value: str = "null"

    def on(self, document: Json) -> Json:
        made = copy.deepcopy(document)
        if not self.path:
            return json.loads(self.value)
        around, key = at(made, self.path[:-1]), self.path[-1]
        if self.kind == "replace":
            around[key] = json.loads(self.value)
        elif self.kind == "remove" and isinstance(around, dict):
            del around[key]
        elif self.kind == "add" and isinstance(around, dict):
            around[f"not {key}"] = json.loads(self.value)
        return made


def apart(first: Fault, second: Fault) -> bool:
    shared = min(len(first.path), len(second.path))
    return first.path[:shared] != second.path[:shared]


replacements = st.sampled_from(
    ["null", '""', '"x"', "-1", "7", "1.5", "true", "[]", "{}", "[{}]", '{"sku": 1}']
)


@st.composite
def faulty_documents(draw: st.DrawFn) -> tuple[Any, Json, list[Fault]]:
    """(schema, valid document, faults at places apart from each other)."""
    schema, document = draw(st.sampled_from(CASES))
    places = st.sampled_from([path for path in paths_of(document) if path])
    kinds = st.sampled_from(["replace", "remove", "add"])
    faults: list[Fault] = []
    for fault in draw(st.lists(st.builds(Fault, places, kinds, replacements), min_size=1, max_size=5)):
        if all(apart(fault, other) for other in faults):
            faults.append(fault)
    return schema, document, faults


@settings(max_examples=600, deadline=None)
@given(faulty_documents())
def test_mending_never_lowers_and_faults_never_raise(case: tuple[Any, Json, list[Fault]]) -> None:
    schema, document, faults = case
    judge = JsonSchema.of(schema)
    # A fault that leaves the document valid by itself is no violation.
    assume(all(judge.credit_of(fault.on(document))[0] < 1 for fault in faults))
    earned = [1.0]
    broken = document
    for fault in faults:
        broken = fault.on(broken)
        made, why = judge.credit_of(broken)
        assert 0.0 <= made <= earned[-1]
        assert made < 1 and why
        earned.append(made)
    # Mended in another order than broken.
    for mended in faults:
        rest = [fault for fault in faults if fault is not mended]
        assert judge.credit_of(reduce(lambda value, fault: fault.on(value), rest, document))[0] >= earned[-1]


@settings(max_examples=300, deadline=None)
@given(faulty_documents(), replacements)
def test_swallowing_a_whole_part_never_pays(case: tuple[Any, Json, list[Fault]], text: str) -> None:
    """Where an object or array with a fault inside is replaced by a placeholder that is invalid there."""
    schema, document, faults = case
    judge = JsonSchema.of(schema)
    for path in {fault.path[:-1] for fault in faults}:
        swallowed = Fault(path, "replace", text).on(document)
        placeholder = json.loads(text)
        if isinstance(placeholder, dict | list) or judge.credit_of(swallowed)[0] == 1:
            continue
        inside = [fault for fault in faults if fault.path[: len(path)] == path]
        broken = reduce(lambda value, fault: fault.on(value), inside, document)
        assert judge.credit_of(swallowed)[0] <= judge.credit_of(broken)[0]


documents = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**6) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["red", "", "AB-1", "a", "EUR"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["sku", "qty", "color", "value", "children", "buyer", "ship", "pair", "x-", "left"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(CASES), documents)
@example(CASES[2], {"value": 1.0})
def test_one_means_what_another_validator_calls_valid(case: tuple[Any, Json], value: Json) -> None:
    judge = JsonSchema.of(case[0])
    schema = json.loads(judge.schema)
    expected = jsonschema.validators.validator_for(schema)(schema).is_valid(value)
    made, why = judge.credit_of(value)
    assert (made == 1.0) is expected
    assert bool(why) is not expected
    assert JsonSchema(judge.schema, "binary").credit_of(value) == (float(expected), why)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(CASES), st.dictionaries(st.text(), documents, max_size=5))
def test_more_properties_never_raise_an_invalid_value(case: tuple[Any, Json], more: dict[str, Json]) -> None:
    schema, document = case
    assume(isinstance(document, dict))
    judge = JsonSchema.of(schema)
    required = set(document)
    spam = {key: value for key, value in more.items() if key not in required}
    for missing in required:
        short = {key: value for key, value in document.items() if key != missing}
        before = judge.credit_of(short)[0]
        if before < 1:
            assert judge.credit_of({**short, **spam})[0] <= before


# --- Notes ---------------------------------------------------------------------------------------------


def test_notes_name_paths_and_stay_short() -> None:
    assert note(FLAT, {"sku": "a", "qty": "31"}) == 'color: missing; qty: "31" is not of type "integer"'
    wrong = {
        **INVOICE,
        "lines": [{"sku": "a", "qty": 0}],
        "total": "1",
        "customer": 3,
        "note": 2,
        "number": "1",
    }
    assert note(Invoice, wrong) == (
        'customer: 3 does not fit anyOf; lines[0].qty: 0 is less than the minimum of 1; number: "1" does not '
        'match "^[A-Z]{2}-[0-9]+$"; and 2 more'
    )
    assert note(FLAT, {"sku": 1}).endswith('; qty: missing; sku: 1 is not of type "string"')
    assert (
        note({"type": "integer"}, "x" * 10**5)
        == f'"{"x" * 40}"... (100,000 characters) is not of type "integer"'
    )
    assert note({"const": {"a": "y" * 10**5}}, 5).startswith('5: {"a":"yyy')
    assert len(note({"enum": ["y" * 10**5]}, 5)) < 200
    assert note({"minItems": 2}, [1]) == "array of 1 has less than 2 items"
    assert note({"required": ["a"], "minProperties": 3}, {"a": 1}) == "object of 1 has less than 3 properties"
    assert note({"not": {}}, 1) == "1 does not fit not"
    assert note({"type": "null"}, 10**300) == 'integer of about 300 digits is not of type "null"'
    assert note({"type": "null"}, True) == 'true is not of type "null"'


def test_notes_hold_nothing_that_a_terminal_acts_on() -> None:
    hostile = "\x1b]52;c;x\x07\u202e\u2066\n\x00"
    for value in ({hostile: 1}, {"sku": hostile, "qty": hostile, "color": hostile}, {hostile * 50: hostile}):
        assert note(FLAT, value).isprintable()
    long = {"k" * 10**5: 1}
    assert len(note({**FLAT, "required": []}, long)) < 200


# --- Schemas that are refused, and schemas that work ---------------------------------------------------

LOOPS: list[tuple[Json, str]] = [
    ({"$ref": "#"}, "# -> #"),
    ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, "#/$defs/b"),
    ({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}, "#/$defs/a/allOf/0"),
    ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "#/anyOf/1"),
    ({"oneOf": [{"$ref": "#"}]}, "#/oneOf/0"),
    ({"not": {"$ref": "#"}}, "#/not"),
    ({"if": {"$ref": "#"}, "then": {}}, "#/if"),
    ({"if": {}, "then": {"$ref": "#"}}, "#/then"),
    ({"if": {}, "else": {"$ref": "#"}}, "#/else"),
    ({"dependentSchemas": {"a": {"$ref": "#"}}}, "#/dependentSchemas/a"),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": {"$ref": "#"}}}, "#/dependencies/a"),
    ({"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}, "#/allOf/0"),
    ({"$schema": "https://json-schema.org/draft/2019-09/schema", "allOf": [{"$recursiveRef": "#"}]}, "#/allOf/0"),
    ({"$anchor": "top", "properties": {"a": {"items": {"$ref": "#top"}}}, "allOf": [{"$ref": "#top"}]}, "#/allOf/0"),
    ({"$id": "https://e.com/a", "allOf": [{"$ref": "https://e.com/a#"}]}, "#/allOf/0"),
    ({"properties": {"x": {"$ref": "#/parts/a"}}, "parts": {"a": {"$ref": "#/parts/a"}}}, "#/parts/a"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "place"), LOOPS)
def test_loops_on_the_same_value_are_refused_by_name(schema: Json, place: str) -> None:
    with pytest.raises(RewardDefinitionError, match="refers to itself on the same value") as caught:
        JsonSchema.of(schema)
    assert place in str(caught.value)


def test_a_very_long_chain_of_references_is_no_trouble() -> None:
    parts = {f"p{index}": {"$ref": f"#/$defs/p{index + 1}"} for index in range(3_000)}
    parts["p3000"] = {"type": "integer"}
    assert credit({"$defs": parts, "$ref": "#/$defs/p0"}, 5) == 1.0
    parts["p3000"] = {"$ref": "#/$defs/p0"}
    with pytest.raises(RewardDefinitionError, match="refers to itself"):
        JsonSchema.of({"$defs": parts, "$ref": "#/$defs/p0"})


RECURSIVE: list[tuple[Json, Json, Json]] = [
    (TREE, {"value": 1, "children": [{"value": 2}]}, {"value": 1, "children": [{"value": "2"}]}),
    ({"items": {"$ref": "#"}, "type": "array"}, [[], [[]]], [[], [[5]]]),
    ({"additionalProperties": {"$ref": "#"}, "type": "object"}, {"a": {"b": {}}}, {"a": {"b": 1}}),
    (
        {"$dynamicAnchor": "n", "type": "object", "properties": {"next": {"$dynamicRef": "#n"}}},
        {"next": {"next": {}}},
        {"next": {"next": 1}},
    ),
    (
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object",
         "properties": {"next": {"$recursiveRef": "#"}}},
        {"next": {"next": {}}},
        {"next": {"next": 1}},
    ),
    (
        {"$defs": {"a": {"items": {"$ref": "#/$defs/b"}, "type": "array"},
                   "b": {"properties": {"a": {"$ref": "#/$defs/a"}}, "type": "object"}}, "$ref": "#/$defs/a"},
        [{"a": [{}]}],
        [{"a": [{"a": 1}]}],
    ),
    ({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#"}}]}, [1, [2]], [1, ["2"]]),
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": "object"}, {"type": 5}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), RECURSIVE)
def test_recursion_through_properties_and_items_works(schema: Json, good: Json, bad: Json) -> None:
    assert JsonSchema.of(schema).credit_of(good) == (1.0, "")
    made, why = JsonSchema.of(schema).credit_of(bad)
    assert made < 1 and why


REFUSED: list[tuple[Any, str]] = [
    ({"type": "strng"}, "not valid at type"),
    ({"properties": 5}, "not valid at properties"),
    ({"required": "name"}, "not valid at required"),
    ({"pattern": "("}, "not valid at pattern"),
    ({"pattern": "^(?=.*x)y"}, "lookaround"),
    ({"pattern": r"(a)\1"}, "backreferences"),
    ({"pattern": "((a{1000}){1000}){1000}"}, "MB once compiled"),
    ({"patternProperties": {"(": {}}}, "not valid at patternProperties"),
    ({"$defs": {"item": {}}, "$ref": "#/$defs/itme"}, "'#/\\$defs/itme'.*Did you mean 'item'"),
    ({"$defs": {"a": {"$ref": "#/$defs/none"}}}, "'#/\\$defs/none'"),
    ({"$ref": "#nowhere"}, "'#nowhere'"),
    ({"$ref": "#/$defs/a/type", "$defs": {"a": {"type": "object"}}}, "which is no schema"),
    ({"$ref": "http://[bad"}, "no URI"),
    ({"$schema": "https://json-schema.org/draft/2099-01/schema"}, "2099-01"),
    ({"$schema": 5}, "unknown \\$schema 5"),
    ({"$defs": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}}, "another draft"),
    ({"name": "str", "age": "int"}, "no key of the schema is a JSON Schema keyword"),
    ({"propertys": {}}, "Did you mean 'properties'"),
    ({"minimum": float("nan")}, "cannot be written as JSON"),
    ({"maximum": 10**5000}, "cannot be written as JSON"),
    ({"enum": [{1, 2}]}, "cannot be written as JSON"),
    ({"const": "\ud800"}, "cannot be used"),
    ("{", "no JSON text"),
    ('{"type": "object", "type": "array"}', "twice"),
    ('{"minimum": NaN}', "NaN"),
    ("[" * 100_000, "no JSON text"),
    ("[]", "a schema is a JSON object"),
    ("true", "a schema is a JSON object"),
    ('{"title": "' + "x" * 2_000_000 + '"}', "2,000,0"),
    (True, "is no schema"),
    (None, "is no schema"),
    (5, "is no schema"),
    ([], "is no schema"),
    (Line(sku="a", qty=1), "Pass its class"),
    (lambda value: value, "is no schema"),
    (Callable[[int], int], "no schema can be made of"),
    (reduce(lambda inner, _: {"not": inner}, range(200), {"type": "null"}), "deeper than 128"),
    (
        {"$defs": {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(30)} | {"d30": {}}},
        "more than 10,000 of its parts",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "problem"), REFUSED, ids=range(len(REFUSED)))
def test_bad_schemas_are_refused_when_made(schema: Any, problem: str) -> None:
    with pytest.raises(RewardDefinitionError, match=problem) as caught:
        JsonSchema.of(schema)
    assert len(str(caught.value)) < 1_200


def test_a_bad_credit_or_text_is_refused_when_made() -> None:
    with pytest.raises(RewardDefinitionError, match="'half'"):
        JsonSchema.of(FLAT, credit="half")  # type: ignore[arg-type]
    with pytest.raises(RewardDefinitionError, match="no JSON text"):
        JsonSchema("not a schema")


def test_a_schema_that_holds_itself_is_refused() -> None:
    knot: dict[str, Any] = {"type": "object"}
    knot["properties"] = {"a": knot}
    with pytest.raises(RewardDefinitionError, match="cannot be written as JSON"):
        JsonSchema.of(knot)


@dataclass
class Point:
    x: int
    y: int


class Named(TypedDict):
    name: str


class Priced(BaseModel):
    price: Decimal


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Point, {"x": 1, "y": 2}, {"x": 1, "y": "2"}),
        (Named, {"name": "a"}, {"name": 1}),
        (list[Line], [{"sku": "a", "qty": 1}], [{"sku": "a", "qty": 0}]),
        (Priced, {"price": "1.50"}, {"price": "cheap"}),
        (Priced, {"price": 1.5}, {"price": "."}),
        (json.dumps(FLAT), {"sku": "a", "qty": 1, "color": "red"}, {}),
        ({"type": "string", "format": "date"}, "2024-02-29", "2023-02-29"),
        ({"type": "string", "pattern": "^a+$"}, "aa", "ab"),
        ({"properties": {"$ref": {"type": "string"}, "$id": {}}}, {"$ref": "a"}, {"$ref": 1}),
        ({"enum": [{"$ref": "http://127.0.0.1:9/"}]}, {"$ref": "http://127.0.0.1:9/"}, {}),
        ({"prefixItems": [{"type": "integer"}], "items": False}, [1], [1, 2]),
        ({"unevaluatedProperties": False, "allOf": [{"properties": {"a": {}}}]}, {"a": 1}, {"b": 1}),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}, 4, 3),
        ({"$schema": "http://json-schema.org/draft-06/schema#", "$ref": "#/definitions/a", "type": "null",
          "definitions": {"a": {"type": "integer"}}}, 4, "x"),
        ({"multipleOf": 0.1}, 0.3, 0.35),
    ],
)  # fmt: skip
def test_kinds_of_schemas(kind: Any, good: Json, bad: Json) -> None:
    assert JsonSchema.of(kind).credit_of(good) == (1.0, "")
    made, why = JsonSchema.of(kind).credit_of(bad)
    assert made < 1 and why


# --- Nothing is fetched --------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """(address of a local server that serves a schema, the requests it got)."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "integer"}')

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", requests
        http.shutdown()
        thread.join()


def test_nothing_is_fetched_over_http(server: tuple[str, list[str]]) -> None:
    address, requests = server
    url = f"{address}/remote.json"
    schemas: list[Json] = [
        {"$ref": url},
        {"properties": {"a": {"$ref": f"{url}#/$defs/x"}}},
        {"$defs": {"unused": {"$ref": url}}},
        {"$id": f"{address}/root.json", "$ref": "remote.json"},
        {"$id": f"{address}/root.json", "items": {"$dynamicRef": "remote.json#n"}},
        {"$schema": url},
        {"$defs": {"a": {"$id": "urn:x:y", "$schema": url}}},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": f"{address}/", "items": {"$ref": "remote.json"}},
    ]  # fmt: skip
    for schema in schemas:
        with pytest.raises(RewardDefinitionError, match=r"remote\.json"):
            JsonSchema.of(schema)
    inside = {
        "$id": f"{address}/root.json",
        "$defs": {
            "part": {"$id": "remote.json", "required": ["n"], "properties": {"n": {"type": "integer"}}}
        },
        "required": ["a", "b"],
        "properties": {"a": {"$ref": "remote.json"}, "b": {"enum": [{"$ref": url}]}},
    }
    assert credit(inside, {"a": {"n": 1}, "b": {"$ref": url}}) == 1.0
    assert credit(inside, {"a": {"n": "1"}, "b": {"$ref": url}}) == 0.5
    assert requests == []


def test_no_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "secret.json"
    file.write_text('{"type": "integer"}')
    for schema in (
        {"$ref": file.as_uri()},
        {"$id": (tmp_path / "root.json").as_uri(), "items": {"$ref": "secret.json"}},
        {"$ref": str(file)},
    ):
        with pytest.raises(RewardDefinitionError, match=r"secret\.json"):
            JsonSchema.of(schema)


# --- Hostile values ------------------------------------------------------------------------------------


def nested(depth: int, bottom: Json) -> Json:
    return reduce(lambda inner, _: [inner], range(depth), bottom)


def ring() -> Json:
    knot: list[Any] = []
    knot.append(knot)
    return knot


HOSTILE: list[tuple[Json, Any, float | None]] = [
    ({"maximum": 5}, 10**5000, 0.0),
    ({"maximum": 5}, 10**400, 0.0),
    ({"type": "integer"}, 10**4000, 1.0),
    ({}, float("nan"), 0.0),
    ({}, {"a": [float("inf")]}, 0.0),
    ({}, "\ud800", 0.0),
    ({}, {"\udfff": 1}, 0.0),
    ({"type": "string"}, "é\U0001f600", 1.0),
    ({}, {1: 2}, 0.0),
    ({}, {1, 2}, 0.0),
    ({}, Decimal(1), 0.0),
    ({}, object(), 0.0),
    ({}, ring(), 0.0),
    ({}, nested(100_000, 1), 0.0),
    ({"items": {"$ref": "#"}}, nested(100, 1), 1.0),
    ({"items": {"$ref": "#"}, "type": "array"}, nested(100, 1), 0.0),
    ({"multipleOf": 0.01}, 10**3000, None),
    ({"multipleOf": 7}, 7 * 10**3000, 1.0),
    ({"multipleOf": 1e-300}, 1e308, None),
    ({"uniqueItems": True}, list(range(60_000)), 1.0),
    ({"uniqueItems": True}, [{"a": index} for index in range(20_000)] + [{"a": 0}], 0.0),
    ({"pattern": "(a+)+$"}, "a" * 200_000 + "b", 0.0),
    ({"pattern": "^(a|a)*$"}, "a" * 200_000 + "b", 0.0),
    ({"pattern": "(x+x+)+y"}, "x" * 200_000, 0.0),
    ({"patternProperties": {"(a+)+$": False}}, {"a" * 100_000 + "b": 1}, 1.0),
    ({"format": "email"}, "a@" * 100_000, 0.0),
    ({"format": "uri"}, ":/" * 100_000, None),
    ({"items": FLAT}, [{"sku": 1}] * 40_000, 0.0),
    (FLAT, {f"k{index}": 1 for index in range(40_000)}, 0.0),
    (TREE, reduce(lambda inner, _: {"value": 1, "children": [inner] * 2}, range(14), {"value": "x"}), 0.0),
    ({"anyOf": [{"items": {"$ref": "#"}, "type": "array", "minItems": n} for n in range(4)] + [{"const": 1}]},
     nested(60, "x"), 0.0),
    ({"oneOf": [{"items": {"$ref": "#"}, "type": "array", "minItems": n} for n in range(4)] + [{"const": 1}]},
     nested(60, "x"), 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "expected"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_cost_little_and_raise_nothing(
    schema: Json, value: Any, expected: float | None
) -> None:
    judge = JsonSchema.of(schema)
    start = time.perf_counter()
    made, why = judge.credit_of(value)
    assert time.perf_counter() - start < 1.0
    assert expected is None or made == expected
    assert bool(why) is (made < 1.0)
    assert len(why) < 600
    assert why.isprintable()


def test_a_validator_that_gives_up_is_worth_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    judge = JsonSchema.of({"title": "a validator that gives up"})
    for fault, words in ((ValueError("\x1bbroken"), "broken"), (PanicException(), "gave up")):

        class Broken:
            def is_valid(self, value: object, fault: BaseException = fault) -> bool:
                raise fault

        monkeypatch.setattr(module._engine(judge.schema), "_validator", Broken())
        made, why = judge.credit_of(1)
        assert made == 0.0 and words in why and why.isprintable()
    monkeypatch.setattr(Broken, "is_valid", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        judge.credit_of(1)


# --- The object ----------------------------------------------------------------------------------------


def test_equal_schemas_are_equal_hashable_and_pickled_as_text() -> None:
    first = JsonSchema.of({"type": "object", "required": ["a"]})
    second = JsonSchema.of('{"required": ["a"], "type": "object"}')
    assert first == second and hash(first) == hash(second)
    assert first != JsonSchema.of(second.schema, credit="binary")
    copied = pickle.loads(pickle.dumps(first))
    assert copied == first and copied.credit_of({}) == first.credit_of({}) == (0.0, "a: missing")
    assert len(pickle.dumps(first)) < 300
    module._engine.cache_clear()
    assert copied.credit_of({"a": 1}) == (1.0, "")


def test_many_threads_share_one_schema() -> None:
    judge = JsonSchema.of({**FLAT, "title": "threads"})
    expected = judge.credit_of({"sku": "a", "qty": "1"})
    module._engine.cache_clear()
    seen: list[tuple[float, str]] = []
    threads = [
        threading.Thread(target=lambda: seen.append(judge.credit_of({"sku": "a", "qty": "1"})))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 16


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    module._engine.cache_clear()
    with pytest.raises(MissingExtraError, match=r"rewardkit-sdk\[json\]"):
        JsonSchema.of(FLAT)


def test_the_library_is_imported_only_when_it_is_used() -> None:
    code = "import sys, rewardkit.primitives.json_schema; sys.exit('jsonschema_rs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_valid_small_object_costs_microseconds() -> None:
    judge, value = JsonSchema.of(FLAT), {"sku": "a", "qty": 1, "color": "red"}
    judge.credit_of(value)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        judge.credit_of(value)
        times.append(time.perf_counter() - start)
    assert min(times) < 20e-6
