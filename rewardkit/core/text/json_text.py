"""Parse JSON from untrusted text: ``parse_json('{"a": 1}').value == {"a": 1}``.

Only what RFC 8259 allows: no repair, no NaN, no duplicate keys, no numbers too large for a float or a 400-digit
integer, at most 200,000 characters and 64 levels. For anything else, the result has an ``error`` and no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from rewardkit.core.errors import MissingExtraError

MAX_CHARACTERS = 200_000
"""The longest text that primitives read, in characters."""

MAX_DEPTH = 64
_MAX_INTEGER_BITS = 1330  # 400 decimal digits
# Digits become "0", "E" becomes "e" and other letters are deleted: a plain search of the little that is left finds
# numbers that may be too large and brackets.
_SHAPES = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x65 if byte == 0x45 else byte for byte in range(256))
_LETTERS = bytes(byte for byte in range(256) if byte >= 0x80 or (chr(byte).isalpha() and chr(byte) not in "eE"))
_EXPONENT, _LONG = b"0e", b"0" * 300
_TOO_LARGE = "holds a number that is too large"
_NESTED = (dict, list)


class Parsed(NamedTuple):
    """A JSON value, or an ``error`` that says why there is none."""

    value: Any = None
    error: str = ""


NO_JSON = Parsed(error="no JSON found")


def parse_json(text: str) -> Parsed:
    """Parse `text` as one JSON value; no text makes it raise.

    Raises:
        MissingExtraError: jiter is not installed.
    """
    if not text:
        return NO_JSON
    if len(text) > MAX_CHARACTERS:
        return Parsed(error=f"longer than {MAX_CHARACTERS:,} characters")
    parser = _parser()
    try:
        encoded = text.encode()
        value = parser(encoded, allow_inf_nan=False, catch_duplicate_keys=True)
    except UnicodeEncodeError:
        return Parsed(error="holds a lone surrogate")
    except ValueError as error:
        return Parsed(error=f"not valid JSON: {_cut(str(error))}")
    shapes = encoded.translate(_SHAPES, _LETTERS)
    if len(shapes) > 2 * MAX_DEPTH:
        if shapes.count(b"[") + shapes.count(b"{") > MAX_DEPTH and _too_deep(value):
            return Parsed(error=f"nested deeper than {MAX_DEPTH} levels")
        if shapes.count(b"0") >= len(_LONG) and _LONG in shapes and not _sane(value):
            return Parsed(error=_TOO_LARGE)
    if _EXPONENT in shapes and not _sane(value):
        return Parsed(error=_TOO_LARGE)
    return Parsed(value)


@cache
def _parser() -> Callable[..., Any]:
    try:
        import jiter
    except ImportError:
        raise MissingExtraError.of("reading JSON", "json") from None
    return jiter.from_json


def _cut(problem: str) -> str:
    """Shorten the parser's message: it may hold a long key, and ends with the position."""
    return problem if len(problem) <= 160 else f"{problem[:80]}...{problem[-60:]}"


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        wholes = (whole.values() if type(whole) is dict else whole for whole in level)
        level = [part for parts in wholes for part in parts if type(part) in _NESTED]
        if not level:
            return False
    return True


def _sane(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= _MAX_INTEGER_BITS
    if isinstance(value, list):
        return all(map(_sane, value))
    return not isinstance(value, dict) or all(map(_sane, value.values()))
