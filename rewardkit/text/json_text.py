"""Parse JSON from untrusted text: ``parse_json('{"a": 1}').value == {"a": 1}``.

The parser accepts only JSON that RFC 8259 allows: no repair, no NaN, no duplicate keys, no numbers too large for a
float or a 400-digit integer, and at most 200,000 characters and 64 levels. For anything else, the result has an
``error`` and no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from rewardkit.errors import MissingExtraError

# Notes about problems in a JSON value: paths and values, shortened and safe to show.


# Arbitrary limits: notes are read in tables, and a document may have thousands of violations with long keys.
SHOWN_VIOLATIONS = 3
SHOWN_TEXT = 40
SHOWN_STEPS = 8

Path = tuple[str | int, ...]


@dataclass
class Violations:
    """The violations found so far: the first three as text, and the number of the others.

    Example: after ``add(("qty",), "missing")``, ``note()`` is ``"qty: missing"``.
    """

    shown: list[str] = field(default_factory=list)
    count: int = 0
    counted_all: bool = True

    @property
    def wants_words(self) -> bool:
        """True if the next violation will be shown, so that it needs a description."""
        return len(self.shown) < SHOWN_VIOLATIONS

    def add(self, path: Path, problem: str) -> None:
        """Record `problem` at `path` (property names and item numbers from the root)."""
        self.count += 1
        if len(self.shown) < SHOWN_VIOLATIONS:
            where = path_text(path)
            self.shown.append(f"{where}: {problem}" if where else problem)

    def note(self) -> str:
        """Return the note, such as ``"qty: missing; color: missing; and 4 more"``."""
        more = self.count - len(self.shown)
        at_least = "" if self.counted_all else "at least "
        return "; ".join(self.shown) + (f"; and {at_least}{more:,} more" if more > 0 else "")


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as text: ``lines[2].qty``. Unusual keys are quoted, and long paths and keys are shortened."""
    if len(path) <= SHOWN_STEPS:
        return "".join(map(_step, path)).removeprefix(".")
    half = SHOWN_STEPS // 2
    return f"{path_text(path[:half])}.(...){''.join(map(_step, path[-half:]))}"


def _step(key: str | int) -> str:
    if isinstance(key, str) and key.isidentifier() and len(key) <= SHOWN_TEXT:
        return f".{key}"
    return f"[{value_text(key)}]"


def value_text(value: object) -> str:
    """Return a short text for a JSON value: ``"31"``, ``null``, ``array of 3``."""
    if isinstance(value, str):
        cut = f"... ({len(value):,} characters)" if len(value) > SHOWN_TEXT else ""
        return f'"{printable(value[:SHOWN_TEXT])}"{cut}'
    if isinstance(value, dict | list):
        return f"{'object' if isinstance(value, dict) else 'array'} of {len(value):,}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    # 128 bits are 39 digits, which fit in a note; Python refuses to print thousands.
    if isinstance(value, int) and value.bit_length() > 128:
        return f"integer of about {round(value.bit_length() * 0.30103):,} digits"
    return printable(repr(value)[:SHOWN_TEXT])


def printable(text: str, limit: int = 120) -> str:
    """Return `text`, cut to `limit` characters, with all nonprintable characters escaped."""
    cut = text if len(text) <= limit else f"{text[:limit]}..."
    return cut if cut.isprintable() else "".join(map(_visible, cut))


def _visible(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"


MAX_CHARACTERS = 200_000
"""The maximum length of a text that primitives read, in characters. Arbitrary: it is about 50,000 tokens, so that no
completion takes seconds to score."""

MAX_DEPTH = 64
"""The maximum nesting depth of a value. Arbitrary, but far below Python's limit of 1,000 frames, because values are
visited recursively. Documents are only a few levels deep."""
_MAX_INTEGER_BITS = 1330  # 400 decimal digits
# Digits become "0", "E" becomes "e", and other letters are deleted: a plain search of the short remainder finds
# brackets and numbers that may be too large.
_SHAPES = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x65 if byte == 0x45 else byte for byte in range(256))
_LETTERS = bytes(byte for byte in range(256) if byte >= 0x80 or (chr(byte).isalpha() and chr(byte) not in "eE"))
_EXPONENT, _LONG = b"0e", b"0" * 300
_TOO_LARGE = "holds a number that is too large"
_NESTED = (dict, list)


class Parsed(NamedTuple):
    """A JSON value, or an ``error`` that explains why there is none."""

    value: Any = None
    error: str = ""


NO_JSON = Parsed(error="no JSON found")


def parse_json(text: str) -> Parsed:
    """Parse `text` as one JSON value. For invalid text, the result has an ``error``.

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


def json_parser(feature: str = "reading JSON") -> Callable[..., Any]:
    """Return the JSON parser, or raise a MissingExtraError that names `feature` if the parser is not installed."""
    try:
        import jiter
    except ImportError:
        raise MissingExtraError.of(feature, "json") from None
    return jiter.from_json


_parser = cache(json_parser)


def _cut(problem: str) -> str:
    """Return the parser's message, shortened in the middle: it may contain a long key, and ends with the position."""
    # Arbitrary lengths: the beginning says what is wrong, the end says where.
    return problem if len(problem) <= 160 else f"{problem[:80]}...{problem[-60:]}"


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        wholes = (container.values() if type(container) is dict else container for container in level)
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
