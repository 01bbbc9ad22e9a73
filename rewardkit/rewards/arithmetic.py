"""Evaluation of arithmetic that a model wrote, without ``eval``: ``arithmetic("3 * (4 + 5)") == 27``.

It is meant for equation tasks such as Countdown, in which a reward checks an expression's value and numbers.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from rewardkit.errors import RewardDefinitionError, shorten

Each = Literal["once", "at most once"]

# Arbitrary limits: expressions of arithmetic puzzles have tens of characters. The parser recurses for each parenthesis,
# and the numbers in fractions grow with each operation.
MAX_CHARACTERS = 1_000
MAX_DEPTH = 50

# A letter or a dot next to a number makes it invalid: 1e5, 0x1f, 1_000, 1.2.3.
_TOKEN = re.compile(r"[ \t\r\n]*(?:((?:\d+(?:\.\d+)?|\.\d+)(?![\w.]))|([-+*/()]))", re.ASCII)
_SIGNS = str.maketrans({"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-"})
_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def arithmetic(
    expression: str, *, numbers: Iterable[int | float | Fraction] | None = None, each: Each = "once"
) -> Fraction:
    """Return the exact value of an arithmetic expression: ``arithmetic("(7 - 1) / 4") == Fraction(3, 2)``.

    ``arithmetic("3 * 4 + 5", numbers=[3, 4, 5])`` is 17. ``arithmetic("17", numbers=[3, 4, 5])`` raises ValueError,
    because 17 is not one of the given numbers.

    Args:
        expression: numbers (``12`` or ``0.5``), ``+ - * /`` (also ``× · ÷ −``), parentheses, and a sign before a number
            or a parenthesis, with at most 1,000 characters and 50 levels. Powers, ``1e5``, ``1_000``, ``1,000``, and
            ``2(3)`` raise ValueError.
        numbers: the nonnegative numbers that the expression may use. None allows any numbers.
        each: how often each given number must be used: "once" or "at most once". A number that is listed twice may be
            used twice.

    Returns:
        A Fraction, which can be compared and combined with int and float.

    Raises:
        ValueError: the text is not an expression, divides by zero, or uses other numbers, which the message lists.
        RewardDefinitionError: `numbers` or `each` is invalid.
    """
    if each not in get_args(Each):
        raise RewardDefinitionError(f"arithmetic: each must be 'once' or 'at most once', got {shorten(each)}")
    allowed = None if numbers is None else Counter(map(_given, numbers))
    reader = _Reader(_tokens(expression))
    value = reader.whole()
    if allowed is not None:
        _check_numbers(Counter(reader.used), allowed, each)
    return value


def _given(number: int | float | Fraction) -> Fraction:
    try:
        exact = Fraction(str(number))
    except ValueError:
        raise RewardDefinitionError(f"arithmetic: numbers must be finite, got {shorten(number)}") from None
    if exact < 0:
        raise RewardDefinitionError(f"arithmetic: numbers must not be negative. Pass {-exact} instead of {exact}")
    return exact


def _check_numbers(used: Counter[Fraction], allowed: Counter[Fraction], each: Each) -> None:
    if used - allowed:
        raise ValueError(f"uses {_listed(used - allowed)} in addition to the given {_listed(allowed)}")
    if each == "once" and allowed - used:
        raise ValueError(f"does not use {_listed(allowed - used)} of the given {_listed(allowed)}")


def _listed(numbers: Counter[Fraction]) -> str:
    text = ", ".join(map(str, sorted(numbers.elements()))) or "none"
    return text if len(text) <= 80 else f"{text[:80]}..."


def _tokens(expression: str) -> list[str]:
    if not isinstance(expression, str) or not expression.strip():
        raise ValueError(f"not an expression: {shorten(expression)}")
    if len(expression) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
    text = expression.translate(_SIGNS).rstrip(" \t\r\n")
    if "**" in text or "^" in text:
        raise ValueError("powers are not evaluated")
    tokens, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"not arithmetic starting at {shorten(text[position:].lstrip(), 40)}")
        tokens.append(match[1] or match[2])
        position = match.end()
    return tokens


@dataclass
class _Reader:
    """A recursive parser that reads tokens from left to right: sums of products of factors."""

    tokens: list[str]
    position: int = 0
    depth: int = 0
    used: list[Fraction] = field(default_factory=list)

    def whole(self) -> Fraction:
        value = self._sum()
        if self._next():
            raise ValueError(f"an operator is missing before {shorten(self._next(), 40)}")
        return value

    def _next(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def _take(self, characters: str) -> str:
        """Return and consume the next token if it is in `characters`; else return an empty string."""
        token = self._next()
        if not token or token not in characters:
            return ""
        self.position += 1
        return token

    def _sum(self) -> Fraction:
        value = self._product()
        while sign := self._take("+-"):
            value = _OPERATIONS[sign](value, self._product())
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while sign := self._take("*/"):
            factor = self._factor()
            if sign == "/" and factor == 0:
                raise ValueError("divides by zero")
            value = _OPERATIONS[sign](value, factor)
        return value

    def _factor(self) -> Fraction:
        sign = -1 if self._take("+-") == "-" else 1
        if not self._take("("):
            return sign * self._number()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        value = self._sum()
        self.depth -= 1
        if not self._take(")"):
            token = self._next()
            raise ValueError(
                f"an operator or ')' is missing before {shorten(token, 40)}" if token else "')' is missing"
            )
        return sign * value

    def _number(self) -> Fraction:
        token = self._next()
        if not token or token in "+-*/()":
            raise ValueError(f"a number is missing before {token!r}" if token else "a number is missing at the end")
        self.position += 1
        self.used.append(Fraction(token))
        return self.used[-1]
