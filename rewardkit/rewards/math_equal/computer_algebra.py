r"""Comparison of expressions with sympy, for worker processes only: ``\sin 2x`` equals ``2 \sin x \cos x``.

Only the worker imports this module (see `workers`), because it loads sympy, in which functions may hang or crash.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy
from sympy.core.function import AppliedUndef

from rewardkit.rewards.math_equal import comparison
from rewardkit.rewards.math_equal.comparison import Leaves
from rewardkit.rewards.math_equal.grammar import VECTORS, Algebra, Reader, Unreadable, tokens
from rewardkit.rewards.math_equal.plain_numbers import read
from rewardkit.rewards.math_equal.structure import (
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
    parse,
)
from rewardkit.rewards.math_equal.units import clash, differ, without_unit

# Parse expressions with the grammar and sympy's algebra: ``expression(r"\sin^2 x")`` is ``sin(x)**2``.


DEGREE = sympy.Symbol("°", positive=True)
_BASE = sympy.Symbol("base of log", positive=True)
"""The base of ``\\log`` if no base is written: 10 or e, depending on the author."""


class GreatestDivisor(sympy.Function):  # type: ignore[misc]  # sympy is not typed
    """The greatest common divisor of integers. Sympy's gcd is for polynomials, for which gcd(a, b) is 1."""

    @classmethod
    def eval(cls, *arguments: Any) -> Any:
        return _of_integers(sympy.igcd, arguments)


class LeastMultiple(sympy.Function):  # type: ignore[misc]
    """The least common multiple of integers."""

    @classmethod
    def eval(cls, *arguments: Any) -> Any:
        return _of_integers(sympy.ilcm, arguments)


def _of_integers(function: Any, arguments: tuple[Any, ...]) -> Any:
    if not all(argument.is_Integer for argument in arguments):
        return None
    return function(*arguments) if len(arguments) > 1 else abs(arguments[0])


_DOT = sympy.Function("dot")
_CONSTANTS = {"\\pi": sympy.pi, "e": sympy.E, "i": sympy.I, "°": DEGREE}
_COMPLEX = frozenset("zw")
_INFINITE = {"\\infty": sympy.oo, "+\\infty": sympy.oo, "-\\infty": -sympy.oo}
_TRIGONOMETRIC = frozenset(["sin", "cos", "tan", "cot", "sec", "csc"])
_FUNCTIONS: dict[str, Any] = {
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh, "arcsin": sympy.asin, "arccos": sympy.acos,
    "arctan": sympy.atan, "arccot": sympy.acot, "arcsec": sympy.asec, "arccsc": sympy.acsc, "ln": sympy.log,
    "exp": sympy.exp, "abs": sympy.Abs, "floor": sympy.floor, "ceil": sympy.ceiling, "max": sympy.Max,
    "min": sympy.Min, "gcd": GreatestDivisor, "lcm": LeastMultiple, "!": sympy.factorial, "binom": sympy.binomial,
}  # fmt: skip


