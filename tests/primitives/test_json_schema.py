"""JSON schema credit: what pays, what does not, what is refused, and what a hostile value can do (nothing)."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, Optional, TypeAlias

import jsonschema
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from pydantic import BaseModel, Field

from rewardkit.core.errors import MissingExtraError
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
        assert JsonSchema.of(schema, credit=way).credit_of(value) == (1.0, "")


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
    good: Json = {"sku": "a", "qty": 1}
    half: Json = {"sku": "a", "qty": 0}
    bad: Json = {}
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
        made = json.loads(json.dumps(document))  # not deepcopy, which keeps equal parts one object
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


replacements = st.sampled_from(["null", '""', '"x"', "-1", "7", "1.5", "true", "[]", "{}", "[{}]", '{"sku": 1}'])


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
        assert made < 1
        assert why
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
        'customer: 3 is not of type "object"; lines[0].qty: 0 is less than the minimum of 1; number: "1" does not '
        'match "^[A-Z]{2}-[0-9]+$"; and 2 more'
    )
    assert note(FLAT, {"sku": 1}).endswith('; qty: missing; sku: 1 is not of type "string"')
    assert note({"type": "integer"}, "x" * 10**5) == f'"{"x" * 40}"... (100,000 characters) is not of type "integer"'
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


# --- The object ----------------------------------------------------------------------------------------


def test_equal_schemas_are_equal_hashable_and_pickled_as_text() -> None:
    first = JsonSchema.of({"type": "object", "required": ["a"]})
    second = JsonSchema.of('{"required": ["a"], "type": "object"}')
    assert first == second
    assert hash(first) == hash(second)
    assert first != JsonSchema.of(second.schema, credit="binary")
    copied = pickle.loads(pickle.dumps(first))
    assert copied == first
    assert copied.credit_of({}) == first.credit_of({}) == (0.0, "a: missing")
    assert len(pickle.dumps(first)) < 300
    module._engine.cache_clear()
    assert copied.credit_of({"a": 1}) == (1.0, "")


def test_many_threads_share_one_schema() -> None:
    judge = JsonSchema.of({**FLAT, "title": "threads"})
    expected = judge.credit_of({"sku": "a", "qty": "1"})
    module._engine.cache_clear()
    seen: list[tuple[float, str]] = []
    threads = [
        threading.Thread(target=lambda: seen.append(judge.credit_of({"sku": "a", "qty": "1"}))) for _ in range(16)
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
