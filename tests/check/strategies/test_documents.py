"""JSON documents fulfill their schema, or break it in one place."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, find, given, settings

from rewardkit.check.variants.strategies import json_documents, json_values
from rewardkit.errors import RewardDefinitionError
from rewardkit.rewards.json_schema.reward import JsonSchema
from rewardkit.text.json_text import parse_json
from tests.rewards.schema.cases import CASES, FLAT, INVOICE, Invoice

quick = settings(database=None, suppress_health_check=[HealthCheck.too_slow])
BOUNDS: list[Any] = [
    {"type": "integer", "minimum": 3, "exclusiveMaximum": 5},
    {"type": "integer", "multipleOf": 7, "minimum": 8, "maximum": 20},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    {"type": "string", "minLength": 3, "maxLength": 5},
    {"type": "string", "pattern": "^[a-z]+$", "maxLength": 4},
    {"type": "string", "format": "date"},
    {"type": ["string", "null"]},
    {"enum": ["a", 1, None]},
    {"const": {"a": [1]}},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
    {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}},
    {"type": "object", "patternProperties": {"^x": {"type": "null"}}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"pattern": "^[a-c]+$"}, "minProperties": 1},
    {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "required": ["a"], "type": "object"},
    {"oneOf": [{"type": "integer"}, {"type": "string"}]},
]
each_schema = pytest.mark.parametrize(
    "schema", [*(schema for schema, _ in CASES), *BOUNDS], ids=lambda one: str(one)[:40]
)


@each_schema
def test_valid_documents_fulfil_it_for_another_validator_too(schema: Any) -> None:
    plain = json.loads(JsonSchema.of(schema).schema)
    validator = jsonschema.validators.validator_for(plain)(plain)

    @quick
    @given(json_documents(schema))
    def check(document: str) -> None:
        parsed = parse_json(document)
        assert not parsed.error
        assert validator.is_valid(parsed.value)

    check()


@each_schema
def test_invalid_ones_do_not(schema: Any) -> None:
    checker = JsonSchema.of(schema)

    @quick
    @given(json_documents(schema, valid=False))
    def check(document: str) -> None:
        parsed = parse_json(document)
        assert parsed.error or checker.credit_of(parsed.value)[0] < 1.0

    check()


@quick
@given(json_documents(FLAT, valid=False))
def test_there_is_one_violation(document: str) -> None:
    parsed = parse_json(document)
    assume(not parsed.error)
    assert len(list(jsonschema.Draft202012Validator(FLAT).iter_errors(parsed.value))) == 1


@pytest.mark.slow
def test_the_smallest_are_short() -> None:
    assert find(json_documents(FLAT), lambda _: True) == '{"sku": "", "qty": 0, "color": "red"}'
    smallest = json.loads(find(json_documents(Invoice), lambda _: True))
    assert len(json.dumps(smallest)) < len(json.dumps(INVOICE))


@pytest.mark.slow
def test_a_mistake_of_each_kind_is_made() -> None:
    broken = json_values(FLAT, valid=False)
    assert find(broken, lambda value: isinstance(value, dict) and "color" not in value and len(value) == 2)
    assert find(broken, lambda value: isinstance(value, dict) and len(value) == 4)
    assert find(broken, lambda value: isinstance(value, dict) and value.get("qty", 0) is None)
    assert find(json_documents(FLAT, valid=False), lambda text: text.endswith(",}"))


def test_a_schema_that_nothing_fulfils_is_refused() -> None:
    with pytest.raises(RewardDefinitionError, match="no value fits"):
        json_documents({"type": "integer", "minimum": 5, "maximum": 3})
