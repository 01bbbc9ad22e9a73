"""Encode values as JSON without code and without loss: ``encode((True, 2.5))`` is ``["tuple", true, ["float", ...]]``.

The results of a program are checked in another process, as equal plain Python values: instances of its own classes,
which may define ``__eq__``, cannot be encoded, and subclasses of ``int`` or ``str`` become plain values.

This module is sent into sandboxes as source, so it does not import rewardkit.
"""

from __future__ import annotations

import importlib
import sys
from collections import deque

TYPE_CHECKING = False  # slow imports are delayed until they are needed
if TYPE_CHECKING:
    from typing import Any

_SEQUENCES = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", deque: "deque"}
_MAKERS: dict[str, Any] = {
    **{name: kind for kind, name in _SEQUENCES.items()},
    "int": lambda items: int(items[0], 16),
    "float": lambda items: float.fromhex(items[0]),
    "complex": lambda items: complex(*items),
    "bytes": lambda items: bytes.fromhex(items[0]),
    "range": lambda items: range(*items),
    "Decimal": lambda items: importlib.import_module("decimal").Decimal(items[0]),
    "Fraction": lambda items: importlib.import_module("fractions").Fraction(*items),
}


def encode(value: Any) -> Any:
    """Return `value` as JSON; raises TypeError if it is not of one of Python's own types."""
    if value is None or value is True or value is False:
        return value
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return ["int", hex(int.__index__(value))]  # decimal digits are limited, and slow
    if isinstance(value, float):
        return ["float", float.hex(value)]
    if isinstance(value, complex):
        return ["complex", encode(value.real), encode(value.imag)]
    if isinstance(value, (bytes, bytearray)):
        return ["bytes", value.hex()]
    if isinstance(value, dict):
        return ["dict", *([encode(key), encode(item)] for key, item in value.items())]
    for kind, name in _SEQUENCES.items():
        if isinstance(value, kind):
            return [name, *map(encode, value)]
    if isinstance(value, range):
        return ["range", *map(encode, (value.start, value.stop, value.step))]
    if _is(value, "decimal", "Decimal"):
        return ["Decimal", str(value)]
    if _is(value, "fractions", "Fraction"):
        return ["Fraction", encode(value.numerator), encode(value.denominator)]
    raise TypeError(f"got a {type(value).__name__}, expected a plain value")


def _is(value: Any, module: str, name: str) -> bool:
    """Return whether `value` is an instance of that class; false if its module was never imported."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def decode(value: Any) -> Any:
    """Reverse `encode`; raises ValueError, TypeError or KeyError for anything it did not write."""
    if not isinstance(value, list):
        if value is None or isinstance(value, (str, bool)):
            return value
        raise ValueError("a bare number")
    name, *items = value
    if name == "dict":
        return {decode(key): decode(item) for key, item in items}
    return _MAKERS[name]([decode(item) for item in items])
