"""Unsafe schemas are refused, nothing is ever fetched, and hostile values are cheap and raise nothing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial, reduce
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from rewardkit.errors import RewardDefinitionError
from rewardkit.rewards.json_schema import reward as module
from rewardkit.rewards.json_schema.checks import PATTERN_STATES, _states_of_pattern
from rewardkit.rewards.json_schema.reward import JsonSchema
from tests.hostile.schemas import doubling
from tests.rewards.schema.cases import FLAT, TREE, Json, Line


def wrapped(times: int, bottom: Json, wrap: Callable[[Json], Json]) -> Json:
    return reduce(lambda inner, _: wrap(inner), range(times), bottom)


def credit(schema: Any, value: Json) -> float:
    return JsonSchema.of(schema).credit_of(value)[0]


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


def test_a_very_long_chain_of_references_works() -> None:
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
    assert made < 1
    assert why


REFUSED: list[tuple[Any, str]] = [
    ({"type": "strng"}, "not valid at type"),
    ({"properties": 5}, "not valid at properties"),
    ({"required": "name"}, "not valid at required"),
    ({"pattern": "("}, "not valid at pattern"),
    ({"pattern": "x(?=y)"}, "lookaround"),
    ({"patternProperties": {"^(?!x)y": {}}}, "lookaround"),
    ({"pattern": r"(a)\1"}, "backreferences"),
    ({"pattern": "((a{1000}){1000}){1000}"}, "at most 200,000 fit"),
    ({"patternProperties": {"(": {}}}, "not valid at patternProperties"),
    ({"$defs": {"item": {}}, "$ref": "#/$defs/itme"}, "'#/\\$defs/itme'.*Did you mean 'item'"),
    ({"$defs": {"a": {"$ref": "#/$defs/none"}}}, "'#/\\$defs/none'"),
    ({"$ref": "#nowhere"}, "'#nowhere'"),
    ({"$ref": "#/$defs/a/type", "$defs": {"a": {"type": "object"}}}, "is not a schema"),
    ({"$id": "http://e.com/", "$ref": "http://[bad"}, "not a URI"),
    ({"$schema": "https://json-schema.org/draft/2099-01/schema"}, "2099-01"),
    ({"$schema": 5}, "unknown \\$schema 5"),
    ({"$defs": {"a": {"$schema": "http://json-schema.org/draft-03/schema#"}}}, "unknown \\$schema"),
    ({"name": "str", "age": "int"}, "no key of the schema is a JSON Schema keyword"),
    ({"propertys": {}}, "Did you mean 'properties'"),
    ({"minimum": float("nan")}, "cannot be written as JSON"),
    ({"maximum": 10**5000}, "cannot be written as JSON"),
    ({"enum": [{1, 2}]}, "cannot be written as JSON"),
    ({"const": "\ud800"}, "cannot be used"),
    ("{", "not valid JSON"),
    ('{"type": "object", "type": "array"}', "twice"),
    ('{"minimum": NaN}', "NaN"),
    ("[" * 100_000, "not valid JSON"),
    ("[]", "must be a JSON object"),
    ("true", "must be a JSON object"),
    ('{"title": "' + "x" * 2_000_000 + '"}', "2,000,0"),
    (True, "expected a schema"),
    (None, "expected a schema"),
    (5, "expected a schema"),
    ([], "expected a schema"),
    (Line(sku="a", qty=1), "Pass its class"),
    (lambda value: value, "expected a schema"),
    (Callable[[int], int], "cannot create a schema from"),
    (wrapped(200, {"type": "null"}, lambda inner: {"not": inner}), "deeper than 128"),
    (
        {"$defs": {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(30)} | {"d30": {}}},
        "more than 10,000 parts",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "problem"), REFUSED, ids=range(len(REFUSED)))
def test_bad_schemas_are_refused_when_made(schema: Any, problem: str) -> None:
    with pytest.raises(RewardDefinitionError, match=problem) as caught:
        JsonSchema.of(schema)
    assert len(str(caught.value)) < 1_200


MIXED: list[tuple[Json, Json, Json]] = [
    # Draft 7 ignores what is next to $ref; 2020-12 does not.
    ({"$defs": {"i": {"type": "integer"}}, "required": ["a"],
      "properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/$defs/i", "maximum": 3}}},
     {"a": 5}, {"a": "5"}),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"i": {"type": "integer"}},
      "properties": {"a": {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/definitions/i",
                           "maximum": 3}}},
     {"a": 3}, {"a": 5}),
    # A relative name, and a reference relative to it.
    ({"$id": "-a", "properties": {"a": {"$id": "/part", "type": "integer"}, "b": {"$ref": "/part"}}},
     {"a": 1, "b": 1}, {"a": 1, "b": "1"}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "good", "bad"), MIXED, ids=range(len(MIXED)))
def test_parts_may_declare_another_draft_or_a_relative_name(schema: Json, good: Json, bad: Json) -> None:
    assert JsonSchema.of(schema).credit_of(good) == (1.0, "")
    made, why = JsonSchema.of(schema).credit_of(bad)
    assert made < 1
    assert "could not be checked" not in why


def test_a_bad_credit_or_text_is_refused_when_made() -> None:
    with pytest.raises(RewardDefinitionError, match="'half'"):
        JsonSchema.of(FLAT, credit="half")  # type: ignore[arg-type]
    with pytest.raises(RewardDefinitionError, match="not valid JSON"):
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
    assert made < 1
    assert why


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

        def log_message(self, *args: Any) -> None:
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
        "$defs": {"part": {"$id": "remote.json", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
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
    ({}, wrapped(100_000, 1, lambda inner: [inner]), 0.0),
    ({"items": {"$ref": "#"}}, wrapped(100, 1, lambda inner: [inner]), 1.0),
    ({"items": {"$ref": "#"}, "type": "array"}, wrapped(100, 1, lambda inner: [inner]), 0.0),
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
    (TREE, wrapped(14, {"value": "x"}, lambda inner: {"value": 1, "children": [inner] * 2}), 0.5),
    ({"anyOf": [{"items": {"$ref": "#"}, "type": "array", "minItems": n} for n in range(4)] + [{"const": 1}]},
     wrapped(60, "x", lambda inner: [inner]), 0.0),
    ({"oneOf": [{"items": {"$ref": "#"}, "type": "array", "minItems": n} for n in range(4)] + [{"const": 1}]},
     wrapped(60, "x", lambda inner: [inner]), 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "expected"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_cost_little_and_raise_nothing(schema: Json, value: Any, expected: float | None) -> None:
    judge = JsonSchema.of(schema)
    started = time.process_time()
    made, why = judge.credit_of(value)
    assert time.process_time() - started < 20  # of CPU: others may use the machine, and quadratic time takes minutes
    assert expected is None or made == expected
    assert bool(why) is (made < 1.0)
    assert len(why) < 600
    assert why.isprintable()


def test_a_validator_that_gives_up_is_worth_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    judge = JsonSchema.of({"title": "a validator that gives up"})
    for fault, words in ((ValueError("\x1bbroken"), "broken"), (PanicException(), "validator failed")):

        def gives_up(value: object, fault: BaseException = fault) -> bool:
            raise fault

        monkeypatch.setattr(module._engine(judge.schema, True), "is_valid", gives_up)
        made, why = judge.credit_of(1)
        assert made == 0.0
        assert words in why
        assert why.isprintable()
    monkeypatch.setattr(module._engine(judge.schema, True), "is_valid", partial(gives_up, fault=KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        judge.credit_of(1)


# --- What takes too long is not checked ----------------------------------------------------------------

OBJECTS: Json = [{} for _ in range(60_000)]
NAMES = {f"a{number}xb": "x" for number in range(12_000)}
LONG_TEXT = "ab" * 90_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"anyOf": [{"required": [f"k{n}"]} for n in range(5_000)]}}, OBJECTS),
        ({"items": {"oneOf": [{"required": [f"k{n}"]} for n in range(5_000)]}}, OBJECTS),
        ({"contains": {"anyOf": [{"const": n} for n in range(5_000)]}}, OBJECTS),
        ({"items": {"$ref": "#/$defs/d11"}, "$defs": doubling(12)["$defs"]}, OBJECTS),
        ({"items": {"if": {"anyOf": [{"required": [f"k{n}"]} for n in range(3_000)]}, "then": False}}, OBJECTS),
        ({"patternProperties": {f"^a{n}.*b": {"type": "integer"} for n in range(2_000)}}, NAMES),
        ({"propertyNames": {"anyOf": [{"pattern": f"^b.*{n}$"} for n in range(9_000)]}}, NAMES),
        ({"pattern": "([ab]{1,50}){1,50}c"}, LONG_TEXT),
        ({"pattern": "([ab]{1,100}){100}c"}, LONG_TEXT),
        ({"pattern": "^[ab]*a[ab]{300}$"}, LONG_TEXT),
        ({"patternProperties": {"^(?:x|[ab]{1,99}){1,99}c": False}}, {LONG_TEXT: 1}),
        ({"items": {"allOf": [{"pattern": r"(?<n>\w{1,300}[^\]]\p{L})+"}]}}, [LONG_TEXT[:90_000], LONG_TEXT[:90_000]]),
    ],
)
def test_what_would_take_seconds_scores_zero_with_a_note(schema: Any, value: Json) -> None:
    value_credit, note = JsonSchema.of(schema).credit_of(value)
    assert value_credit == 0.0
    assert "in time" in note


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (
            {"items": {"anyOf": [{"type": "object"}, *({"required": [f"k{n}"]} for n in range(5_000))]}},
            OBJECTS[:10_000],
        ),
        ({"patternProperties": {f"^a{n}.*b": {"type": "integer"} for n in range(2_000)}}, {"b": 1}),
        ({"pattern": "^[ab]{1,300}$"}, "ab" * 100),
        ({"items": {"pattern": "^[ab]{1,200}$"}}, ["ab" * 50] * 1_700),
        ({"pattern": "([ab]{1,50}){1,50}c"}, "ab" * 500 + "c"),
        ({"pattern": "^([ab]+-)?[0-9]{3,4}|x{2}"}, "ab" * 80_000 + "-1234"),
        ({"maxLength": 180_000, "pattern": "^(ab)+$"}, LONG_TEXT),
    ],
)
def test_what_is_quick_is_checked(schema: Any, value: Json) -> None:
    assert JsonSchema.of(schema).credit_of(value) == (1.0, "")


def test_the_states_of_a_pattern() -> None:
    for pattern in (
        "",
        "a",
        "abc",
        "^a{1,999}$",
        "^[a-z]{2}[0-9]{20}$",
        "(ab|c)*",
        "a{2}",
        "^(?:a{9})?$",
        r"\{12,\}",
        "[{99}]",
    ):
        assert _states_of_pattern(pattern)[1] == 1
    states = {"a{50}": 50, "^a*b{50}": 51, "^(a{5}b{5}){10}": 100, "(a(b{20})c)": 22, "^(a{20})+": 20, "x{5,}y{20}": 25}
    assert {pattern: _states_of_pattern(pattern)[1] for pattern in states} == states
    for pattern in ("(" * 5_000, ")" * 5_000, "a{999999999}" * 9, "[" * 5_000, "{9}" * 5_000, "(a{99}){99}" * 99):
        assert _states_of_pattern(pattern)[0] >= 0


def test_patterns_that_do_not_fit_into_memory_are_refused() -> None:
    patterns = [{"pattern": f"^(?:[ab]{{1,300}}){{1,{100 + number}}}c"} for number in range(9)]
    with pytest.raises(RewardDefinitionError, match=f"{PATTERN_STATES:,}"):
        JsonSchema.of({"anyOf": patterns})
    assert JsonSchema.of({"anyOf": patterns[:5]}).credit_of("abc") == (1.0, "")
