"""Schemas that were stored as dicts in an Arrow table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, strategies as st

from rewardkit.errors import RewardDefinitionError
from rewardkit.rewards.json_schema.reward import without_gaps
from tests.rewards.schema.cases import FLAT, TREE

plain = st.sampled_from([{"type": "integer"}, {"type": "string", "minLength": 2}, {"enum": ["a", "b"]}, FLAT, TREE])
names = st.sampled_from(["a", "b", "const", "properties", "items"])


def larger(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "required": st.lists(names, unique=True, max_size=3),
            "properties": st.dictionaries(names, parts, min_size=1, max_size=3),
            "$defs": st.dictionaries(names, parts, min_size=1, max_size=2),
            "items": parts,
            "anyOf": st.lists(parts, min_size=1, max_size=2),
            "not": parts,
        },
    )


schemas = st.recursive(plain, larger, max_leaves=6).filter(bool)


def has_empty(schema: Any) -> bool:
    """Return whether a dict is empty: Arrow cannot tell it from one of gaps."""
    below = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    return schema == {} or any(map(has_empty, below))


@given(st.lists(schemas, min_size=1, max_size=3))
def test_what_arrow_adds_is_removed(stored: list[dict[str, Any]]) -> None:
    assume(not any(map(has_empty, stored)))
    try:
        cells = pa.array(stored).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # a key with values of two types
        assume(False)
    assert [without_gaps(cell) for cell in cells] == stored


@given(schemas)
def test_a_schema_without_gaps_stays_as_it_is(schema: dict[str, Any]) -> None:
    assert without_gaps(schema) == schema


def test_values_that_are_no_schemas_stay_as_they_are() -> None:
    schema = {"enum": [None, 1], "default": {"a": None}, "examples": [{"a": None}], "properties": {"b": False}}
    assert without_gaps({**schema, "items": None, "not": {"type": None}}) == schema
    assert without_gaps({"properties": {"const": None, "a": {}}, "items": {}}) == {"properties": {"a": {}}, "items": {}}


def test_arrays_of_numpy_are_lists() -> None:
    assert without_gaps({"required": np.array(["a"]), "maximum": np.float64(2.5)}) == {
        "required": ["a"],
        "maximum": 2.5,
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"const": None},
        {"properties": {"a": {"const": None}}},
        {"items": {"const": None}},
        {"const": {"a": None}},
        {"items": {"enum": ["x", {"a": [{"b": None}]}]}},
    ],
)
def test_a_constant_that_may_be_a_gap_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(RewardDefinitionError):
        without_gaps(schema)
