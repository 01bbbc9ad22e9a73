r"""Exact comparison of formulas without functions: ``\frac{1}{\sqrt{3}}`` equals ``\frac{\sqrt{3}}{3}``.

A formula is a quotient of two polynomials with rational coefficients. The polynomials contain variables, ``\pi``,
``e``, and one letter for the square root of each prime and of -1. The squares of these letters are known. Formulas form
a field, in which a/b = c/d if and only if ad = cb. Computer algebra handles everything else (functions, roots of sums,
variables in exponents).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import eq, mul, sub
from typing import TypeVar

from rewardkit.rewards.math_equal.comparison import Leaves, Verdict, compare, count
from rewardkit.rewards.math_equal.grammar import VECTORS, Algebra, Reader, Unreadable, tokens
from rewardkit.rewards.math_equal.plain_numbers import Numeral, read
from rewardkit.rewards.math_equal.structure import BRACKETS, LEAF, Node
from rewardkit.rewards.math_equal.units import clash, differ, without_unit

# Arbitrary: together, these limits keep even the worst formula to about ten thousand products of terms.
MAX_CHARACTERS = 200
MAX_TERMS = 24
MAX_BITS = 512
MAX_POWER = 20
MAX_RADICAND = 1_000_000

_Result = TypeVar("_Result")
Monomial = tuple[tuple[str, int], ...]
"""Sorted (letter, power) pairs. A letter that starts with a root sign is the root of the number after the sign."""

Polynomial = dict[Monomial, Fraction]

_I: Monomial = (("√-1", 1),)
_ONE: Polynomial = {(): Fraction(1)}


@dataclass(frozen=True)
class Formula:
    """A quotient of polynomials.

    The operators raise `Unreadable` if they would divide by zero or take too long; see `attempted`.

    Attributes:
        above: the numerator.
        below: the denominator.
        arithmetic: the number of unevaluated operations between rational numbers in the formula as written.
    """

    above: Polynomial
    below: Polynomial
    arithmetic: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Formula):
            return NotImplemented
        return _times(self.above, other.below) == _times(other.above, self.below)

    def __add__(self, other: Formula) -> Formula:
        if self.below == other.below:
            return Formula(_sum_of(self.above, other.above), self.below)
        above = _sum_of(_times(self.above, other.below), _times(other.above, self.below))
        return Formula(above, _times(self.below, other.below))

    def __neg__(self) -> Formula:
        return Formula(_scaled(self.above, Fraction(-1)), self.below)

    def __sub__(self, other: Formula) -> Formula:
        return self + -other

    def __mul__(self, other: Formula) -> Formula:
        return Formula(_times(self.above, other.above), _times(self.below, other.below))

    def __truediv__(self, other: Formula) -> Formula:
        if other.is_zero:
            raise Unreadable
        return Formula(_times(self.above, other.below), _times(self.below, other.above))

    @property
    def is_zero(self) -> bool:
        return not self.above

    @property
    def is_polynomial(self) -> bool:
        return set(self.below) == {()} and self.below[()] > 0

    __hash__ = None  # type: ignore[assignment]  # equal formulas may have different polynomials


def formula(cleaned: str) -> Formula | None:
    """Parse cleaned text as a formula; return None if it is not a formula or is too large."""
    if len(cleaned) > MAX_CHARACTERS:
        return None
    try:
        reader = Reader(tokens(cleaned), _FIELD)
        value = reader.whole()
    except Unreadable:
        return None
    return Formula(value.above, value.below, reader.arithmetic)


def attempted(operation: Callable[[Formula, Formula], _Result], left: Formula, right: Formula) -> _Result | None:
    """Apply an operator to two formulas; return None if the result is undefined or would take too long."""
    try:
        return operation(left, right)
    except Unreadable:
        return None


def rational(value: Formula | None) -> Fraction | None:
    """Return a formula's value if it is rational, including after cancellation (2 for 2π/π); otherwise None."""
    if value is None or not value.above:
        return None if value is None else Fraction(0)
    monomial = next(iter(value.above))
    if monomial not in value.below:
        return None
    guess = value.above[monomial] / value.below[monomial]
    return guess if value.above == _scaled(value.below, guess) else None


def variables(value: Formula) -> set[str]:
    """Return the variables in a formula: all letters except constants and roots."""
    polynomials = (value.above, value.below)
    return {letter for terms in polynomials for monomial in terms for letter, _ in monomial if _is_variable(letter)}


