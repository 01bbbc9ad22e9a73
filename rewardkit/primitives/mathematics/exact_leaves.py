"""Expressions compared in this process, as plain numbers or quotients of polynomials, where these can decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from rewardkit.primitives.mathematics.closed_form import (
    Formula,
    bound,
    degree,
    difference,
    formula,
    infinity,
    product,
    ratio,
    same,
    variables,
)
from rewardkit.primitives.mathematics.comparison import Leaves, Verdict, compare, count
from rewardkit.primitives.mathematics.plain_numbers import Numeral, read
from rewardkit.primitives.mathematics.structure import BRACKETS, LEAF, Node
from rewardkit.primitives.mathematics.units import clash, differ, without_unit

_INFINITY = {"\\infty": 1, "+\\infty": 1, "-\\infty": -1, "+ \\infty": 1, "- \\infty": -1}


@lru_cache(maxsize=4096)
def value(text: str) -> tuple[Formula | None, Numeral | None, str]:
    """Return an expression as a formula, as a plain number, and its unit."""
    if text in _INFINITY:
        return infinity(_INFINITY[text]), None, ""
    found = formula(text)
    if found is not None:
        return found, None, ""
    number = read(text)
    if number is not None:
        return None, number, number.unit
    bare, unit = without_unit(text)
    found = formula(bare) if unit else None
    return (found, None, unit) if found else (None, None, "")


class ExactLeaves(Leaves):
    """Exact where both sides are in the field of `closed_form`."""

    def same(self, one: str, other: str) -> Verdict:
        first, number, unit = value(one)
        second, other_number, other_unit = value(other)
        if number or other_number:
            number, other_number = number or _numeral(first, unit), other_number or _numeral(second, other_unit)
            if number and other_number:
                return number.equals(other_number)
            return None
        if first is None or second is None:
            return None
        return False if differ(unit, other_unit, one + other) else same(first, second)

    def same_equation(self, one: Node, other: Node) -> Verdict:
        first, second = _zero(one), _zero(other)
        if first is None or second is None:
            return None
        if clash(_units(one), _units(other)):
            return False
        # (x - 1)^2 = 0 equals x = 1, but in practice only multiples of equal degree are the same equation.
        return True if ratio(first, second) is not None else False if degree(first) == degree(second) > 0 else None

    def same_inequality(self, one: Node, other: Node) -> Verdict:
        first, second = _zero(one), _zero(other)
        if first is None or second is None:
            return None
        if clash(_units(one), _units(other)):
            return False
        factor = ratio(first, second)
        if factor is not None and first.is_polynomial and second.is_polynomial:
            # The same line may bound different regions: x + y < 3 is neither x + y <= 3 nor 3 < x + y.
            return one.kind == other.kind and (factor > 0 or one.kind == "\\ne")
        return _same_interval(one, other)

    def same_numbers(self, one: Node, other: Node) -> Verdict:
        return _same_interval(one, other)

    def proportional(self, one: Sequence[str], other: Sequence[str]) -> Verdict:
        first, second = [value(text)[0] for text in one], [value(text)[0] for text in other]
        if len(first) != len(second) or clash((value(text)[2] for text in one), (value(text)[2] for text in other)):
            return False
        parts = [(left, right) for left, right in zip(first, second, strict=True) if left and right]
        if len(parts) < len(first):
            return None
        pivot = next(((left, right) for left, right in parts if left.above), None)
        if pivot is None or not any(right.above for _, right in parts):
            return False  # 0:0
        crossed = [(product(pivot[0], right), product(pivot[1], left)) for left, right in parts]
        verdicts = [same(left, right) if left and right else None for left, right in crossed]
        return False if False in verdicts else None if None in verdicts else True


def _numeral(found: Formula | None, unit: str) -> Numeral | None:
    if found is None or not set(found.above) <= {()} or set(found.below) != {()}:
        return None
    return Numeral(found.above.get((), Fraction(0)) / found.below[()], unit=unit)


def _units(relation: Node) -> list[str]:
    return [value(text)[2] for text in relation.leaves()]


def _zero(relation: Node) -> Formula | None:
    """Return the difference of the sides of a relation."""
    if any(part.kind != LEAF for part in relation.parts):
        return None
    left, right = (value(part.text)[0] for part in relation.parts)
    return difference(right, left) if left and right else None


@dataclass(frozen=True)
class _Interval:
    brackets: str
    low: Formula
    high: Formula
    variable: str


def _interval(node: Node) -> _Interval | None:
    """Return an interval, or an inequality of one variable as one: ``(3, \\infty)`` for ``2x > 6``."""
    if node.kind in BRACKETS:
        if len(node.parts) != 2 or any(part.kind != LEAF for part in node.parts):
            return None
        low, high = (value(part.text)[0] for part in node.parts)
        return _Interval(node.kind, low, high, node.text) if low and high else None
    if node.kind not in ("<", "\\le") or (zero := _zero(node)) is None or (found := bound(zero)) is None:
        return None
    letter, end, is_lower = found
    left, right = ("(", ")") if node.kind == "<" else ("[", "]")
    if is_lower:
        return _Interval(left + ")", end, infinity(1), letter)
    return _Interval("(" + right, infinity(-1), end, letter)


def _same_interval(one: Node, other: Node) -> Verdict:
    first, second = _interval(one), _interval(other)
    if first is None or second is None:
        return None
    if first.brackets != second.brackets or (first.variable and second.variable and first.variable != second.variable):
        return False
    low, high = same(first.low, second.low), same(first.high, second.high)
    return False if False in (low, high) else None if None in (low, high) else True


EXACT = ExactLeaves()


def decide(gold: Node, answer: Node) -> Verdict:
    """Compare two structures without computer algebra."""
    return compare(gold, answer, EXACT)


def arithmetic(node: Node) -> int | None:
    """Count the operations that are left to be done; None if an expression is outside the field."""
    if any(value(leaf) == (None, None, "") for leaf in node.leaves()):
        return None
    return count(node, _arithmetic)


def _arithmetic(text: str) -> int:
    found, number, _ = value(text)
    return found.arithmetic if found else int(number.divided) if number else 0


def letters(node: Node) -> set[str]:
    """Return the variables of the formulas in it."""
    return {letter for text in node.leaves() if (found := value(text)[0]) for letter in variables(found)}
