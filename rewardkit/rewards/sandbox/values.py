"""Encoding of values as JSON without code or loss: ``encode((True, 2.5))`` is ``["tuple", true, ["float", ...]]``.

A program's results are checked in another process, as plain Python values. Instances of the program's classes, which
may define ``__eq__``, cannot be encoded, and instances of subclasses of ``int`` or ``str`` become plain values. A
caller may add encodings for other values, as `dialogue` does for references. These encodings are also lists, but they
start with a different name.

This module is sent to sandboxes as source code, so it does not import rewardkit.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections import Counter, OrderedDict, deque

TYPE_CHECKING = False  # slow imports are delayed until they are needed
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_VIEWS: dict[Any, str] = {type({}.keys()): "keys", type({}.values()): "values", type({}.items()): "items"}
_SEQUENCES = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", deque: "deque"}
MAPPINGS: dict[str, Any] = {kind.__name__: kind for kind in (dict, Counter, OrderedDict)}
MAKERS: dict[str, Any] = {
    **{name: kind for kind, name in _SEQUENCES.items()},
    # Hexadecimal, because conversion takes linear time. For decimal text it is slower, and Python limits the digits.
    "int": lambda items: int(items[0], 16),
    "float": lambda items: float.fromhex(items[0]),
    "complex": lambda items: complex(*items),
    "bytes": lambda items: bytes.fromhex(items[0]),
    "range": lambda items: range(*items),
    "keys": lambda items: dict.fromkeys(items).keys(),
    "values": lambda items: dict(enumerate(items)).values(),
    "items": lambda items: dict(items).items(),
    "Decimal": lambda items: importlib.import_module("decimal").Decimal(items[0]),
    "Fraction": lambda items: importlib.import_module("fractions").Fraction(*items),
    "array": lambda items: _array(*items),
    **{
        name: lambda items, name=name: getattr(importlib.import_module("datetime"), name).fromisoformat(items[0])
        for name in ("datetime", "date", "time")
    },
    "timedelta": lambda items: importlib.import_module("datetime").timedelta(*items),
}


def encode(value: Any, other: Callable[[Any], Any] | None = None, module_name: str = "") -> Any:
    """Return `value` in a form for JSON; raise TypeError if its type is not supported and there is no `other`.

    `other` encodes values of unsupported types, and all instances of classes from the module `module_name`, even if
    they are subclasses of supported types.
    """
    if value is None or value is True or value is False:
        return value
    if module_name and type(value).__module__ == module_name and other is not None:
        return other(value)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return ["int", hex(int.__index__(value))]  # decimal digits are limited and slow
    if isinstance(value, float):
        return ["float", float.hex(value)]
    if isinstance(value, complex):
        return ["complex", encode(value.real), encode(value.imag)]
    if isinstance(value, (bytes, bytearray)):
        return ["bytes", value.hex()]
    if isinstance(value, dict):
        name = type(value).__name__ if type(value) in (Counter, OrderedDict) else "dict"
        return [
            name,
            *([encode(key, other, module_name), encode(item, other, module_name)] for key, item in value.items()),
        ]
    for kind, name in _SEQUENCES.items():
        if isinstance(value, kind):
            return [name, *(encode(item, other, module_name) for item in value)]
    if isinstance(value, range):
        return ["range", *map(encode, (value.start, value.stop, value.step))]
    if type(value) in _VIEWS:
        return [_VIEWS[type(value)], *(encode(item, other, module_name) for item in value)]
    if _is(value, "decimal", "Decimal"):
        return ["Decimal", str(value)]
    if _is(value, "fractions", "Fraction"):
        return ["Fraction", encode(value.numerator), encode(value.denominator)]
    if type(value).__module__ == "datetime" and type(value).__name__ in ("datetime", "date", "time"):
        return [type(value).__name__, value.isoformat()]
    if _is(value, "datetime", "timedelta"):
        return ["timedelta", *map(encode, (value.days, value.seconds, value.microseconds))]
    if _is(value, "numpy", "ndarray") and value.dtype.kind in "biufcU":
        return ["array", value.dtype.str, encode(value.shape), encode(value.ravel().tolist())]
    if other is None:
        raise TypeError(f"got a {type(value).__name__}, expected a plain value")
    return other(value)


def _is(value: Any, module: str, name: str) -> bool:
    """Return whether `value` is an instance of the class `name` in `module`; False if the module is not imported."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def decode(value: Any, other: Callable[[str, list[Any]], Any] | None = None) -> Any:
    """Decode the result of `encode`; raise ValueError, TypeError, or KeyError for any other input.

    `other` decodes lists with a name that `encode` does not write, from the name and the rest of the list.
    """
    if not isinstance(value, list):
        if value is None or isinstance(value, (str, bool)):
            return value
        raise ValueError("a bare number")
    name, *items = value
    if name in MAPPINGS:
        return MAPPINGS[name]({decode(key, other): decode(item, other) for key, item in items})
    if other is not None and name not in MAKERS:
        return other(name, items)
    return MAKERS[name]([decode(item, other) for item in items])


def equal(value: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Return whether a result equals the expected value. A list equals a tuple, and numbers may differ by `tolerance`.

    If there is a tolerance, a bool equals only itself.
    """
    if isinstance(value, (list, tuple)) and isinstance(expected, (list, tuple)):
        pairs = zip(value, expected, strict=False)
        return len(value) == len(expected) and all(equal(item, other, tolerance) for item, other in pairs)
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(equal(value[key], expected[key], tolerance) for key in value)
    if tolerance is not None and (isinstance(value, bool) or isinstance(expected, bool)):
        return value is expected
    return bool(value == expected) or (tolerance is not None and near(value, expected, tolerance, tolerance))


def near(value: Any, expected: Any, relative: float, absolute: float) -> bool:
    """Return whether two numbers are finite and close. If `expected` is an integer, only `absolute` applies."""
    if isinstance(value, int) and isinstance(expected, int):
        return value == expected
    if not (_is_real(value) and _is_real(expected)):
        return False
    try:
        number, target = float(value), float(expected)
    except OverflowError:
        return False
    allowed = absolute if isinstance(expected, int) else max(absolute, relative * abs(target))
    return math.isfinite(number) and math.isfinite(target) and abs(number - target) <= allowed


def _is_real(value: Any) -> bool:
    real = isinstance(value, (int, float)) or _is(value, "decimal", "Decimal") or _is(value, "fractions", "Fraction")
    return real and not isinstance(value, bool)


def _array(kind: str, shape: tuple[int, ...], items: list[Any]) -> Any:
    numpy = importlib.import_module("numpy")
    return numpy.array(items, dtype=numpy.dtype(kind)).reshape(shape)
