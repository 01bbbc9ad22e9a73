"""Partial credit: what scores, what does not, and the laws of the credit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import jsonschema
import pytest
from hypothesis import assume, example, given, strategies as st

from rewardkit.rewards.json_schema.reward import JsonSchema
from tests.rewards.schema.cases import (
    CASES,
    FLAT,
    INVOICE,
    LEGACY,
    MERGED,
    MIXED,
    MIXED_VALUE,
    PAYMENT,
    TREE,
    Invoice,
    Json,
    Line,
    Payment,
)

Path: TypeAlias = tuple[Any, ...]


def credit(schema: Any, value: Json) -> float:
    return JsonSchema.of(schema).credit_of(value)[0]


# --- Scores --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("schema", "value"), CASES)
def test_a_valid_value_scores_one_without_a_note(schema: Any, value: Json) -> None:
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
        (Payment, {**PAYMENT, "how": {"kind": "card", "number": "1234"}}, (3 + 2 / 3) / 4),
        (Payment, {**PAYMENT, "how": {"kind": "card", "number": "1234", "year": 30, "iban": "DE1"}}, 3.75 / 4),
        (Payment, {**PAYMENT, "how": {"kind": "sepa", "iban": 5}}, 3 / 4),
        (Payment, {**PAYMENT, "how": {"kind": "cash", "number": "1234", "year": 30}}, 3 / 4),
        (Payment, {**PAYMENT, "how": {"number": "1234", "year": 30}}, 3 / 4),
        (Payment, {**PAYMENT, "how": {"kind": ["card"], "number": "1234", "year": 30}}, 3 / 4),
        (Payment, {**PAYMENT, "item": {"sku": "a"}}, 3.5 / 4),
        (Payment, {**PAYMENT, "item": 5}, 3 / 4),
        (Payment, {**PAYMENT, "prices": {}}, 3 / 4),
        (Payment, {**PAYMENT, "prices": {"a": {"sku": "b"}}}, 3.5 / 4),
        (Payment, {**PAYMENT, "prices": {"a": {"sku": "b"}, "b": {"qty": 1}, "c": {"sku": "b", "qty": 1}}}, 3.25 / 4),
        (Payment, {**PAYMENT, "parts": [{"kind": "card", "number": "1234"}, None]}, 4 / 5),
        (MIXED, {**MIXED_VALUE, "a": -1, "n1": "x"}, 3 / 5),
        (MIXED, {**MIXED_VALUE, "kind": "ball"}, 0),
        (MIXED, {"id": 1, "kind": "circle", "n0": 1}, 2 / 4),
        ({"properties": {"a": Line.model_json_schema()}}, {"a": {"sku": "x"}, "b": 1}, 1 / 2),
        ({"additionalProperties": Line.model_json_schema(), "propertyNames": {"maxLength": 1}}, {"a": {"sku": "x"}}, 0),
        ({"additionalProperties": False}, {"a": 1}, 0),
        ({"patternProperties": {"^a": Line.model_json_schema()}}, {"a": {"sku": "x"}, "b": {}}, 1 / 2),
        ({"anyOf": [Line.model_json_schema()]}, {"sku": "x"}, 1 / 2),
        ({"oneOf": [Line.model_json_schema(), {"const": []}, {"enum": [1, "a"]}]}, {"sku": "x"}, 1 / 2),
        ({"oneOf": [Line.model_json_schema(), {"enum": [1, {}]}]}, {"sku": "x"}, 0),
        ({"oneOf": [{"type": "object"}, {"type": ["object", "null"]}]}, {"sku": "x"}, 0),
        ({"anyOf": [{"items": {"type": "integer"}, "type": "array"}, False]}, [1, "x"], 0),
        ({"anyOf": [{"properties": {"k": {"enum": ["a", "b"]}}, "required": ["k", "l"]},
                    {"properties": {"k": {"enum": ["b", "c"]}}, "required": ["k", "m"]}]}, {"k": "b"}, 0),
        ({"anyOf": [{"properties": {"k": {"enum": ["a", "b"]}}, "required": ["k", "l"]},
                    {"properties": {"k": {"enum": ["c"]}}, "required": ["k", "m"]}]}, {"k": "b"}, 1 / 2),
        ({"anyOf": [{"properties": {"k": {"enum": ["a", 1]}}, "required": ["k", "l"]},
                    {"properties": {"k": {"enum": ["c"]}}, "required": ["k", "m"]}]}, {"k": "a"}, 0),
    ],
)  # fmt: skip
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


def test_the_best_branch_of_a_union_without_a_tag_would_break_the_law() -> None:
    """Such a union earns nothing, because a step toward one branch is a step away from the other."""

    def closed(*names: str) -> Json:
        return {"properties": {name: {} for name in names}, "required": list(names), "additionalProperties": False}

    first, second = closed("a", "b", "c"), closed("x", "y")
    before: Json = {"x": 1}  # what is left of {"a": 1, "b": 1, "c": 1} with "x" put in
    mended: Json = {"x": 1, "a": 1}
    assert max(credit(first, before), credit(second, before)) == 1 / 2
    assert max(credit(first, mended), credit(second, mended)) == 1 / 3
    assert credit({"anyOf": [first, second]}, before) == credit({"anyOf": [first, second]}, mended) == 0.0


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


@pytest.mark.slow
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


def at(value: Json, path: Path) -> Json:
    return reduce(lambda inner, key: inner[key], path, value)


def paths_of(value: Json, path: Path = ()) -> Iterator[Path]:
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        yield from paths_of(part, (*path, key))


@dataclass(frozen=True)
class Fault:
    """Break one place: replace its value, remove its key, or add a key next to it."""

    path: Path
    kind: str
    value: str = "null"

    def on(self, document: Json) -> Json:
        made = json.loads(json.dumps(document))  # not deepcopy, which keeps shared parts shared
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
    """Draw (schema, valid document, faults at independent places)."""
    schema, document = draw(st.sampled_from(CASES))
    places = st.sampled_from([path for path in paths_of(document) if path])
    kinds = st.sampled_from(["replace", "remove", "add"])
    faults: list[Fault] = []
    for fault in draw(st.lists(st.builds(Fault, places, kinds, replacements), min_size=1, max_size=5)):
        if all(apart(fault, other) for other in faults):
            faults.append(fault)
    return schema, document, faults


@given(faulty_documents())
def test_fixing_never_lowers_and_faults_never_raise_the_score(case: tuple[Any, Json, list[Fault]]) -> None:
    schema, document, faults = case
    judge = JsonSchema.of(schema)
    # A fault that leaves the document valid is not a violation.
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
    # Fixed in another order than broken.
    for mended in faults:
        rest = [fault for fault in faults if fault is not mended]
        assert judge.credit_of(reduce(lambda value, fault: fault.on(value), rest, document))[0] >= earned[-1]


@given(faulty_documents(), replacements)
def test_replacing_a_whole_part_never_raises_the_score(case: tuple[Any, Json, list[Fault]], text: str) -> None:
    """Replace an object or array that contains a fault with an invalid placeholder."""
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
        st.sampled_from(
            ["sku", "qty", "color", "value", "children", "buyer", "ship", "pair", "x-", "left", "kind", "how"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


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