class _Sympy(Algebra[Any]):
    """The algebra of sympy expressions, which sympy evaluates when they are created."""

    def constant(self, value: Fraction) -> Any:
        return sympy.Rational(value.numerator, value.denominator)

    def letter(self, name: str) -> Any:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name.startswith("\\overline ") and name[10] in _COMPLEX:
            return sympy.conjugate(self.letter(re.sub(r"[{}]", "", name[10:])))
        return sympy.Symbol(name) if name[0] in _COMPLEX else sympy.Symbol(name, real=True)

    def power(self, base: Any, exponent: Any) -> Any:
        if base == 0 and not exponent.is_positive:
            raise Unreadable
        return base**exponent

    def root(self, radicand: Any, index: Any | None) -> Any:
        if index is None:
            return sympy.sqrt(radicand)
        if not index.is_Integer and not index.is_Symbol:
            raise Unreadable
        if index.is_Integer and index % 2 == 1 and radicand.is_negative:
            return -((-radicand) ** (1 / index))
        return radicand ** (1 / index)

    def apply(self, function: str, arguments: list[Any]) -> Any:
        if function == "log":
            return sympy.log(*arguments) if len(arguments) == 2 else sympy.log(arguments[0]) / sympy.log(_BASE)
        if function in ("dot", "cross"):
            first, second = sorted(arguments, key=sympy.default_sort_key)
            if function == "dot":
                return _DOT(first, second)
            sign = 0 if first == second else 1 if first == arguments[0] else -1
            return sign * sympy.Function("cross")(first, second)
        if function == "lg":
            return sympy.log(arguments[0], 10)
        if function in _TRIGONOMETRIC:
            arguments = [argument.subs(DEGREE, sympy.pi / 180) for argument in arguments]
        value = (_FUNCTIONS.get(function) or sympy.Function(function))(*arguments)
        if value in (sympy.nan, sympy.zoo):
            raise Unreadable
        return value

    def is_vector(self, value: Any) -> bool:
        scalars = dict.fromkeys(value.atoms(sympy.Abs, _DOT), sympy.Integer(1))
        return any(letter.name.startswith(VECTORS) for letter in value.xreplace(scalars).free_symbols)

    def kind(self, value: Any) -> str:
        if value.is_Rational:
            return "real"
        if value.free_symbols or not value.has(sympy.I):
            return ""
        real, imaginary = sympy.expand(value).as_real_imag()
        return ("complex" if real else "imaginary") if real.is_Rational and imaginary.is_Rational else ""

    def is_worked_out(self, value: Any) -> bool:
        return not value.free_symbols and not value.atoms(sympy.Function)


_ALGEBRA = _Sympy()
# Operators with bound variables or conditions, which the grammar does not cover.
_WRITTEN_OUT = re.compile(r"\\(?:sum|prod|lim|i*nt|det|mod|pmod|partial|nabla|begin\{vmatrix\})(?![A-Za-z])")


def expression(text: str) -> tuple[Any, int]:
    """Parse cleaned text, and return the sympy expression and the number of unevaluated arithmetic operations.

    Only operations between rational numbers count.

    Raises:
        Unreadable: `text` is not an expression or has no value.
    """
    if text in _INFINITE:
        return _INFINITE[text], 0
    reader = Reader(tokens(text), _ALGEBRA)
    value = reader.whole()
    if value.has(sympy.nan, sympy.zoo):
        raise Unreadable
    return value, reader.arithmetic


def is_operator(text: str) -> bool:
    r"""Return whether `text` has an operator that only math-verify can parse: ``\sum``, ``\int``, ``\lim``."""
    return _WRITTEN_OUT.search(text) is not None


# Test whether two sympy expressions are equal: ``2 \arcsin \sqrt{a}`` equals ``\arccos(1 - 2a)``.


# Values are computed to 160 digits and must agree to 120, which is enough to detect near misses such as
# e^{\pi\sqrt{163}}, an integer to 12 decimals. The other 40 digits are a margin for rounding. If values may be larger
# than MAX_SIZE, agreement of their digits proves nothing, but a difference still proves that they are unequal.
DIGITS = 160
AGREEMENT = 120
MAX_SIZE = 60.0
ENOUGH = 5
"""The number of points at which two expressions must agree. The number is arbitrary: in practice, different answers do
not agree at that many unusual fractions."""

# Fractions of both signs, above and below 1, because arcsines, roots and logarithms are defined only on parts of the
# line.
_REALS = (*map(
    sympy.Rational, ("3/7", "13/11", "-5/9", "8/3", "1/5", "-17/8", "5/6", "29/9", "2/3", "-1/4", "7/9", "6"),
),)  # fmt: skip
# 1 is left out, because n! and n^2 are equal there.
_NATURALS = (7, 3, 4, 9, 5, 2, 11, 6, 8, 10)
# Points in three quadrants, off the real line, because a real number equals its conjugate.
_OFF_AXIS = (sympy.Rational(2, 3) + 2 * sympy.I / 5, -sympy.Rational(7, 5) + 3 * sympy.I / 4, 1 - 4 * sympy.I / 3)
_FAR = (30, -12, 1000, -1000, 100, -100, 17, -45, 12, 64, -7, 15, 20, 25, -3, 10, 0, 1)
"""Test points at integers, where floors jump. They are far enough apart to be on both sides of the points at which an
absolute value or a binomial changes."""

