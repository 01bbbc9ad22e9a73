"""Literals: check text before parsing it as JSON or as a Python literal.

``read_literal("{'a': [1, None]}")`` is ``{"a": [1, None]}``. Calls, operators, duplicate keys, brackets nested 65
levels deep, and ``1e999`` raise a LiteralError. All checks run in time linear in the length of the text.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from rewardkit.errors import shorten

# Arbitrary limits: dataset cells are smaller, and a larger one would delay its batch. Literals need Python's parser,
# which is slower and uses more memory; int() takes quadratic time; and deeper nesting could overflow the stack.
JSON_CHARACTERS = 1_000_000
LITERAL_CHARACTERS = 100_000
NUMBER_CHARACTERS = 1_000
DEPTH = 64

# An unterminated string extends to the end of the text, so that no character is read twice.
_JSON_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
# The tokens of a Python literal: no calls except set(), no operators, no names but these three, no octal escapes.
_LITERAL_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<string>[uU]?(?:'[^'\\\n]*(?:\\[^\n0-7][^'\\\n]*)*'|"[^"\\\n]*(?:\\[^\n0-7][^"\\\n]*)*"))
      | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
      | (?P<name>(?:None|True|False)(?!\w)|set\(\))
      | (?P<open>[\[({]) | (?P<close>[\])}]) | (?P<separator>[,:])
    )""",
    re.VERBOSE,
)
# A known escape, or a single backslash. For an unknown escape such as "\d", Python warns and keeps the backslash.
_ESCAPE = re.compile(r"""\\([\\'"abfnrtvxuUN])|\\""")


class LiteralError(ValueError):
    """An error for text that cannot be read as a value. The message becomes part of a CoercionError."""


def check_number(text: str) -> None:
    """Raise LiteralError if the number in `text` is not a finite float, or is too long to read quickly."""
    if len(text) > NUMBER_CHARACTERS or not math.isfinite(float(text)):
        raise LiteralError(f"the number {shorten(text, 40)} is not finite, or is too large or too long.")


def check_json(text: str) -> None:
    """Raise JSONDecodeError if `text` is not JSON, or LiteralError if it is too large, too deep, or ambiguous."""
    if len(text) > JSON_CHARACTERS:
        raise LiteralError(f"{len(text):,} characters exceed the limit, {JSON_CHARACTERS:,}.")
    if text.count("[") + text.count("{") > DEPTH:
        depth = 0
        for match in _JSON_MARK.finditer(text):
            depth += (match[0] in "[{") - (match[0] in "]}")
            if depth > DEPTH:
                raise LiteralError(f"it is nested more than {DEPTH} levels deep.")
    json.loads(
        text,
        object_pairs_hook=lambda pairs: _refuse_duplicates([key for key, _ in pairs]),
        parse_int=check_number,
        parse_float=check_number,
        parse_constant=check_number,  # NaN, Infinity, -Infinity
    )


def _refuse_duplicates(keys: list[Any]) -> None:
    if len(set(keys)) < len(keys):
        raise LiteralError("an object has the same key twice.")


def read_literal(text: str) -> Any:
    """Return the value of a Python literal. Only plain literals of limited depth reach the compiler."""
    if len(text) > LITERAL_CHARACTERS:
        raise LiteralError(f"{len(text):,} characters exceed the limit, {LITERAL_CHARACTERS:,}.")
    tree = ast.parse("".join(_literal_tokens(text)), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            _refuse_duplicates([ast.literal_eval(key) for key in node.keys if key is not None])
    return ast.literal_eval(tree)


def _literal_tokens(text: str) -> Iterator[str]:
    position, depth, after_value = 0, 0, False
    while position < len(text):
        match = _LITERAL_TOKEN.match(text, position)
        if match is None:
            raise LiteralError(f"{shorten(text[position : position + 20])} is not allowed here.")
        kind = match.lastgroup or ""
        token = match[kind]
        if after_value and kind not in ("close", "separator"):
            raise LiteralError(f"there is a call, an operator, or a missing comma before {shorten(token, 20)}.")
        depth += (kind == "open") - (kind == "close")
        if depth > DEPTH or (kind == "separator" and depth < 1):
            raise LiteralError(f"it is nested more than {DEPTH} levels deep, or has no brackets.")
        if kind == "number":
            check_number(token)
        if kind == "string":  # double the backslash of \d, as Python does, but without its warning
            token = _ESCAPE.sub(lambda escape: escape[0] if escape[1] else r"\\", token)
        yield token
        after_value = kind not in ("open", "separator")
        position = match.end()
