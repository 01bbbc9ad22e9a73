"""Gold cells that no dataset should contain, but some do: name -> function that makes one."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np


class Unkind:
    """Raises on every operation."""

    def _refuse(self, *_: object) -> NoReturn:
        raise RuntimeError("no")

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __float__ = _refuse


class Text(str):
    """A subclass of text."""


def deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def endless() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


CELLS: dict[str, Callable[[], Any]] = {
    "empty": lambda: "",
    "space": lambda: " \n\t",
    "zero width": lambda: "\u200b",
    "NUL": lambda: "\0",
    "lone surrogate": lambda: "\ud800",
    "half a surrogate pair in JSON": lambda: '"\\ud800"',
    "a million letters": lambda: "a" * 1_000_000,
    "100,000 digits": lambda: "9" * 100_000,
    "piled marks": lambda: "\u0301\u0316" * 100_000,
    "1e999": lambda: "1e999",
    "1e999999999": lambda: "1e999999999",
    "NaN as text": lambda: "NaN",
    "tower": lambda: "9**9**9**9",
    "LaTeX tower": lambda: "$9^{9^{9^{9}}}$",
    "factorials": lambda: "((((9!)!)!)!)!",
    "deep JSON": lambda: "[" * 100_000 + "]" * 100_000,
    "deep Python": lambda: "(" * 100_000,
    "cut JSON": lambda: '{"a": [1, 2',
    "duplicate keys": lambda: '{"a": 1, "a": 2}',
    "JSON null": lambda: "null",
    "Python": lambda: "__import__('os').system('touch /tmp/owned')",
    "None": lambda: None,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("-inf"),
    "numpy NaN": lambda: np.float64("nan"),
    "huge integer": lambda: 10**5_000,
    "Decimal NaN": lambda: Decimal("NaN"),
    "Decimal signaling": lambda: Decimal("sNaN"),
    "huge Decimal": lambda: Decimal("1e999999"),
    "True": lambda: True,
    "bytes": lambda: b"\xff\x00",
    "date": lambda: datetime.date(2026, 1, 1),
    "array": lambda: np.zeros(3),
    "array of objects": lambda: np.array([None, "a"], dtype=object),
    "empty list": list,
    "empty dict": dict,
    "list of None": lambda: [None],
    "list of NaN": lambda: [float("nan")],
    "list of lists": lambda: [[], [[]]],
    "2,000 lists": lambda: deep(2_000),
    "a list in itself": endless,
    "numbers as keys": lambda: {1: 2},
    "NaN as a value": lambda: {"a": float("nan")},
    "set": lambda: {"b", "a"},
    "tuple": lambda: ("a", 1),
    "function": lambda: len,
    "class": lambda: dict,
    "generator": lambda: (number for number in range(3)),
    "unkind": Unkind,
    "subclass of text": lambda: Text("x"),
}

MISSING = ("None", "NaN", "numpy NaN", "Decimal NaN", "Decimal signaling")
"""The cells that say that there is no gold answer, so that the row abstains."""