_PIECEWISE = (
    sympy.Abs, sympy.Max, sympy.Min, sympy.floor, sympy.ceiling, sympy.Piecewise, sympy.Mod, sympy.sign, sympy.log,
    sympy.asin, sympy.acos, sympy.atan, sympy.acot, sympy.asec, sympy.acsc,
)  # fmt: skip
"""Functions that, like roots, can equal different formulas in different places."""

_INTEGRAL = (sympy.factorial, sympy.binomial, GreatestDivisor, LeastMultiple)
_JUMPING = (sympy.floor, sympy.ceiling, sympy.Mod)
MAX_NUMBERS = 6
"""The maximum number of constants in a formula around which more points are tested. The limit is arbitrary: each
constant adds four points, and a formula has few constants at which it jumps."""
FEW = 6
"""The number of points from `_FAR` for functions without jumps. The number is arbitrary: both signs at three
distances."""


# Arbitrary: the size only bounds the worker's memory.
@lru_cache(maxsize=1024)
def identical(first: Any, second: Any) -> bool:
    """Return whether two expressions are equal at all points at which both are defined."""
    if first == second:
        return True
    if first.has(sympy.oo, -sympy.oo) or second.has(sympy.oo, -sympy.oo):
        return False
    if first.atoms(AppliedUndef) or second.atoms(AppliedUndef):
        return bool(sympy.expand(first - second) == 0)
    difference = first - second
    if difference == 0:
        return True
    if difference.is_Rational:
        return False
    verdict = _sampled(first, second)
    if verdict is None:
        return bool(sympy.simplify(difference) == 0)
    return verdict


def _sampled(first: Any, second: Any) -> bool | None:
    """Return whether two expressions agree at all sample points; None if their agreement does not prove equality."""
    expressions = sympy.Tuple(first, second)
    discrete = expressions.has(*_INTEGRAL)
    letters = sorted(expressions.free_symbols, key=str)
    is_complex = expressions.has(sympy.I) or any(letter.is_real is None for letter in letters)
    agreed = 0
    largest = 0.0
    for point in _points(letters, discrete=discrete):
        left, right = first.subs(point), second.subs(point)
        largest = max(largest, _size(left), _size(right))
        agreement = _agree(left, right, is_complex=is_complex, modest=largest <= MAX_SIZE)
        if agreement is False:
            return False
        agreed += agreement is True
    for point in _other_points(expressions, letters, discrete=discrete):
        if _agree(first.subs(point), second.subs(point), is_complex=is_complex, modest=False) is False:
            return False
    return True if largest <= MAX_SIZE and agreed >= min(ENOUGH, 1 if not letters else ENOUGH) else None


def _points(letters: list[Any], *, discrete: bool) -> Iterator[dict[Any, Any]]:
    if not letters:
        yield {}
        return
    values = [sympy.Integer(number) for number in _NATURALS] if discrete else list(_REALS)
    for row in range(len(values)):
        chosen = itertools.cycle(values[row:] + values[:row])
        yield dict(zip(letters, itertools.islice(chosen, 0, 10 * len(letters), 1 if row % 2 else 3), strict=False))