def split_by(value: Formula, letter: str) -> tuple[Formula, Formula] | None:
    """Return the slope and intercept of a formula that is linear in `letter`; None if it is not linear."""
    if any(name == letter for monomial in value.below for name, _ in monomial):
        return None
    slope: Polynomial = {}
    rest: Polynomial = {}
    for monomial, coefficient in value.above.items():
        powers = dict(monomial)
        power = powers.pop(letter, 0)
        if power > 1:
            return None
        (slope if power else rest)[tuple(sorted(powers.items()))] = coefficient
    return Formula(slope, value.below), Formula(rest, value.below)


def ratio(left: Formula, right: Formula) -> Fraction | None:
    """Return the rational ratio of the numerators, left divided by right; None if there is none."""
    if not left.above or left.above.keys() != right.above.keys():
        return None
    ratios = {coefficient / right.above[monomial] for monomial, coefficient in left.above.items()}
    return ratios.pop() if len(ratios) == 1 else None


def degree(value: Formula) -> int:
    """Return the numerator's degree; 0 if any of its coefficients is irrational."""
    if not all(_is_variable(letter) for monomial in value.above for letter, _ in monomial):
        return 0
    return max((sum(power for _, power in monomial) for monomial in value.above), default=0)


def bound(positive: Formula) -> tuple[str, Formula, bool] | None:
    """Solve ``positive > 0`` for a formula that is linear in its only variable; return None for other formulas.

    The result is the variable, the bound, and whether the variable is above the bound.
    """
    variables = [(monomial, letter) for monomial in positive.above for letter, _ in monomial if _is_variable(letter)]
    if len(variables) != 1 or not positive.is_polynomial:
        return None
    monomial, letter = variables[0]
    if monomial != ((letter, 1),):
        return None
    slope = positive.above[monomial]
    rest = {other: coefficient for other, coefficient in positive.above.items() if other != monomial}
    return letter, Formula(_scaled(rest, -1 / slope), _ONE), slope > 0


def _is_variable(letter: str) -> bool:
    return letter[0] != "√" and letter not in ("\\pi", "e")


class _Field(Algebra[Formula]):
    """The algebra of quotients of polynomials."""

    def constant(self, value: Fraction) -> Formula:
        return Formula({(): value} if value else {}, _ONE)

    def letter(self, name: str) -> Formula:
        return Formula({(("√-1" if name == "i" else name, 1),): Fraction(1)}, _ONE)

    def power(self, base: Formula, exponent: Formula) -> Formula:
        number = self._number(exponent)
        if number == Fraction(1, 2):
            return self.root(base, None)
        if number.denominator != 1 or abs(number) > MAX_POWER:
            raise Unreadable
        factor = base if number >= 0 else Formula(base.below, base.above)
        power = Formula(_ONE, _ONE)
        for _ in range(abs(int(number))):
            power = power * factor
        if not power.below or (number <= 0 and not base.above):
            raise Unreadable
        return power

    def root(self, radicand: Formula, index: Formula | None) -> Formula:
        if index is not None:
            raise Unreadable
        number = self._number(radicand)
        coefficient, primes = _square_free(number.numerator * number.denominator)
        monomial = tuple(sorted((f"√{prime}", 1) for prime in primes))
        return Formula({monomial: Fraction(coefficient, number.denominator)} if number else {}, _ONE)

    def apply(self, function: str, arguments: list[Formula]) -> Formula:
        raise Unreadable

    def is_vector(self, value: Formula) -> bool:
        return any(letter.startswith(VECTORS) for monomial in value.above for letter, _ in monomial)

    def kind(self, value: Formula) -> str:
        parts = set(value.above)
        if set(value.below) != {()} or not parts <= {(), _I}:
            return ""
        return "complex" if len(parts) == 2 else "imaginary" if _I in parts else "real"

    def is_worked_out(self, value: Formula) -> bool:
        return False

    def _number(self, value: Formula) -> Fraction:
        if not self.is_rational(value):
            raise Unreadable
        return value.above.get((), Fraction(0)) / value.below[()]


_FIELD = _Field()


def infinity(sign: int) -> Formula:
    """Return an infinite interval end, represented by a letter that no formula contains."""
    return Formula({(("∞", 1),): Fraction(sign)}, _ONE)


