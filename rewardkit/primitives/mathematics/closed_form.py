r"""Formulas without functions, compared exactly: ``\frac{1}{\sqrt{3}}`` is ``\frac{\sqrt{3}}{3}``.

A formula is a quotient of two polynomials with rational coefficients. Its letters are variables, ``\pi``, ``e``, and
one letter for the root of each prime and of -1, whose square is known. These form a field, in which a/b = c/d exactly
if ad = cb. Everything else (functions, roots of sums, powers with variables) is left to computer algebra.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

# Together these limit the worst formula to about ten thousand products of terms.
MAX_CHARACTERS = 200
MAX_DEPTH = 16
MAX_TERMS = 24
MAX_BITS = 512
MAX_POWER = 20
MAX_RADICAND = 1_000_000

Monomial = tuple[tuple[str, int], ...]
"""Letters with their powers, in order; a letter that starts with a root sign is the root of the number after it."""


Polynomial = dict[Monomial, Fraction]

_TOKEN = re.compile(r"\\[A-Za-z]+|[0-9]*\.[0-9]+|[0-9]+|[A-Za-z]|[-+*/^(){}_]")
_LETTER = re.compile(r"[A-Za-z]|\\(?:alpha|beta|gamma|delta|epsilon|theta|lambda|mu|nu|rho|sigma|tau|phi|omega|pi)")
_TIMES = frozenset(("\\cdot", "\\times", "*"))
_WORD = re.compile(r"(?<![\\A-Za-z])(?:[A-Za-z]{3}|or(?![A-Za-z]))")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_FUNCTIONS = frozenset("fgh")
_ONE: Polynomial = {(): Fraction(1)}


class _Outside(Exception):
    """Not a formula of this kind, or one that is too large."""


@dataclass(frozen=True)
class Formula:
    """A quotient of polynomials, and how many operations between rational numbers its notation leaves to be done."""

    above: Polynomial
    below: Polynomial
    arithmetic: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Formula):
            return NotImplemented
        return _times(self.above, other.below) == _times(other.above, self.below)

    @property
    def is_polynomial(self) -> bool:
        return set(self.below) == {()} and self.below[()] > 0

    __hash__ = None  # type: ignore[assignment]  # equal formulas are written in many ways


def formula(cleaned: str) -> Formula | None:
    """Parse a cleaned text as a formula; None if it is not one of these."""
    bare = _COMMAND.sub(" ", cleaned)
    if len(cleaned) > MAX_CHARACTERS or _WORD.search(bare):
        return None
    try:
        return _Reader(_tokens(cleaned)).whole()
    except _Outside:
        return None


def same(one: Formula, other: Formula) -> bool | None:
    """Return whether two formulas are equal; None if that would take too long."""
    try:
        return one == other
    except _Outside:
        return None


def difference(one: Formula, other: Formula) -> Formula | None:
    """Return the first formula minus the second; None if that would take too long."""
    try:
        return _plus(one, other, Fraction(-1))
    except _Outside:
        return None


def ratio(one: Formula, other: Formula) -> Fraction | None:
    """Return the rational number by which one numerator is a multiple of the other, if there is one."""
    if not one.above or one.above.keys() != other.above.keys():
        return None
    ratios = {coefficient / other.above[monomial] for monomial, coefficient in one.above.items()}
    return ratios.pop() if len(ratios) == 1 else None


def degree(value: Formula) -> int:
    """Return the degree of the numerator; 0 if its coefficients are not rational."""
    if not all(_is_variable(letter) for monomial in value.above for letter, _ in monomial):
        return 0
    return max((sum(power for _, power in monomial) for monomial in value.above), default=0)


def bound(positive: Formula) -> tuple[str, Formula, bool] | None:
    """Solve formula > 0 for a formula linear in one variable: the variable, its bound, whether it lies above it."""
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


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    while position < len(text):
        if text[position] == " ":
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise _Outside
        tokens.append(match[0])
        position = match.end()
    return tokens


class _Reader:
    """Parse tokens from left to right: sums of products of powers."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0
        self._arithmetic = 0

    def whole(self) -> Formula:
        value = self._sum()
        if self._next():
            raise _Outside
        return Formula(value.above, value.below, self._arithmetic)

    def _next(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next()
        self._position += 1
        return token

    def _skip(self, token: str) -> None:
        if self._take() != token:
            raise _Outside

    def _sum(self) -> Formula:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Outside
        sign = self._take() if self._next() in ("+", "-") else "+"
        value: Formula | None = None
        rationals = 0
        while True:
            term = self._product()
            rationals += _is_rational(term)
            signed = Fraction(-1 if sign == "-" else 1)
            value = Formula(_scaled(term.above, signed), term.below) if value is None else _plus(value, term, signed)
            if self._next() not in ("+", "-"):
                break
            sign = self._take()
        self._arithmetic += max(0, rationals - 1)
        self._depth -= 1
        return value

    def _product(self) -> Formula:
        factors, divisors = [self._power()], []
        previous = self._tokens[self._position - 1]
        while token := self._next():
            if token in _TIMES:
                self._take()
                factors.append(self._power())
            elif token == "/":
                self._take()
                divisors.append(self._power())
            elif token in ("+", "-", ")", "}"):
                break
            else:
                # 1/2x is ambiguous, 2 1/2 is a mixed number, x2 and 2 3 are invalid.
                if divisors or token[0].isdigit() or token[0] == "." or (token == "\\frac" and previous[0].isdigit()):
                    raise _Outside
                if token == "(" and previous in _FUNCTIONS:
                    raise _Outside
                factors.append(self._power())
            previous = self._tokens[self._position - 1]
        value = factors[0]
        for factor in factors[1:]:
            value = Formula(_times(value.above, factor.above), _times(value.below, factor.below))
        for divisor in divisors:
            value = _quotient(value, divisor)
        if not (len(factors) == len(divisors) == 1):
            self._arithmetic += max(0, sum(map(_is_rational, factors)) - 1)
        self._arithmetic += max(0, sum(map(_is_rational, divisors)) - 1)
        return value

    def _power(self) -> Formula:
        base = self._atom()
        if self._next() != "^":
            return base
        self._take()
        written = self._arithmetic
        exponent = self._rational(self._group())
        self._arithmetic = written
        if self._next() == "^":
            raise _Outside
        if exponent == Fraction(1, 2):
            return self._root(base)
        if exponent.denominator != 1 or abs(exponent) > MAX_POWER:
            raise _Outside
        self._arithmetic += _is_rational(base)
        above, below = (base.above, base.below) if exponent >= 0 else (base.below, base.above)
        power = Formula(_ONE, _ONE)
        for _ in range(abs(int(exponent))):
            power = Formula(_times(power.above, above), _times(power.below, below))
        if not power.below:
            raise _Outside
        return power

    def _group(self) -> Formula:
        self._skip("{")
        value = self._sum()
        self._skip("}")
        return value

    def _atom(self) -> Formula:
        token = self._take()
        if token in ("(", "{"):
            value = self._sum()
            self._skip(")" if token == "(" else "}")
            return value
        if token == "\\frac":
            return _quotient(self._group(), self._group())
        if token == "\\sqrt":
            return self._root(self._group())
        if token[:1].isdigit() or token[:1] == ".":
            return _constant(Fraction(token))
        if not _LETTER.fullmatch(token):
            raise _Outside
        return self._letter(token)

    def _letter(self, token: str) -> Formula:
        name = token  # R and r are different variables
        if self._next() == "_":
            self._take()
            self._skip("{")
            index = self._take()
            self._skip("}")
            if not index.isalnum():
                raise _Outside
            name += f"_{index}"
        return Formula({(("√-1" if name == "i" else name, 1),): Fraction(1)}, _ONE)

    def _root(self, radicand: Formula) -> Formula:
        number = self._rational(radicand)
        whole, primes = _square_free(number.numerator * number.denominator)
        if not primes:
            self._arithmetic += 1
        monomial = tuple(sorted((f"√{prime}", 1) for prime in primes))
        return Formula({monomial: Fraction(whole, number.denominator)} if number else {}, _ONE)

    def _rational(self, value: Formula) -> Fraction:
        if not _is_rational(value):
            raise _Outside
        return value.above.get((), Fraction(0)) / value.below[()]


def infinity(sign: int) -> Formula:
    """Return an infinite end of an interval: a letter that no formula contains."""
    return Formula({(("∞", 1),): Fraction(sign)}, _ONE)


def _constant(value: Fraction) -> Formula:
    return Formula({(): value} if value else {}, _ONE)


def _is_rational(value: Formula) -> bool:
    return set(value.above) <= {()} and set(value.below) == {()}


def _quotient(above: Formula, below: Formula) -> Formula:
    if not below.above:
        raise _Outside
    return Formula(_times(above.above, below.below), _times(above.below, below.above))


def _plus(one: Formula, other: Formula, sign: Fraction) -> Formula:
    added = _scaled(other.above, sign)
    if one.below == other.below:
        return Formula(_sum_of(one.above, added), one.below)
    above = _sum_of(_times(one.above, other.below), _times(added, one.below))
    return Formula(above, _times(one.below, other.below))


def _scaled(polynomial: Polynomial, factor: Fraction) -> Polynomial:
    return {monomial: coefficient * factor for monomial, coefficient in polynomial.items()}


def _sum_of(one: Polynomial, other: Polynomial) -> Polynomial:
    result = dict(one)
    for monomial, coefficient in other.items():
        _add(result, monomial, coefficient)
    return result


def _add(polynomial: Polynomial, monomial: Monomial, coefficient: Fraction) -> None:
    total = polynomial.get(monomial, Fraction(0)) + coefficient
    if max(total.numerator.bit_length(), total.denominator.bit_length()) > MAX_BITS:
        raise _Outside
    if total:
        polynomial[monomial] = total
    else:
        polynomial.pop(monomial, None)
    if len(polynomial) > MAX_TERMS:
        raise _Outside


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    if other is _ONE or one is _ONE:
        return one if other is _ONE else other
    result: Polynomial = {}
    for left, first in one.items():
        for right, second in other.items():
            factor, monomial = _product_of(left, right)
            _add(result, monomial, first * second * factor)
    return result


def _product_of(left: Monomial, right: Monomial) -> tuple[int, Monomial]:
    """Return the product of two monomials: a number (from squares of roots) and a monomial."""
    factor = 1
    powers = dict(left)
    for letter, power in right:
        powers[letter] = powers.get(letter, 0) + power
        if letter[0] == "√" and powers[letter] == 2:
            factor *= int(letter[1:])
            del powers[letter]
    return factor, tuple(sorted(powers.items()))


def _square_free(number: int) -> tuple[int, list[int]]:
    """Return a root as ``whole`` times the roots of ``primes``: 12 gives (2, [3]), -1 gives (1, [-1])."""
    if abs(number) > MAX_RADICAND:
        raise _Outside
    whole, primes = 1, [-1] if number < 0 else []
    rest, divisor = abs(number), 2
    while divisor * divisor <= rest:
        if rest % (divisor * divisor) == 0:
            whole, rest = whole * divisor, rest // (divisor * divisor)
        elif rest % divisor == 0:
            primes.append(divisor)
            rest //= divisor
        else:
            divisor += 1
    return whole, primes + [rest] * (rest > 1)