def _other_points(expressions: Any, letters: list[Any], *, discrete: bool) -> Iterator[dict[Any, Any]]:
    """Yield additional points, to detect expressions that differ only piecewise or only off the real line."""
    planes = [letter for letter in letters if letter.is_real is None]
    if planes and not expressions.has(sympy.Max, sympy.Min):
        for row in range(len(_OFF_AXIS)):
            point = {letter: sympy.Rational(3, 2 + index) for index, letter in enumerate(letters)}
            yield point | {letter: _OFF_AXIS[(row + index) % len(_OFF_AXIS)] for index, letter in enumerate(planes)}
    if letters and not discrete:  # sin(27720 pi x) is 0 at all points with small denominators
        yield {letter: sympy.Rational(2 * index + 37, 1009) for index, letter in enumerate(letters)}
        yield {letter: sympy.sqrt(2) / (index + 3) for index, letter in enumerate(letters)}
    if not letters or not (
        discrete
        or expressions.has(*_PIECEWISE)
        or any(power.exp.is_Rational and power.exp.q > 1 for power in expressions.atoms(sympy.Pow))
    ):
        return
    numbers = sorted((number for number in expressions.atoms(sympy.Rational) if abs(number) > 2), key=abs)[
        -MAX_NUMBERS:
    ]
    if discrete or expressions.has(*_JUMPING):
        edges = [sign * number + step for number in numbers for sign in (1, -1) for step in (0, 1)]
        values = [*map(sympy.Integer, _FAR), *edges, *_jumps(expressions, letters)]
    else:
        values = [*map(sympy.Integer, _FAR[:FEW]), *(sign * number for number in numbers[-1:] for sign in (1, -1))]
    if discrete:
        values = [value for value in values if value.is_Integer and value >= 0]
    for row in range(len(values)):
        yield {letter: values[(row + 5 * index) % len(values)] for index, letter in enumerate(letters)}


def _jumps(expressions: Any, letters: list[Any]) -> Iterator[Any]:
    """Yield points at which the floor or ceiling of a linear expression in one letter jumps."""
    for floor in expressions.atoms(sympy.floor, sympy.ceiling):
        inner = floor.args[0]
        slope = sympy.diff(inner, letters[0]) if len(letters) == 1 else None
        if slope is not None and slope.is_Rational and slope != 0:
            yield from ((step - inner.subs(letters[0], 0)) / slope for step in (0, 1, 7))


def _agree(left: Any, right: Any, *, is_complex: bool, modest: bool) -> bool | None:
    """Return whether two numbers agree; None if either is undefined or their digits do not prove equality."""
    if left == right:
        return True
    if left.has(sympy.nan, sympy.zoo, sympy.oo) or right.has(sympy.nan, sympy.zoo, sympy.oo):
        return None
    if left.is_Rational and right.is_Rational:
        return False
    left_value, right_value = complex(sympy.N(left, 20)), complex(sympy.N(right, 20))
    if not is_complex:
        # Roots of real numbers may leave a tiny imaginary part from rounding.
        imaginary = [abs(value.imag) > 1e-12 * max(1.0, abs(value)) for value in (left_value, right_value)]
        if all(imaginary):
            return None
        if any(imaginary):
            return False
    # With 20 computed digits, a difference in the ninth cannot come from rounding.
    if abs(left_value - right_value) > 1e-9 * max(abs(left_value), abs(right_value)):
        return False
    if not modest:
        return None
    gap = abs(sympy.N(left, DIGITS) - sympy.N(right, DIGITS))
    return bool(gap < sympy.Float(10) ** -AGREEMENT)


def _size(number: Any) -> float:
    """Return an upper bound on the digits in a number without letters. It is large if any part is large or tiny."""
    if number.is_Rational:
        return float(len(str(abs(number.p))) + len(str(number.q)) - 1)
    if isinstance(number, sympy.exp):
        return 2.0 + _height(number.args[0])
    if isinstance(number, sympy.Pow):
        base, exponent = number.args
        if base == sympy.E:
            return 2.0 + _height(exponent)
        return 1.0 + _size(base) * max(1.0, _height(exponent)) + (0.0 if exponent.is_Rational else _size(exponent))
    if isinstance(number, (sympy.sinh, sympy.cosh, sympy.tanh, sympy.factorial, sympy.binomial)):
        return 2.0 + 2 * sum(_height(argument) for argument in number.args)
    return 1.0 + sum(map(_size, number.args))


def _height(number: Any) -> float:
    """Return the absolute value of a number or its `_size`, whichever is larger."""
    try:
        return max(_size(number), abs(complex(sympy.N(number, 15))))
    except (TypeError, ValueError, OverflowError):
        return float("inf")


# Test whether two structures describe the same set of real numbers.


