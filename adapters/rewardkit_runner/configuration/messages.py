"""Reword the errors of pydantic for people who write YAML.

``Input should be a valid integer, unable to parse string as an integer`` becomes ``must be a whole number, not 'ten'``.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from rewardkit.core.errors import near_miss, shorten

_KINDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    list: "a list",
    dict: "a mapping",
    type(None): "null",
}
_BY_ERROR = {
    "int": int,
    "float": float,
    "finite": float,
    "bool": bool,
    "string": str,
    "list": list,
    "dict": dict,
    "model": dict,
    "mapping": dict,
}
_LISTED = 4
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("above", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}


def explained(error: Mapping[str, Any], type_: Any = None) -> str:
    """Return the message for an error of pydantic; `type_` is the expected type, if known."""
    kind, value, context = str(error["type"]), error.get("input"), error.get("ctx", {})
    if kind == "missing":
        return "is missing: add it"
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    if kind in _BOUNDS and type_ is None:
        words, bound = _BOUNDS[kind]
        return f"must be {words} {context[bound]}, not {shown(value)}"
    if kind in ("too_short", "string_too_short"):
        return "must not be empty"
    if kind == "literal_error" and type_ is None:
        return f"must be {context['expected']}, not {shown(value)}.{_meant(value, context['expected'])}"
    wanted = _described(type_) if type_ is not None else _KINDS.get(_BY_ERROR.get(kind.partition("_")[0]), "")
    hint = near_miss(value, _texts(type_)) or _quoted(wanted, value)
    return f"must be {wanted}, not {shown(value)}.{hint}".rstrip(".") if wanted else f"{error['msg']}: {shown(value)}"


def shown(value: Any) -> str:
    """Return a value as in YAML: ``true``, ``null``, ``'ten'``."""
    if value is None:
        return "null (empty)"
    return str(value).lower() if isinstance(value, bool) else shorten(value)


def _described(type_: Any) -> str:
    """Return words such as ``a whole number or null``."""
    if get_origin(type_) is Annotated:
        return _described(get_args(type_)[0])
    if get_origin(type_) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_described(one) for one in get_args(type_)))
    if get_origin(type_) is Literal:
        values = get_args(type_)
        return " or ".join(map(repr, values)) if len(values) <= _LISTED else f"one of {', '.join(map(str, values))}"
    return _KINDS.get(get_origin(type_) or type_, "")


def _texts(type_: Any) -> list[str]:
    """Return the texts that a Literal allows."""
    if get_origin(type_) is Literal:
        return [value for value in get_args(type_) if isinstance(value, str)]
    return [text for one in get_args(type_) for text in _texts(one)] if type_ is not None else []


def _quoted(wanted: str, value: Any) -> str:
    if wanted == "text" and isinstance(value, (int, float)):
        return f' Write it in quotes: "{shown(value)}"'
    return ""


def _meant(value: Any, expected: str) -> str:
    return near_miss(value, expected.replace(" or ", ",").replace("'", "").replace(" ", "").split(","))
