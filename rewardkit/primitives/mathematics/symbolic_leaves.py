r"""Expressions compared by sympy, for worker processes only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy

from rewardkit.primitives.mathematics.comparison import Leaves
from rewardkit.primitives.mathematics.grammar import Unreadable
from rewardkit.primitives.mathematics.identities import identical
from rewardkit.primitives.mathematics.plain_numbers import read
from rewardkit.primitives.mathematics.real_sets import same_set
from rewardkit.primitives.mathematics.structure import LEAF, Node
from rewardkit.primitives.mathematics.symbolic import expression, is_operator
from rewardkit.primitives.mathematics.units import clash, differ, without_unit

_NORMALIZATION = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none", equations=False
)
_DECIMAL = re.compile(r"([0-9]*)\.([0-9]+)")
_SAFE = re.compile(r"(?:\\[A-Za-z]+|[A-Za-z0-9+\-*/^_(){}=<>.,! &]|\\\\)*")
_LETTERS = re.compile(r"\\[A-Za-z]+|[A-Za-z]")


@lru_cache(maxsize=2048)
def leaf(text: str) -> tuple[Any, int, str]:
    """Return an expression, how much of it is left to be worked out, and its unit."""
    number = read(text)
    if number is not None:
        value = number.value / 100 if number.percent else number.value
        return sympy.Rational(value.numerator, value.denominator), int(number.divided), number.unit
    bare, unit = without_unit(text)
    if is_operator(bare):
        return _operator(bare), 0, unit
    value, arithmetic = expression(bare)
    return value, arithmetic, unit


def _operator(text: str) -> Any:
    r"""Read ``\sum_{k=1}^{n} k`` with math-verify's parser, which may not find letters that the text lacks."""
    if not _SAFE.fullmatch(text):
        raise Unreadable
    exact = _DECIMAL.sub(_as_fraction, text)
    try:
        parsed = latex2sympy(exact, is_real=True, convert_degrees=False, normalization_config=_NORMALIZATION)
        value = parsed.doit()
    except Exception as error:
        raise Unreadable from error
    named = {str(letter).strip("\\{}") for letter in parsed.atoms(sympy.Symbol)}
    written = {letter.strip("\\") for letter in _LETTERS.findall(text)}
    if not named <= written or not isinstance(value, sympy.Expr) or value.has(sympy.nan, sympy.zoo):
        raise Unreadable
    return value.subs({letter: sympy.Symbol(letter.name, real=True) for letter in value.free_symbols})


def _as_fraction(decimal: re.Match[str]) -> str:
    """Return ``0.25`` as an exact fraction: sympy would round floats before comparing them."""
    whole, after = decimal.groups()
    return f"(\\frac{{{int(whole + after)}}}{{{10 ** len(after)}}})"


class SymbolicLeaves(Leaves):
    """sympy's opinion; expressions that cannot be read raise `Unreadable`."""

    def same(self, one: str, other: str) -> bool:
        left, _, unit = leaf(one)
        right, _, other_unit = leaf(other)
        return not differ(unit, other_unit, one + other) and identical(left, right)

    def same_equation(self, one: Node, other: Node) -> bool:
        return self._ratio(one, other) is not None

    def same_inequality(self, one: Node, other: Node) -> bool | None:
        ratio = self._ratio(one, other)
        if ratio is not None and one.kind == other.kind and (one.kind == "\\ne" or ratio.is_positive):
            return True
        return None

    def _ratio(self, one: Node, other: Node) -> Any | None:
        """Return the number by which one relation is a multiple of the other."""
        if clash(*([leaf(text)[2] for text in node.leaves()] for node in (one, other))):
            return None
        first, second = (self._zero(node) for node in (one, other))
        if first.free_symbols != second.free_symbols or first == 0 or second == 0 or not first.free_symbols:
            return sympy.Integer(1) if first == second else None
        if one.kind == "=":
            first, second = (sympy.fraction(sympy.together(zero))[0] for zero in (first, second))
        ratio = sympy.cancel(first / second)
        if ratio.free_symbols:
            ratio = sympy.simplify(ratio)
        return None if ratio.free_symbols or not ratio.is_finite or ratio == 0 else ratio

    def _zero(self, node: Node) -> Any:
        if any(part.kind != LEAF for part in node.parts):
            raise Unreadable
        left, right = (leaf(part.text)[0] for part in node.parts)
        return right - left

    def same_numbers(self, one: Node, other: Node) -> bool:
        return same_set(one, other)

    def proportional(self, one: Sequence[str], other: Sequence[str]) -> bool:
        if len(one) != len(other):
            return False
        if clash((leaf(text)[2] for text in one), (leaf(text)[2] for text in other)):
            return False
        parts = list(zip([leaf(text)[0] for text in one], [leaf(text)[0] for text in other], strict=True))
        pivot = next((pair for pair in parts if pair[0] != 0), None)
        if pivot is None or all(right == 0 for _, right in parts):
            return False  # 0:0
        return all(identical(pivot[0] * right, pivot[1] * left) for left, right in parts)


def arithmetic(text: str) -> int:
    """Return how many operations between rational numbers an expression leaves to be done."""
    return leaf(text)[1]