MAX_ENDS = 24
"""The maximum number of interval ends. The limit is arbitrary: each end adds two cells in which both sets must be
evaluated."""
MAX_DEGREE = 6
"""The maximum degree of an inequality. The limit is arbitrary: answers have low degrees, and finding roots takes longer
for higher degrees."""


@dataclass(frozen=True)
class _Cell:
    """A cell on the real line: an end, or an open interval between two neighboring ends.

    Attributes:
        place: the cell's position on the line: 2 for the first end, 4 for the second, and odd numbers for intervals.
        sample: a point in the cell.
    """

    place: int
    sample: Any


def _pairs(node: Node) -> list[Node]:
    """Split a chain such as ``1 < |x| < 2`` into its inequalities."""
    signs = node.text.split()
    return [Node(sign, node.parts[index : index + 2]) for index, sign in enumerate(signs)]


def same_set(gold: Node, answer: Node) -> bool:
    """Return whether two structures contain the same real numbers.

    Raises:
        Unreadable: a part is not a set of real numbers, or the order of the ends is unknown.
    """
    variables = {letter for node in (gold, answer) for letter in _variables(node)}
    if len(variables) > 1:
        return False
    line = _Line([end for node in (gold, answer) for end in _ends(node)])
    return all(line.contains(gold, cell) == line.contains(answer, cell) for cell in line.cells())


def _variables(node: Node) -> set[str]:
    """Return the variables for which `node` describes values."""
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
    """Return the points at which an inequality in one variable may become true or false."""
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
    """The real line, divided into cells at interval ends."""

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
        between = [_Cell(2 * index + 1, sample) for index, sample in enumerate(samples)]
        return between + [_Cell(2 * index + 2, end) for index, end in enumerate(ends)]

    def _position(self, text: str) -> int:
        end = expression(text)[0]
        if end == sympy.oo:
            return 2 * len(self._ends) + 2
        if end == -sympy.oo:
            return 0
        return 2 + 2 * next(index for index, other in enumerate(self._ends) if identical(end, other))

    def contains(self, node: Node, cell: _Cell) -> bool:
        kind = node.kind
        if kind == ALL:
            return True
        if kind in (UNION, COMMON) or (kind == LIST and node.text in ("or", "and")):
            memberships = [self.contains(part, cell) for part in node.parts]
            return any(memberships) if kind == UNION or node.text == "or" else all(memberships)
        if kind == WITHOUT:
            return self.contains(node.parts[0], cell) and not any(self.contains(p, cell) for p in node.parts[1:])
        if kind == BUILDER:
            return self.contains(node.parts[0], cell)
        if kind == ORDER:
            return all(self._holds(pair, cell) for pair in _pairs(node))
        if kind == SET:
            return any(cell.place == self._position(_text(part)) for part in node.parts)
        if kind in BRACKETS and len(node.parts) == 2:
            low, high = (self._position(_text(part)) for part in node.parts)
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


# Compare structures with sympy at the leaves.


_NORMALIZATION = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none", equations=False
)
# Decimals are replaced by exact fractions, because sympy would parse 0.1 as a float with 15 digits.
_DECIMAL = re.compile(r"([0-9]*)\.([0-9]+)")
# The only input allowed for math-verify's parser: LaTeX in ASCII, without quotation marks, square brackets or colons.
_SAFE = re.compile(r"(?:\\[A-Za-z]+|[A-Za-z0-9+\-*/^_(){}=<>.,! &]|\\\\)*")
_LETTERS = re.compile(r"\\[A-Za-z]+|[A-Za-z]")


# Arbitrary: the size only bounds the worker's memory.
@lru_cache(maxsize=2048)
def leaf(text: str) -> tuple[Any, int, str]:
    """Return the sympy expression for a text, the number of unevaluated arithmetic operations, and the unit."""
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
    r"""Parse ``\sum_{k=1}^{n} k`` with math-verify's parser; reject results with letters that are not in the text."""
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
    """Return a decimal such as ``0.25`` as an exact fraction, because sympy would round floats."""
    integer, after = decimal.groups()
    return f"(\\frac{{{int(integer + after)}}}{{{10 ** len(after)}}})"


