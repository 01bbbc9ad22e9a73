"""The functions of BFCL as tools: its schema ``{"type": "dict"}`` becomes ``{"type": "object"}``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rewardkit.core.errors import DataError, shorten
from rewardkit.data.files import lines_of

_TYPES = {
    "string": ("string", "String", "char", "Char"),
    "integer": ("integer", "int", "long", "short", "byte", "Bigint", "BigInt"),
    "number": ("number", "float", "double", "Number"),
    "boolean": ("boolean", "bool", "Boolean"),
    "array": ("array", "list", "tuple", "Array", "ArrayList", "Queue", "Stack", "Set", "set"),
    "object": ("object", "dict", "HashMap", "Hashtable", "Object"),
    "null": ("null",),
}
_JSON_TYPES = {theirs: ours for ours, names in _TYPES.items() for theirs in names}

_FOLDER = "multi_turn_func_doc"
_FILES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
    "WebSearchAPI": "web_search",
}
"""Class of functions -> their file."""


def functions_of(place: str, line: Mapping[str, Any], folder: Path) -> dict[str, Mapping[str, Any]]:
    """Return the functions of a question by name: its own, or those of its classes, from their files.

    Raises:
        DataError: it names no functions, or their file is not there.
    """
    listed = line.get("function")
    if listed is None:
        listed = [one for name in line.get("involved_classes") or () for one in _documented(place, name, folder)]
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) and "name" in one for one in listed):
        raise DataError(f"{place}: expected a list of functions with names, got {shorten(listed)}")
    return {one["name"]: one for one in listed}


def tool(function: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function of BFCL as a tool in OpenAI's schema."""
    kept = {name: function[name] for name in ("name", "description") if name in function}
    return {"type": "function", "function": {**kept, "parameters": _schema(function.get("parameters") or {})}}


def _schema(schema: Any) -> Any:
    """Return a JSON schema. A type that allows anything, or that nobody knows, says nothing."""
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, Mapping):
            found[name] = {one: _schema(inner) for one, inner in value.items()}
        elif name == "items":
            found[name] = _schema(value)
        elif name == "type" and isinstance(value, str):
            if value in _JSON_TYPES:
                found[name] = _JSON_TYPES[value]
        else:
            found[name] = value
    return found


def _documented(place: str, name: str, folder: Path) -> list[Any]:
    if name not in _FILES:
        raise DataError(
            f"{place}: the functions of {shorten(name)} are not in a file. Pass questions of another category"
        )
    path = folder / _FOLDER / f"{_FILES[name]}.json"
    if not path.is_file():
        raise DataError(f"{place}: the functions of {name} are missing. Copy the folder {_FOLDER} of BFCL to {folder}")
    return [line for _, line in lines_of(path)]
