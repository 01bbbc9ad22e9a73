r"""The grammar for expressions: sums of products of powers, parsed from left to right in any algebra.

`closed_form` uses the grammar with exact polynomials in this process, and `computer_algebra` uses it with sympy in a
worker. Every character must have a meaning. Text with unknown characters is unreadable, and so is ambiguous notation
(``1/2x``, ``\sin x/2``), because an incorrect guess would reward an incorrect answer.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from rewardkit.rewards.math_equal.characters import FUNCTIONS, GREEK_NAMES

MAX_DEPTH = 16
"""The maximum nesting depth. The limit is arbitrary: the reader recurses once per level, and answers have only a few
levels."""

V = TypeVar("V", bound="Expression")

# A degree sign, a command, a number, capitals that name a segment, a letter with primes, or a sign. Everything else is
# unreadable.
_TOKEN = re.compile(
    r"\^\{\s*\\circ\s*\}|\\[A-Za-z]+|[0-9]*\.[0-9]+|[0-9]+\.(?![0-9])|[0-9]+|(?<![a-z])[A-Z]{2,}(?![a-z])|[A-Za-z]'*|'+|[-+*/^(){}_\[\]|!,]"
)
LETTERS = frozenset("\\" + name for name in (*GREEK_NAMES.split(), "vartheta", "ell", "hbar"))
_ACCENTS = frozenset(("\\overline", "\\vec", "\\hat", "\\tilde", "\\dot", "\\overrightarrow", "\\widehat", "\\angle"))
_TIMES = frozenset(("\\cdot", "\\times", "*"))
_DIVIDED = frozenset(("/", "\\div"))
_ENDS = frozenset(("+", "-", ")", "}", "]", ",", "|", "\\rfloor", "\\rceil"))
_COMMANDS = frozenset("\\" + name for name in FUNCTIONS - {"sqrt"})
_FLOORS = {"\\lfloor": "\\rfloor", "\\lceil": "\\rceil"}
VECTORS = ("\\vec ", "\\overrightarrow ")
_KINDS = ("real", "imaginary", "complex")
_APPLIED = frozenset("fghFGW")
"""Letters that name a function if a parenthesis follows: f(2) is not f times 2."""

# "\frac{dy}{dx}" is a derivative, but "\frac{d}{2}" is a quotient.
_DERIVATIVE = re.compile(r"\\frac\{(?:d|\\partial)[^{}]*\}\{\s*(?:d|\\partial)\s*[A-Za-z]")
# Three or more letters, such as "act", may be a word, while "ab" is a product; "or" joins alternatives.
_WORD = re.compile(r"(?<![\\A-Za-z{])(?:[A-Za-z]{3,}|or(?![A-Za-z]))")
_COMMAND = re.compile(r"\\[A-Za-z]+")


def is_product(word: str) -> bool:
    """Return whether a word can be a product of variables: ``abc`` and ``xyz``, but not ``act``."""
    codes = sorted(map(ord, word))
    return len(word) < 3 or word.isupper() or codes == list(range(codes[0], codes[0] + len(codes)))


class Unreadable(Exception):
    """The text is not an expression in this grammar, or the algebra cannot represent it."""


class Expression(Protocol):
    """A value in an algebra. The operators raise `Unreadable` if the result is undefined."""

    def __add__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    @property
    def is_zero(self) -> bool | None: ...


class Algebra(ABC, Generic[V]):
    """The operations that construct values. They raise `Unreadable` if the algebra cannot represent the result."""

    @abstractmethod
    def constant(self, value: Fraction) -> V: ...

    @abstractmethod
    def letter(self, name: str) -> V: ...

    @abstractmethod
    def power(self, base: V, exponent: V) -> V: ...

    @abstractmethod
    def root(self, radicand: V, index: V | None) -> V: ...

    @abstractmethod
    def apply(self, function: str, arguments: list[V]) -> V: ...

    @abstractmethod
    def is_vector(self, value: V) -> bool:
        """Return whether a value is a vector. Vectors have two products, and the cross product depends on the order."""

    @abstractmethod
    def kind(self, value: V) -> str:
        """Return "real", "imaginary", or "complex" for a number with rational parts; "" for other values."""

    def is_rational(self, value: V) -> bool:
        return self.kind(value) == "real"

    @abstractmethod
    def is_worked_out(self, value: V) -> bool:
        """Return whether a function's value has no letters or functions, so that the answer must state the value."""