def _scaled(polynomial: Polynomial, factor: Fraction) -> Polynomial:
    return {monomial: coefficient * factor for monomial, coefficient in polynomial.items()}


def _sum_of(polynomial: Polynomial, other: Polynomial) -> Polynomial:
    result = dict(polynomial)
    for monomial, coefficient in other.items():
        _add(result, monomial, coefficient)
    return result


def _add(polynomial: Polynomial, monomial: Monomial, coefficient: Fraction) -> None:
    total = polynomial.get(monomial, Fraction(0)) + coefficient
    if max(total.numerator.bit_length(), total.denominator.bit_length()) > MAX_BITS:
        raise Unreadable
    if total:
        polynomial[monomial] = total
    else:
        polynomial.pop(monomial, None)
    if len(polynomial) > MAX_TERMS:
        raise Unreadable


def _times(polynomial: Polynomial, other: Polynomial) -> Polynomial:
    if other is _ONE or polynomial is _ONE:
        return polynomial if other is _ONE else other
    result: Polynomial = {}
    for left, first in polynomial.items():
        for right, second in other.items():
            factor, monomial = _product_of(left, right)
            _add(result, monomial, first * second * factor)
    return result


def _product_of(left: Monomial, right: Monomial) -> tuple[int, Monomial]:
    """Return the product of two monomials as a monomial and an integer factor from the squares of roots."""
    factor = 1
    powers = dict(left)
    for letter, power in right:
        powers[letter] = powers.get(letter, 0) + power
        if letter[0] == "√" and powers[letter] == 2:
            factor *= int(letter[1:])
            del powers[letter]
    return factor, tuple(sorted(powers.items()))


def _square_free(number: int) -> tuple[int, list[int]]:
    """Return the root of `number` as a coefficient and primes under roots: (2, [3]) for 12, (1, [-1]) for -1."""
    if abs(number) > MAX_RADICAND:
        raise Unreadable
    coefficient, primes = 1, [-1] if number < 0 else []
    rest, divisor = abs(number), 2
    while divisor * divisor <= rest:
        if rest % (divisor * divisor) == 0:
            coefficient, rest = coefficient * divisor, rest // (divisor * divisor)
        elif rest % divisor == 0:
            primes.append(divisor)
            rest //= divisor
        else:
            divisor += 1
    return coefficient, primes + [rest] * (rest > 1)


# Compare expressions in this process, as plain numbers or quotients of polynomials, as far as these can decide.


_INFINITY = {"\\infty": 1, "+\\infty": 1, "-\\infty": -1, "+ \\infty": 1, "- \\infty": -1}


# Arbitrary: more than the number of different formulas in a batch.
@lru_cache(maxsize=4096)
def value(text: str) -> tuple[Formula | None, Numeral | None, str]:
    """Parse an expression. Return it as a formula, or else as a plain number, with its unit."""
    if text in _INFINITY:
        return infinity(_INFINITY[text]), None, ""
    closed_form = formula(text)
    if closed_form is not None:
        return closed_form, None, ""
    number = read(text)
    if number is not None:
        return None, number, number.unit
    bare, unit = without_unit(text)
    closed_form = formula(bare) if unit else None
    return (closed_form, None, unit) if closed_form else (None, None, "")