class SymbolicLeaves(Leaves):
    """Comparisons with sympy. They raise `Unreadable` if an expression cannot be parsed."""

    def same(self, gold: str, answer: str) -> bool:
        left, _, unit = leaf(gold)
        right, _, other_unit = leaf(answer)
        return not differ(unit, other_unit, gold + answer) and identical(left, right)

    def same_equation(self, gold: Node, answer: Node) -> bool:
        return self._ratio(gold, answer) is not None

    def same_inequality(self, gold: Node, answer: Node) -> bool | None:
        ratio = self._ratio(gold, answer)
        if ratio is not None and gold.kind == answer.kind and (gold.kind == "\\ne" or ratio.is_positive):
            return True
        return None

    def _ratio(self, gold: Node, answer: Node) -> Any | None:
        """Return the constant factor between two relations, gold divided by answer; None if there is none."""
        if clash(*([leaf(text)[2] for text in node.leaves()] for node in (gold, answer))):
            return None
        first, second = (self._zero(node) for node in (gold, answer))
        if first.free_symbols != second.free_symbols or first == 0 or second == 0 or not first.free_symbols:
            return sympy.Integer(1) if first == second else None
        if gold.kind == "=":
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

    def same_numbers(self, gold: Node, answer: Node) -> bool:
        return same_set(gold, answer)

    def proportional(self, gold: Sequence[str], answer: Sequence[str]) -> bool:
        if len(gold) != len(answer):
            return False
        if clash((leaf(text)[2] for text in gold), (leaf(text)[2] for text in answer)):
            return False
        parts = list(zip([leaf(text)[0] for text in gold], [leaf(text)[0] for text in answer], strict=True))
        pivot = next((pair for pair in parts if pair[0] != 0), None)
        if pivot is None or all(right == 0 for _, right in parts):
            return False  # 0:0 is not a ratio
        return all(identical(pivot[0] * right, pivot[1] * left) for left, right in parts)


def arithmetic(text: str) -> int:
    """Return the number of unevaluated operations between rational numbers in an expression."""
    return leaf(text)[1]


warnings.simplefilter("ignore")

_LEAVES = SymbolicLeaves()
_UNREADABLE = (Unreadable, ArithmeticError, AttributeError, TypeError, ValueError, NotImplementedError, KeyError)
"""Errors that sympy raises for unsupported input, except errors that must end the worker."""


def check(gold: str) -> str:
    """Return "" if a gold answer can be parsed and evaluated, else the reason why it cannot."""
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
    """Compare an answer with the gold answer. Return the reason for a mismatch, or "" if they are equal.

    Args:
        gold: the gold answer.
        sides: the sides of the equation in the answer. All of them must equal `gold`, and the last one is the result.
        bounds: the interval that must contain the result; None for no limits.
        evaluated: if True, the result must not contain more unevaluated arithmetic than the gold answer.
    """
    expected = _parsed(gold)
    for side in sides:
        actual = _parsed(side)
        try:
            # Compare first: if the values are unequal, evaluation does not matter.
            if not comparison.compare(expected, actual, _LEAVES):
                return "is not equal"
            if evaluated and side is sides[-1] and _left(actual) > _left(expected):
                return "still has to be evaluated"
        except _UNREADABLE:
            return "cannot be read as mathematics"
    return near(sides[-1], *bounds) if bounds else ""


def near(text: str, low: Fraction, high: Fraction) -> str:
    """Return "" if an expression is a number between `low` and `high`, else the reason why it is not."""
    try:
        value = leaf(text)[0]
        # 30 digits are more than any rounded answer has.
        number = sympy.N(value, 30)
        bounds = (sympy.Rational(end.numerator, end.denominator) for end in (low, high))
        return "" if number.is_real and next(bounds) < number < next(bounds) else "is not near"
    except _UNREADABLE:
        return "cannot be read as mathematics"


# Arbitrary: the size only bounds the worker's memory.
@lru_cache(maxsize=1024)
def _parsed(text: str) -> Node:
    """Parse text with a cache, because each gold answer is compared with all completions for its prompt."""
    return parse(text)


def _left(node: Node) -> int:
    return comparison.count(node, arithmetic)
