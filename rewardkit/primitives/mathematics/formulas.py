r"""Compare formulas as written, alone or in lists: ``\{1, 2\}`` is ``2, 1``, and ``(1, 2)`` is not ``(2, 1)``.

Elements of brackets, sets, matrices, and ``\pm`` are compared one by one, by `closed_form`. Equations and inequalities
are compared by the difference of their sides, up to a factor; ``x > 3`` is ``(3, \infty)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rewardkit.primitives.mathematics.closed_form import (
    Formula,
    bound,
    degree,
    difference,
    formula,
    infinity,
    ratio,
    same,
)
from rewardkit.primitives.mathematics.notation import outer_brackets

MAX_ELEMENTS = 16

_AND = re.compile(r",?\s*\\text\s*\{\s*,?\s*(?:and|or)\s*\}")
_THOUSANDS = re.compile(r"[0-9],[0-9]{3}(?![0-9])")
_MATRIX = re.compile(r"\\begin\{[pb]?matrix\}((?:(?!\\begin|\\end).)*)\\end\{[pb]?matrix\}")
_RELATION = re.compile(r"([^=<>]*?)(=|<|>|\\le(?![a-z])|\\ge(?![a-z]))((?:(?!\\[lg]e(?![a-z]))[^=<>])*)")
_CHAIN = re.compile(r"([^=<>]*?)(<|\\le(?![a-z]))\s*([A-Za-z])\s*(<|\\le(?![a-z]))([^=<>]*)")
_RELATIONS = frozenset(("=", "<", "\\le"))
_BRACKETS = frozenset(("()", "[]", "(]", "[)", "\\{\\}"))
_INFINITY = {"\\infty": 1, "+\\infty": 1, "-\\infty": -1}


@dataclass(frozen=True)
class Written:
    r"""Formulas and the notation around them.

    Attributes:
        kind: "" for a single formula, "," for a bare list, "=," for a list of equations, "matrix 2" for two columns,
            "=", "<", or "\le" for a relation (the formula is zero, positive, or not negative), else the brackets.
        variable: the variable of an interval that is written as an inequality.
    """

    kind: str
    elements: tuple[Formula, ...]
    variable: str = ""

    @property
    def arithmetic(self) -> int:
        """How many operations between rational numbers are left to be done."""
        return sum(element.arithmetic for element in self.elements)


def written(cleaned: str) -> Written | None:
    """Parse a cleaned text; None if an element is not a formula of `closed_form`."""
    if _THOUSANDS.search(cleaned):
        return None
    if matrix := _MATRIX.fullmatch(cleaned):
        rows = [row.split("&") for row in matrix[1].strip().removesuffix("\\\\").split("\\\\")]
        if len({len(row) for row in rows}) > 1:
            return None
        return _elements(f"matrix {len(rows[0])}", [cell for row in rows for cell in row])
    if chain := _CHAIN.fullmatch(cleaned):
        low, left, letter, right, high = chain.groups()
        return _elements(("(" if left == "<" else "[") + (")" if right == "<" else "]"), [low, high], letter)
    if relation := _RELATION.fullmatch(cleaned):
        return _relation(*relation.groups())
    listed = _AND.sub(",", cleaned)
    if "," in listed and "=" in listed:
        return _equations(listed.split(","))
    if "\\pm" in listed and "," not in listed:
        signs = (("+", "-"), ("-", "+"))
        return _elements(",", [listed.replace("\\pm", one).replace("\\mp", other) for one, other in signs])
    if brackets := outer_brackets(listed):
        opening = len(brackets) // 2
        return _elements(brackets, listed[opening:-opening].split(","))
    return _elements("," if "," in listed else "", listed.split(","))


def _relation(left: str, sign: str, right: str) -> Written | None:
    if sign in (">", "\\ge"):
        left, sign, right = right, {">": "<", "\\ge": "\\le"}[sign], left
    above, below = formula(right), formula(left)
    zero = difference(above, below) if above and below else None
    if zero is None:
        return None
    if sign == "=" or (found := bound(zero)) is None:
        return Written(sign, (zero,))
    letter, end, is_lower = found
    if is_lower:
        return Written("()" if sign == "<" else "[)", (end, infinity(1)), letter)
    return Written("()" if sign == "<" else "(]", (infinity(-1), end), letter)


def _equations(texts: list[str]) -> Written | None:
    each = [_relation(*relation.groups()) if (relation := _RELATION.fullmatch(text)) else None for text in texts]
    zeros = [equation.elements[0] for equation in each if equation and equation.kind == "="]
    return Written("=,", tuple(zeros)) if len(zeros) == len(texts) <= MAX_ELEMENTS else None


def _elements(kind: str, texts: list[str], variable: str = "") -> Written | None:
    if len(texts) > MAX_ELEMENTS:
        return None
    elements = []
    for text in map(str.strip, texts):
        element = infinity(_INFINITY[text]) if text in _INFINITY else formula(text)
        if element is None:
            return None
        elements.append(element)
    return Written(kind, tuple(elements), variable)


def equal(gold: Written, answer: Written) -> bool | None:
    """Return whether both are the same; None if that takes too long, or cannot be decided here."""
    kinds = {gold.kind, answer.kind}
    if kinds <= {",", "\\{\\}"} or kinds == {",", ""}:
        return _same_set(gold.elements, answer.elements)
    if kinds == {"=,"}:
        return _same_set(gold.elements, answer.elements, _same_equation)
    if "=," in kinds:
        return None
    if kinds & _RELATIONS:
        return _same_relation(gold, answer) if kinds <= _RELATIONS else None
    if len(kinds) > 1 and (kinds <= _BRACKETS or all(kind.startswith("matrix") for kind in kinds)):
        return False
    if gold.variable and answer.variable and gold.variable != answer.variable:
        return False
    if "," in kinds and (gold.variable or answer.variable):
        return False  # -1 < x < 3 is not a pair of numbers
    if len(kinds) == 1 or kinds == {",", "()"}:
        if len(gold.elements) != len(answer.elements):
            return False
        return _all(same(one, other) for one, other in zip(gold.elements, answer.elements, strict=True))
    if "" in kinds and not kinds & {",", "\\{\\}"}:
        return False  # a single formula is not a point, interval or matrix
    return None


def _same_relation(gold: Written, answer: Written) -> bool | None:
    """Return whether one difference is a multiple of the other (a positive multiple for inequalities)."""
    one, other = gold.elements[0], answer.elements[0]
    if gold.kind == answer.kind == "=":
        return _same_equation(one, other)
    factor = ratio(one, other)
    if factor is None or not (one.is_polynomial and other.is_polynomial):
        return None
    # The same line may bound different regions: x + y < 3 is neither x + y <= 3 nor 3 < x + y.
    return gold.kind == answer.kind and factor > 0


def _same_equation(one: Formula, other: Formula) -> bool | None:
    # (x - 1)^2 = 0 equals x = 1, but in practice only multiples of equal degree are the same equation.
    return True if ratio(one, other) is not None else False if degree(one) == degree(other) > 0 else None


def _same_set(
    gold: tuple[Formula, ...],
    answer: tuple[Formula, ...],
    equals: Callable[[Formula, Formula], bool | None] = same,
) -> bool | None:
    missing = [_any(equals(one, other) for other in answer) for one in gold]
    excess = [_any(equals(one, other) for one in gold) for other in answer]
    return _all(missing + excess)


def _any(found: Iterable[bool | None]) -> bool | None:
    known = list(found)
    return True if True in known else None if None in known else False


def _all(found: Iterable[bool | None]) -> bool | None:
    known = list(found)
    return False if False in known else None if None in known else True
