"""Schemas of BFCL as schemas of OpenAI."""

from __future__ import annotations

from typing import Any

import pytest

from rewardkit.scoring.bfcl import tool


def schema(given: Any) -> Any:
    parameters = {"type": "dict", "properties": {"a": given}, "required": ["a"]}
    found = tool({"name": "f", "description": "d", "parameters": parameters, "response": {"type": "dict"}})
    assert found["function"].keys() == {"name", "description", "parameters"}
    assert found["function"]["parameters"]["type"] == "object"
    assert found["function"]["parameters"]["required"] == ["a"]
    return found["function"]["parameters"]["properties"]["a"]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("float", "number"),
        ("tuple", "array"),
        ("HashMap", "object"),
        ("String", "string"),
        ("long", "integer"),
        ("integer", "integer"),
    ],
)
def test_types_get_their_names_in_json_schema(theirs: str, ours: str) -> None:
    assert schema({"type": theirs, "description": "float"}) == {"type": ours, "description": "float"}


@pytest.mark.parametrize("theirs", ["any", "", "IResultSetController"])
def test_a_type_that_says_nothing_is_left_out(theirs: str) -> None:
    assert schema({"type": theirs, "default": 1}) == {"default": 1}


def test_schemas_inside_are_read_and_values_are_not() -> None:
    inner = {"type": "dict", "properties": {"type": {"type": "float"}, "items": {"type": "tuple"}}}
    wanted = {"type": "object", "properties": {"type": {"type": "number"}, "items": {"type": "array"}}}
    assert schema({"type": "ArrayList", "items": inner}) == {"type": "array", "items": wanted}
    assert schema({"enum": ["dict"], "default": {"type": "dict"}}) == {"enum": ["dict"], "default": {"type": "dict"}}


def test_a_function_without_parameters_takes_none() -> None:
    assert tool({"name": "f"}) == {"type": "function", "function": {"name": "f", "parameters": {}}}