class ExactLeaves(Leaves):
    """Exact comparisons between expressions. The result is None if an expression is outside the field of formulas."""

    def same(self, gold: str, answer: str) -> Verdict:
        first, number, unit = value(gold)
        second, other_number, other_unit = value(answer)
        if number or other_number:
            number, other_number = number or _numeral(first, unit), other_number or _numeral(second, other_unit)
            if number and other_number:
                return number.equals(other_number)
            return None
        if first is None or second is None:
            return None
        return False if differ(unit, other_unit, gold + answer) else attempted(eq, first, second)

    def same_equation(self, gold: Node, answer: Node) -> Verdict:
        first, second = _zero(gold), _zero(answer)
        if first is None or second is None:
            return None
        if clash(_units(gold), _units(answer)):
            return False
        # Equations of different degrees can have the same solutions, such as (x - 1)^2 = 0 and x = 1, so they stay
        # undecided. For equal degrees, only multiples count as the same equation.
        return True if ratio(first, second) is not None else False if degree(first) == degree(second) > 0 else None

    def same_inequality(self, gold: Node, answer: Node) -> Verdict:
        first, second = _zero(gold), _zero(answer)
        if first is None or second is None:
            return None
        if clash(_units(gold), _units(answer)):
            return False
        factor = ratio(first, second)
        if factor is not None and first.is_polynomial and second.is_polynomial:
            # The same line can bound different regions: x + y < 3 is neither x + y <= 3 nor 3 < x + y.
            return gold.kind == answer.kind and (factor > 0 or gold.kind == "\\ne")
        return _same_interval(gold, answer)

    def same_numbers(self, gold: Node, answer: Node) -> Verdict:
        return _same_interval(gold, answer)

    def proportional(self, gold: Sequence[str], answer: Sequence[str]) -> Verdict:
        first, second = [value(text)[0] for text in gold], [value(text)[0] for text in answer]
        if len(first) != len(second) or clash((value(text)[2] for text in gold), (value(text)[2] for text in answer)):
            return False
        parts = [(left, right) for left, right in zip(first, second, strict=True) if left and right]
        if len(parts) < len(first):
            return None
        pivot = next(((left, right) for left, right in parts if left.above), None)
        if pivot is None or not any(right.above for _, right in parts):
            return False  # 0:0 is not a ratio
        crossed = [(attempted(mul, pivot[0], right), attempted(mul, pivot[1], left)) for left, right in parts]
        verdicts = [attempted(eq, left, right) if left and right else None for left, right in crossed]
        return False if False in verdicts else None if None in verdicts else True


def _numeral(closed_form: Formula | None, unit: str) -> Numeral | None:
    if closed_form is None or not set(closed_form.above) <= {()} or set(closed_form.below) != {()}:
        return None
    return Numeral(closed_form.above.get((), Fraction(0)) / closed_form.below[()], unit=unit)


def _units(relation: Node) -> list[str]:
    return [value(text)[2] for text in relation.leaves()]


def _zero(relation: Node) -> Formula | None:
    """Return a relation's right side minus its left side; None if a side is not a formula."""
    if any(part.kind != LEAF for part in relation.parts):
        return None
    left, right = (value(part.text)[0] for part in relation.parts)
    return attempted(sub, right, left) if left and right else None


@dataclass(frozen=True)
class _Interval:
    brackets: str
    low: Formula
    high: Formula
    variable: str


def _interval(node: Node) -> _Interval | None:
    """Return a node, which may be an inequality in one variable, as an interval: ``(3, \\infty)`` for ``2x > 6``."""
    if node.kind in BRACKETS:
        if len(node.parts) != 2 or any(part.kind != LEAF for part in node.parts):
            return None
        low, high = (value(part.text)[0] for part in node.parts)
        return _Interval(node.kind, low, high, node.text) if low and high else None
    if node.kind not in ("<", "\\le") or (zero := _zero(node)) is None or (boundary := bound(zero)) is None:
        return None
    letter, end, is_lower = boundary
    left, right = ("(", ")") if node.kind == "<" else ("[", "]")
    if is_lower:
        return _Interval(left + ")", end, infinity(1), letter)
    return _Interval("(" + right, infinity(-1), end, letter)


def _same_interval(gold: Node, answer: Node) -> Verdict:
    first, second = _interval(gold), _interval(answer)
    if first is None or second is None:
        return None
    if first.brackets != second.brackets or (first.variable and second.variable and first.variable != second.variable):
        return False
    low, high = attempted(eq, first.low, second.low), attempted(eq, first.high, second.high)
    return False if False in (low, high) else None if None in (low, high) else True


EXACT = ExactLeaves()


def decide(gold: Node, answer: Node) -> Verdict:
    """Compare two structures without computer algebra; return None if that is not possible."""
    return compare(gold, answer, EXACT)


def arithmetic(node: Node) -> int | None:
    """Return the number of unevaluated arithmetic operations in `node`; None if an expression is outside the field."""
    if any(value(leaf) == (None, None, "") for leaf in node.leaves()):
        return None
    return count(node, _arithmetic)


def _arithmetic(text: str) -> int:
    closed_form, number, _ = value(text)
    return closed_form.arithmetic if closed_form else int(number.divided) if number else 0


def letters(node: Node) -> set[str]:
    """Return the variables in all formulas in `node`."""
    return {letter for text in node.leaves() if (closed_form := value(text)[0]) for letter in variables(closed_form)}
