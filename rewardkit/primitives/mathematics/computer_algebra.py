r"""Computer algebra, for worker processes only: whether ``\sin 2x`` is ``2 \sin x \cos x``, by sympy.

Only the worker imports this module (see `workers`): it loads sympy, and the functions it calls may hang or crash.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from functools import lru_cache

import sympy

from rewardkit.primitives.mathematics import comparison
from rewardkit.primitives.mathematics.grammar import Unreadable
from rewardkit.primitives.mathematics.structure import Node, parse
from rewardkit.primitives.mathematics.symbolic_leaves import SymbolicLeaves, arithmetic, leaf

warnings.simplefilter("ignore")

_LEAVES = SymbolicLeaves()
_UNREADABLE = (Unreadable, ArithmeticError, AttributeError, TypeError, ValueError, NotImplementedError, KeyError)
"""What sympy raises for input that it does not support; what ends a worker is not among these."""


def check(gold: str) -> str:
    """Return why a gold answer cannot be read or evaluated, or ""."""
    try:
        structure = _parsed(gold)
        for text in structure.leaves():
            leaf(text)
    except _UNREADABLE:
        return "cannot be read as mathematics"
    return ""


def compare(
    gold: str, sides: tuple[str, ...], bounds: tuple[Fraction, Fraction] | None = None, *, evaluated: bool
) -> str:
    """Return why one of the answer's sides does not equal the gold answer, or "".

    Args:
        sides: the expressions that the answer states to be equal; the last one is the answer.
        bounds: two numbers between which the answer must be.
        evaluated: require that the last one leaves no more arithmetic to be done than the gold answer.
    """
    expected = _parsed(gold)
    for side in sides:
        found = _parsed(side)
        try:
            # In this order: what is not equal need not be evaluated.
            if not comparison.compare(expected, found, _LEAVES):
                return "is not equal"
            if evaluated and side is sides[-1] and _left(found) > _left(expected):
                return "still has to be evaluated"
        except _UNREADABLE:
            return "cannot be read as mathematics"
    return near(sides[-1], *bounds) if bounds else ""


def near(text: str, low: Fraction, high: Fraction) -> str:
    """Return why an expression without letters is not between two numbers, or ""."""
    try:
        value = leaf(text)[0]
        number = sympy.N(value, 30)
        bounds = (sympy.Rational(end.numerator, end.denominator) for end in (low, high))
        return "" if number.is_real and next(bounds) < number < next(bounds) else "is not near"
    except _UNREADABLE:
        return "cannot be read as mathematics"


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Node:
    """Parse a text, cached: the same gold answer comes with every generation of its prompt."""
    return parse(text)


def _left(node: Node) -> int:
    return comparison.count(node, arithmetic)
