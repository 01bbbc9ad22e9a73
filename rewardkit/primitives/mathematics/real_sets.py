r"""Whether two descriptions give the same set of real numbers, for worker processes only.

``x \le -2 \text{ or } x = 1`` is ``(-\infty, -2] \cup \{1\}``. The ends of all intervals cut the line into points and
open intervals between them, and two sets are equal if they contain the same of these cells. Each is tested once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import sympy

from rewardkit.primitives.mathematics.grammar import Unreadable
from rewardkit.primitives.mathematics.identities import identical
from rewardkit.primitives.mathematics.structure import (
    ALL,
    BRACKETS,
    BUILDER,
    COMMON,
    LEAF,
    LIST,
    ORDER,
    SET,
    UNION,
    WITHOUT,
    Node,
)
from rewardkit.primitives.mathematics.symbolic import expression

MAX_ENDS = 24
MAX_DEGREE = 6


@dataclass(frozen=True)
class _Cell:
    """A point, or an open interval between two neighboring ends.

    Attributes:
        place: twice the number of ends below it, plus one for an interval.
        sample: a point in it.
    """

    place: int
    sample: Any


def _pairs(node: Node) -> list[Node]:
    """Return the inequalities of a chain, ``1 < |x| < 2``."""
    signs = node.text.split()
    return [Node(sign, node.parts[place : place + 2]) for place, sign in enumerate(signs)]


def same_set(one: Node, other: Node) -> bool:
    """Return whether both contain the same real numbers.

    Raises:
        Unreadable: a part is not a set of real numbers, or the order of its ends is not known.
    """
    variables = {letter for node in (one, other) for letter in _variables(node)}
    if len(variables) > 1:
        return False
    line = _Line([end for node in (one, other) for end in _ends(node)])
    return all(line.contains(one, cell) == line.contains(other, cell) for cell in line.cells())


def _variables(node: Node) -> set[str]:
    """Return the letters that the descriptions are about."""
    if node.kind == ORDER:
        return {letter for pair in _pairs(node) for letter in _variables(pair)}
    if node.kind in BRACKETS or node.kind == BUILDER:
        inner = _variables(node.parts[0]) if node.kind == BUILDER else set()
        return inner | ({node.text} if node.text else set())
    if node.kind in ("<", "\\le", "\\ne", "="):
        return {str(letter) for part in node.parts for letter in expression(_text(part))[0].free_symbols}
    return {letter for part in node.parts if part.kind != LEAF for letter in _variables(part)}


def _text(node: Node) -> str:
    if node.kind != LEAF:
        raise Unreadable
    return node.text


def _ends(node: Node) -> list[Any]:
    if node.kind == LEAF:
        return [expression(node.text)[0]]
    if node.kind == ORDER:
        return [end for pair in _pairs(node) for end in _roots(pair)]
    if node.kind in ("<", "\\le", "\\ne", "="):
        return _roots(node)
    return [end for part in node.parts for end in _ends(part)]


def _difference(node: Node) -> Any:
    left, right = (expression(_text(part))[0] for part in node.parts)
    return right - left


def _roots(node: Node) -> list[Any]:
    """Return where an inequality of one variable may begin or end to hold."""
    difference = _difference(node)
    roots: list[Any] = []
    sizes = list(difference.atoms(sympy.Abs))
    if len(sizes) > 2:
        raise Unreadable
    for signs in itertools.product((1, -1), repeat=len(sizes)):
        plain = {size: sign * size.args[0] for size, sign in zip(sizes, signs, strict=True)}
        roots += _polynomial_roots(difference.subs(plain))
    return roots + [root for size in sizes for root in _polynomial_roots(size.args[0])]


def _polynomial_roots(difference: Any) -> list[Any]:
    above, below = sympy.fraction(sympy.together(difference))
    letters = above.free_symbols | below.free_symbols
    if len(letters) > 1:
        raise Unreadable
    if not letters:
        return []
    letter = letters.pop()
    roots: list[Any] = []
    for polynomial in (above, below):
        if not polynomial.is_polynomial(letter) or sympy.degree(polynomial, letter) > MAX_DEGREE:
            raise Unreadable
        if polynomial.has(letter):
            roots += [root for root in sympy.roots(polynomial, letter) if root.is_real]
            if sum(sympy.roots(polynomial, letter).values()) < sympy.degree(polynomial, letter):
                raise Unreadable
    return roots


class _Line:
    """The real line, cut at some ends."""

    def __init__(self, ends: list[Any]) -> None:
        if len(ends) > MAX_ENDS:
            raise Unreadable
        self._ends: list[Any] = []
        for end in ends:
            if end.free_symbols or end.has(sympy.I):
                raise Unreadable
            if end.is_finite and not any(identical(end, other) for other in self._ends):
                self._ends.append(end)
        self._ends.sort(key=lambda end: sympy.N(end, 60))

    def cells(self) -> list[_Cell]:
        ends = self._ends
        if not ends:
            return [_Cell(1, sympy.Integer(0))]
        inner = [(low + high) / 2 for low, high in itertools.pairwise(ends)]
        samples = [ends[0] - 1, *inner, ends[-1] + 1]
        between = [_Cell(2 * place + 1, sample) for place, sample in enumerate(samples)]
        return between + [_Cell(2 * place + 2, end) for place, end in enumerate(ends)]

    def _place(self, text: str) -> int:
        end = expression(text)[0]
        if end == sympy.oo:
            return 2 * len(self._ends) + 2
        if end == -sympy.oo:
            return 0
        return 2 + 2 * next(place for place, other in enumerate(self._ends) if identical(end, other))

    def contains(self, node: Node, cell: _Cell) -> bool:
        kind = node.kind
        if kind == ALL:
            return True
        if kind in (UNION, COMMON) or (kind == LIST and node.text in ("or", "and")):
            found = [self.contains(part, cell) for part in node.parts]
            return any(found) if kind == UNION or node.text == "or" else all(found)
        if kind == WITHOUT:
            return self.contains(node.parts[0], cell) and not any(self.contains(p, cell) for p in node.parts[1:])
        if kind == BUILDER:
            return self.contains(node.parts[0], cell)
        if kind == ORDER:
            return all(self._holds(pair, cell) for pair in _pairs(node))
        if kind == SET:
            return any(cell.place == self._place(_text(part)) for part in node.parts)
        if kind in BRACKETS and len(node.parts) == 2:
            low, high = (self._place(_text(part)) for part in node.parts)
            if low >= high:
                raise Unreadable
            return low - (kind[0] == "[") < cell.place < high + (kind[1] == "]")
        if kind in ("<", "\\le", "\\ne", "="):
            return self._holds(node, cell)
        raise Unreadable

    def _holds(self, node: Node, cell: _Cell) -> bool:
        difference = _difference(node)
        value = difference.subs(difference.free_symbols.pop(), cell.sample)
        if value.has(sympy.zoo, sympy.nan):
            return False
        is_zero = identical(value, sympy.Integer(0))
        if node.kind in ("=", "\\ne"):
            return is_zero == (node.kind == "=")
        return (node.kind == "\\le" and is_zero) or (not is_zero and bool(value > 0))
