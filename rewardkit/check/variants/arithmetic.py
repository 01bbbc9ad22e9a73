"""Arithmetic: the expression in a right completion of a countdown task, and others of the same numbers.

For ``<answer>20 + 7 * 2</answer>`` with ``numbers=[20, 7, 2], target=34``, ``(20 * 7) / 2`` is 70, and ``(20 / 7) + 2``
is 34/7, which no rounding may take for a whole number.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations, product
from typing import Any

from rewardkit.check.completion.anatomy import Anatomy, Span, replaced

_EXPRESSION = re.compile(r"[\d\s+\-*/()×÷x]+")
_OPERATORS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_NODES: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
_MOST_NUMBERS = 5
_MOST = 4_000


@dataclass(frozen=True)
class Expression:
    """An expression with its place in a completion.

    Attributes:
        text: of the completion.
        span: of the expression.
        numbers: that it uses.
        value: of the expression.
        target: the column with its value.
    """

    text: str
    span: Span
    numbers: tuple[int, ...]
    value: Fraction
    target: str

    def saying(self, expression: str) -> str:
        """Return the completion with another expression."""
        return replaced(self.text, [(self.span, expression)])

    def others(self) -> Iterator[tuple[str, Fraction]]:
        """Yield other expressions of the same numbers, with their values."""
        orders = permutations(self.numbers)
        signs = list(product("+-*/", repeat=len(self.numbers) - 1))
        for order, chosen in islice(((order, chosen) for order in orders for chosen in signs), _MOST):
            made, value = str(order[0]), Fraction(order[0])
            try:
                for sign, number in zip(chosen, order[1:], strict=True):
                    made, value = f"({made} {sign} {number})", _OPERATORS[sign](value, Fraction(number))
            except ZeroDivisionError:
                continue
            yield made[1:-1], value


def expression_in(anatomy: Anatomy, columns: Mapping[str, Any]) -> Expression | None:
    """Return the expression that a right completion marks as its answer; None if its value is in no column."""
    if not anatomy.marked:
        return None
    body = anatomy.region.of(anatomy.text)
    written = body.split("=")[0]
    if not _EXPRESSION.fullmatch(written) or not re.search(r"\d\s*[-+*/×÷x]\s*[\d(]", written):
        return None
    value = _value(written.replace("×", "*").replace("x", "*").replace("÷", "/").strip())
    if value is None:
        return None
    numbers = tuple(map(int, re.findall(r"\d+", written)))
    if not 2 <= len(numbers) <= _MOST_NUMBERS:
        return None
    target = next((name for name, cell in columns.items() if _is_number(cell) and Fraction(cell) == value), "")
    if not target or not any(_numbers(cell) == sorted(numbers) for cell in columns.values()):
        return None
    start = anatomy.region.start + len(written) - len(written.lstrip())
    return Expression(anatomy.text, Span(start, start + len(written.strip())), numbers, value, target)


def _is_number(cell: Any) -> bool:
    return type(cell) is int or (isinstance(cell, float) and math.isfinite(cell))


def _numbers(cell: Any) -> Sequence[Any]:
    is_list = isinstance(cell, (list, tuple)) and all(map(_is_number, cell))
    return sorted(cell) if is_list else []


def _value(written: str) -> Fraction | None:
    try:
        return _of(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _of(node: ast.expr) -> Fraction:
    if isinstance(node, ast.BinOp) and type(node.op) in _NODES:
        return _NODES[type(node.op)](_of(node.left), _of(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    raise ValueError("no arithmetic")
