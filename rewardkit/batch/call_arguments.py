"""Tool-call arguments, in every form that trainers and providers use.

``read_arguments('{"color": "red"}')`` and ``read_arguments({"color": "red"})`` return the same result: ``(Arguments,
"")``. For anything that is not a JSON object, the result is ``(None, "the arguments are ...")``. JSON text and mappings
have the same limits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

from rewardkit.errors import MissingExtraError, shorten
from rewardkit.text.json_text import MAX_DEPTH, Parsed, parse_json
from rewardkit.text.literals import check_json

_ATOMS = (str, int, float, bool, type(None))
_PLAIN = {str, int, bool, type(None)}
_WORDS = {True: "true", False: "false", None: "null"}
_encode = json.JSONEncoder(sort_keys=True, allow_nan=False).encode
_INTEGERS = 2**1330
"""The limit for integers, as in JSON text (400 digits). Python cannot convert integers with 4,300 digits to text."""


@final
class Arguments(Mapping[str, Any]):
    """A tool call's arguments: a read-only mapping that is compared by JSON value.

    ``1`` equals ``1.0``, ``True`` does not equal ``1``, and strings are compared exactly. Lists and objects are copied
    when they are read, so one function cannot change the arguments that another function gets.
    """

    __slots__ = ("_held", "_keys", "_readings")

    def __init__(self, arguments: Mapping[str, Any], readings: Mapping[str, tuple[Any, ...]] | None = None) -> None:
        self._held = arguments
        self._keys: dict[str, str] | None = None
        self._readings = readings

    @classmethod
    def written(cls, readings: Mapping[str, tuple[Any, ...]]) -> Arguments:
        """Return arguments written in a form without types, such as XML, in which an argument may have several
        readings.

        The mapping contains the first reading: ``2`` for ``<parameter=days>2</parameter>``, which can also be read as
        ``"2"``.
        """
        return cls({name: values[0] for name, values in readings.items()}, readings)

    @property
    def typed(self) -> bool:
        """Whether the call's form determines the type of each value."""
        return self._readings is None

    def readings(self, name: str) -> tuple[Any, ...]:
        """Return the values that the argument `name` may have."""
        return (self[name],) if self._readings is None else tuple(map(_copied, self._readings[name]))

    def __getitem__(self, name: str) -> Any:
        return _copied(self._held[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def keys_by_name(self) -> Mapping[str, str]:
        """A string for each argument; equal JSON values have the same string."""
        if self._keys is None:
            self._keys = {name: json_key(value) for name, value in self._held.items()}
        return self._keys

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Arguments):
            return self.keys_by_name == other.keys_by_name
        if isinstance(other, Mapping):
            try:
                return self.keys_by_name == {name: json_key(value) for name, value in other.items()}
            except (TypeError, ValueError, RecursionError):
                return False
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.keys_by_name.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Arguments, (dict(self._held), self._readings)

    def __repr__(self) -> str:
        return repr(dict(self._held))


def _copied(value: Any) -> Any:
    return value if isinstance(value, _ATOMS) else json.loads(json.dumps(value))


def json_key(value: Any) -> str:
    """Return a string that is the same for equal JSON values: ``json_key(1) == json_key(1.0) != json_key(True)``.

    Raises:
        TypeError: `value` is not a JSON value.
        ValueError: `value` contains a number that is not finite, or contains itself.
    """
    kind = type(value)
    if kind is str:
        return json.dumps(value)
    if kind is int:
        return str(value)
    if kind is bool or value is None:
        return _WORDS[value]
    return _encode(_plain_numbers(value))


def _plain_numbers(value: Any) -> Any:
    if type(value) is float and value.is_integer():
        return int(value)
    if isinstance(value, (list, tuple)):
        return list(map(_plain_numbers, value))
    if isinstance(value, Mapping):
        return {name: _plain_numbers(item) for name, item in value.items()}
    return value


def parsed(text: str) -> Parsed:
    """Parse JSON like `parse_json`, but also without the optional parser, because every training run needs this."""
    try:
        return parse_json(text)
    except MissingExtraError:
        try:
            check_json(text)
            return Parsed(json.loads(text))
        except (ValueError, RecursionError) as error:
            return Parsed(error=f"not valid JSON: {shorten(str(error), 160)}")


def read_arguments(raw_arguments: Any) -> tuple[Arguments | None, str]:
    """Return the arguments and "", or None and the reason why they cannot be read."""
    if raw_arguments is None:
        return Arguments({}), ""
    if isinstance(raw_arguments, Mapping):
        kinds = set(map(type, raw_arguments.values()))
        if (
            kinds <= _PLAIN
            and set(map(type, raw_arguments)) <= {str}
            and (int not in kinds or _is_sane(raw_arguments.values()))
        ):
            return Arguments(dict(raw_arguments)), ""  # a fast path for the usual case
        value = _json(raw_arguments, 0)
        return (None, f"the arguments are not JSON: {value}") if isinstance(value, _NotJson) else (Arguments(value), "")
    if isinstance(raw_arguments, str):
        if not raw_arguments.strip():
            return Arguments({}), ""
        decoded = parsed(raw_arguments)
        if decoded.error:
            return None, f"the arguments are {decoded.error}"
        raw_arguments = decoded.value
        if isinstance(raw_arguments, dict):
            return Arguments(raw_arguments), ""
    return None, f"the arguments are {shorten(raw_arguments, 60)}, not an object"


def _is_sane(values: Iterable[Any]) -> bool:
    return all(type(value) is not int or -_INTEGERS < value < _INTEGERS for value in values)


class _NotJson(str):
    """The reason why a value is not JSON."""


def _json(value: Any, depth: int) -> Any:
    """Return a copy of a JSON value, or a `_NotJson`. The limits are the same as for JSON text."""
    kind = type(value)
    if kind is int:
        return value if -_INTEGERS < value < _INTEGERS else _NotJson("a number is too large")
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else _NotJson(f"{value} is not a finite number")
    if depth >= MAX_DEPTH:
        return _NotJson(f"nested deeper than {MAX_DEPTH} levels")
    copy: Any
    if isinstance(value, Mapping):
        copy = {}
        for key, item in value.items():
            if type(key) is not str:
                return _NotJson(f"the key {shorten(key, 40)} is not text")
            copy[key] = converted = _json(item, depth + 1)
            if isinstance(converted, _NotJson):
                return converted
        return copy
    if isinstance(value, (list, tuple)):
        copy = []
        for item in value:
            copy.append(converted := _json(item, depth + 1))
            if isinstance(converted, _NotJson):
                return converted
        return copy
    if hasattr(value, "tolist"):  # numpy values, as pandas reads them
        return _json(value.tolist(), depth + 1)
    return _NotJson(f"{shorten(value, 40)} ({kind.__name__})")
