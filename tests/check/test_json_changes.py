"""JSON changes: a value with one thing changed, and never the same value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from rewardkit.check.variants.broken_texts import changed_values

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "?", "42", "Ab"]) | st.just(0.5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
SCHEMA = {"properties": {"a": {"minimum": 3, "maxLength": 2, "enum": ["red", 5]}, "enum": {"type": "string"}}}


@given(VALUES, st.sampled_from([None, SCHEMA]))
def test_each_change_is_one(value: Any, schema: Any) -> None:
    before = json.dumps(value)
    changed = [json.dumps(one) for one in changed_values(value, schema)]
    assert json.dumps(value) == before
    assert before not in changed
    assert len(changed) >= 5


def test_parts_missing_and_too_many() -> None:
    changed = list(changed_values({"qty": 1, "tags": ["a", "b"]}))
    assert changed[:2] == [{"tags": ["a", "b"]}, {"qty": 1}]
    for one in (
        {"qty": None, "tags": ["a", "b"]},
        {"qty": 1, "tags": ["a"]},
        {"qty": 1, "tags": ["a", "b", "a"]},
        {"qty": 1, "tags": []},
        {"qty": 1, "tags": ["a", "b"], "surplus": 0},
    ):
        assert one in changed


def test_a_schema_adds_values_at_its_limits() -> None:
    changed = list(changed_values({"a": 7, "b": "blue"}, SCHEMA))
    assert {"a": 2, "b": "blue"} in changed
    assert {"a": 4, "b": "blue"} in changed
    assert {"a": 7, "b": "xxxx"} in changed
    assert {"a": 7, "b": "red?"} in changed


@pytest.mark.parametrize(
    "schema", [{"enum": None}, {"enum": 5}, {"enum": True}, True, [], "x", {"const": float("nan")}]
)
def test_odd_schemas_change_nothing_more(schema: Any) -> None:
    assert len(list(changed_values("x", schema))) >= len(list(changed_values("x")))