def tokens(cleaned: str) -> list[str]:
    """Split cleaned text into tokens; raise `Unreadable` if it contains words or unknown characters."""
    words = _WORD.findall(_COMMAND.sub(" ", cleaned))
    if _DERIVATIVE.search(cleaned) or "or" in words or not all(map(is_product, words)):
        raise Unreadable
    pieces, position = [], 0
    while position < len(cleaned):
        if cleaned[position] == " ":
            position += 1
            continue
        match = _TOKEN.match(cleaned, position)
        if match is None:
            raise Unreadable
        pieces.append("°" if match[0].startswith("^{") else match[0])
        position = match.end()
    return pieces


class Reader(Generic[V]):
    """A parser that converts tokens to a value in an algebra.

    Attributes:
        arithmetic: the number of unevaluated operations between rational numbers in the expression.
    """

    def __init__(self, tokens: list[str], algebra: Algebra[V]) -> None:
        self._tokens = tokens
        self._algebra = algebra
        self._position = 0
        self._depth = 0
        self._bars = 0
        self._is_power = False
        self.arithmetic = 0

    def whole(self) -> V:
        value = self._sum()
        if self._next():
            raise Unreadable
        return value

    def _next(self, ahead: int = 0) -> str:
        index = self._position + ahead
        return self._tokens[index] if index < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._next()
        self._position += 1
        return token

    def _skip(self, token: str) -> None:
        if self._take() != token:
            raise Unreadable

    def _sum(self) -> V:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise Unreadable
        sign = self._take() if self._next() in ("+", "-") else "+"
        value: V | None = None
        kinds = []
        while True:
            term = self._product()
            kinds.append(self._algebra.kind(term))
            term = -term if sign == "-" else term
            value = term if value is None else value + term
            if self._next() not in ("+", "-"):
                break
            sign = self._take()
            if sign == "+" and self._next() == "-":
                sign = self._take()  # 2k + -2
        real, imaginary, mixed = map(kinds.count, _KINDS)
        self.arithmetic += real + imaginary + mixed - 1 if mixed else max(0, real - 1) + max(0, imaginary - 1)
        self._depth -= 1
        return value

    def _product(self, *, argument: bool = False) -> V:
        factors, divisors = [self._power()], []
        previous = self._tokens[self._position - 1]
        is_of_vectors = False
        while (token := self._next()) and not (token == "|" and self._bars):
            if argument and (token in _COMMANDS or token in _TIMES or token == "("):
                break
            if token in _TIMES:
                self._take()
                factor = self._power()
                if not self._algebra.is_vector(factor):
                    factors.append(factor)
                elif is_of_vectors:
                    raise Unreadable  # a \cdot b \times c
                elif self._algebra.is_vector(factors[-1]):
                    is_of_vectors = True
                    factors[-1] = self._applied("cross" if token == "\\times" else "dot", [factors[-1], factor])
                else:
                    factors.append(factor)
            elif token in _DIVIDED:
                if argument:
                    raise Unreadable  # \sin x/2
                self._take()
                divisors.append(self._power())
            elif token in _ENDS:
                break
            elif token[0] in "0123456789." and self._is_power:
                factors.append(self._power())  # 2^{6} 3^{5}, 5!5!
            elif token[0] in "0123456789." or (token == "\\frac" and previous[0].isdigit()):
                mixed = self._mixed(factors, divisors) if token == "\\frac" else None
                if mixed is None:
                    raise Unreadable  # 2 3, x2
                factors = [mixed]
            else:
                if divisors or (token == "{" and self._next(1)[:1].isdigit()):
                    raise Unreadable  # 1/2x is ambiguous, and LaTeX prints 5{2} as 52
                factors.append(self._power())
            previous = self._tokens[self._position - 1]
        return self._multiplied(factors, divisors)

    def _mixed(self, factors: list[V], divisors: list[V]) -> V | None:
        r"""Parse the fraction in a mixed number such as ``2\frac{1}{2}``; return None if it is not a mixed number."""
        tokens = self._tokens[self._position : self._position + 7]
        if divisors or len(factors) != 1 or tokens[1::3] != ["{", "{"] or tokens[3:7:3] != ["}", "}"]:
            return None
        if not (self._tokens[self._position - 1].isdigit() and tokens[2].isdigit() and tokens[5].isdigit()):
            return None
        if not 0 < int(tokens[2]) < int(tokens[5]):
            return None
        self._position += 7
        value: V = factors[0] + self._algebra.constant(Fraction(int(tokens[2]), int(tokens[5])))
        return value

    def _multiplied(self, factors: list[V], divisors: list[V]) -> V:
        algebra = self._algebra
        real, imaginary, mixed = map([algebra.kind(factor) for factor in factors].count, _KINDS)
        if sum(map(algebra.is_vector, factors)) > 1:
            raise Unreadable
        value = factors[0]
        for factor in factors[1:]:
            value = value * factor
        for divisor in divisors:
            value = self._over(value, divisor)
        if not (len(factors) == len(divisors) == 1):
            self.arithmetic += max(0, real - 1)
        self.arithmetic += max(0, imaginary + mixed - 1) + max(0, sum(map(algebra.is_rational, divisors)) - 1)
        return value

    def _power(self) -> V:
        is_number = self._next()[:1].isdigit()
        start = self._position
        value = self._postfix(self._atom())
        self._is_power = is_number and self._position > start + 1
        while self._next() == "°":
            self._take()
            value = value * self._algebra.letter("°")
        return value

    def _postfix(self, base: V) -> V:
        algebra = self._algebra
        while self._next() == "!":
            self._take()
            self.arithmetic += algebra.is_rational(base)
            base = algebra.apply("!", [base])
        if self._next() != "^":
            return base
        self._take()
        exponent = self._group()
        if self._next() in ("^", "!"):
            raise Unreadable
        value = algebra.power(base, exponent)
        self.arithmetic += algebra.kind(base) in ("imaginary", "complex") and algebra.is_rational(exponent)
        self.arithmetic += algebra.is_rational(value) and (algebra.is_rational(exponent) or algebra.is_rational(base))
        return value

    def _group(self) -> V:
        self._skip("{")
        value = self._sum()
        self._skip("}")
        return value

    def _atom(self) -> V:
        token = self._take()
        algebra = self._algebra
        if token == "[" and self._next(1) == "]":
            raise Unreadable  # a footnote
        if token in ("(", "{", "["):
            bars, self._bars = self._bars, 0
            value = self._sum()
            self._bars = bars
            self._skip({"(": ")", "{": "}", "[": "]"}[token])
            return value
        if token == "\\frac":
            above, below = self._group(), self._group()
            return self._over(above, below)
        if token == "\\sqrt":
            return self._root()
        if token == "\\binom":
            above, below = self._group(), self._group()
            return self._applied("binom", [above, below])
        if token in _FLOORS:
            value = self._sum()
            self._skip(_FLOORS[token])
            return self._applied(token[2:], [value])
        if token == "|" and not self._bars:
            self._bars = 1
            value = self._sum()
            self._skip("|")
            self._bars = 0
            return self._applied("abs", [value])
        if token in _COMMANDS:
            return self._function(token[1:])
        if token[:1].isdigit() or token[:1] == ".":
            return algebra.constant(Fraction(token.removesuffix(".")))
        if token[:1].isalpha() or token in LETTERS or token in _ACCENTS:
            return self._letter(token)
        raise Unreadable

    def _over(self, above: V, below: V) -> V:
        self.arithmetic += self._algebra.kind(below) in ("imaginary", "complex")
        if below.is_zero:
            raise Unreadable
        value: V = above / below
        return value

    def _root(self) -> V:
        index = None
        if self._next() == "[":
            self._take()
            index = self._sum()
            self._skip("]")
        radicand = self._group()
        value = self._algebra.root(radicand, index)
        self.arithmetic += self._algebra.kind(value) != ""
        return value

    def _letter(self, token: str) -> V:
        name, primes = token.rstrip("'"), "'" * token.count("'")  # R and r are different variables
        if token in _ACCENTS:
            start = self._position
            if token == "\\angle":
                self._take()
            else:
                self._skip("{")
                while self._next() not in ("}", ""):
                    self._take()
                self._skip("}")
            inside = "".join(self._tokens[start : self._position]).strip("{}")
            if not re.fullmatch(r"[A-Za-z']+(?:_\{?[A-Za-z0-9]+\}?)?|\\[a-z]+", inside):
                raise Unreadable
            is_segment = token == "\\overline" and inside.isupper() and len(inside) > 1
            name = inside if is_segment else f"{token} {inside}"
        while self._next()[:1] == "'":
            primes += self._take()
        if self._next() == "_":
            self._take()
            self._skip("{")
            start = self._position
            while self._next() not in ("}", "{", ""):
                self._take()
            name += "_" + "".join(self._tokens[start : self._position])
            if start == self._position:
                raise Unreadable
            self._skip("}")
        while self._next()[:1] == "'":
            primes += self._take()
        name += primes
        if self._next() == "(" and (name[0] in _APPLIED or self._holds_a_number()) and name not in ("e", "i", "\\pi"):
            return self._applied(name, self._arguments())
        return self._algebra.letter(name)

    def _holds_a_number(self) -> bool:
        """Return whether the next parentheses contain only a number: N(0) is a function's value, not N times 0."""
        inside = self._next(1) in ("+", "-")
        return self._next(1 + inside)[:1].isdigit() and self._next(2 + inside) == ")"

    def _arguments(self) -> list[V]:
        self._skip("(")
        values = [self._sum()]
        while self._next() == ",":
            self._take()
            values.append(self._sum())
        self._skip(")")
        return values

    def _function(self, name: str) -> V:
        r"""Parse a function after its name: ``\sin^{2} x``, ``\log_{2} (x + 1)``, ``\ln 2x``."""
        algebra = self._algebra
        base: V | None = None
        exponent: V | None = None
        for _ in range(2):
            if self._next() == "_" and name == "log" and base is None:
                self._take()
                base = self._group()
            elif self._next() == "^" and exponent is None:
                self._take()
                exponent = self._group()
        if self._next() == "(" and name in ("max", "min", "gcd", "lcm"):
            return self._applied(name, self._arguments())
        if self._next() == "(":
            arguments = [self._atom()]
            if self._next() == "^" or self._next() == "!":
                if exponent is not None:
                    raise Unreadable
                self._take()
                exponent = self._group()
        else:
            arguments = [self._product(argument=True)]
        inverse = algebra.constant(Fraction(-1))
        if exponent is not None and exponent == inverse:
            if name not in ("sin", "cos", "tan", "cot", "sec", "csc"):
                raise Unreadable
            return self._applied("arc" + name, arguments)
        value = self._applied(name, arguments if base is None else [*arguments, base])
        return value if exponent is None else algebra.power(value, exponent)

    def _applied(self, function: str, arguments: list[V]) -> V:
        value = self._algebra.apply(function, arguments)
        self.arithmetic += self._algebra.is_worked_out(value)
        return value
