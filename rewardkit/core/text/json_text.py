"""Parse JSON from untrusted text: ``parse_json('{"a": 1}').value == {"a": 1}``.

Only what RFC 8259 allows: no repair, no NaN, no duplicate keys, no numbers too large for a float or a 400-digit
integer, at most 200,000 characters and 64 levels. For anything else, the result has an ``error`` and no value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from rewardkit.core.errors import MissingExtraError

MAX_CHARACTERS = 200_000
"""The longest text that primitives read, in characters."""

MAX_DEPTH = 64
_MAX_INTEGER_BITS = 1330  # 400 decimal digits
# Digits become "0" and "E" becomes "e", so that a plain search finds numbers that may be too large.
_SHAPES = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x65 if byte == 0x45 else byte for byte in range(256))
_EXPONENT, _LONG = b"0e", b"0" * 300
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parsed:
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
    if encoded.count(b"[") + encoded.count(b"{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        return Parsed(error=f"nested deeper than {MAX_DEPTH} levels")
    shapes = encoded.translate(_SHAPES)
    if (_EXPONENT in shapes or (shapes.count(b"0") >= len(_LONG) and _LONG in shapes)) and not _sane(value):
        return Parsed(error="holds a number that is too large")
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


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


def _sane(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return value.bit_length() <= _MAX_INTEGER_BITS
    if isinstance(value, list):
        return all(map(_sane, value))
    return not isinstance(value, dict) or all(map(_sane, value.values()))
