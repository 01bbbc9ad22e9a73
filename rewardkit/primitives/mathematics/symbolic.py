r"""The grammar in sympy's algebra, for worker processes only: ``expression(r"\sin^2 x")`` is ``sin(x)**2``."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import sympy

from rewardkit.primitives.mathematics.grammar import VECTORS, Algebra, Reader, Unreadable, tokens

DEGREE = sympy.Symbol("°", positive=True)
_BASE = sympy.Symbol("base of log", positive=True)
"""The base of ``\\log`` without one: 10 or e, whichever the author meant."""


class GreatestDivisor(sympy.Function):  # type: ignore[misc]  # sympy is not typed
    """The greatest common divisor of integers; sympy's is that of polynomials, where a and b have none but 1."""

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
    """Expressions that sympy evaluates while they are made."""

    def constant(self, value: Fraction) -> Any:
        return sympy.Rational(value.numerator, value.denominator)

    def letter(self, name: str) -> Any:
        if name in ("\\pi", "e", "i", "°"):
            return {"\\pi": sympy.pi, "e": sympy.E, "i": sympy.I, "°": DEGREE}[name]
        if name.startswith("\\overline ") and name[10] in _COMPLEX:
            return sympy.conjugate(self.letter(re.sub(r"[{}]", "", name[10:])))
        return sympy.Symbol(name) if name[0] in _COMPLEX else sympy.Symbol(name, real=True)

    def plus(self, one: Any, other: Any, sign: int) -> Any:
        return one + sign * other

    def times(self, one: Any, other: Any) -> Any:
        return one * other

    def over(self, above: Any, below: Any) -> Any:
        if below.is_zero or below == 0:
            raise Unreadable
        return above / below

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
_WRITTEN_OUT = re.compile(r"\\(?:sum|prod|lim|i*nt|det|mod|pmod|partial|nabla|begin\{vmatrix\})(?![A-Za-z])")


def expression(text: str) -> tuple[Any, int]:
    """Return a cleaned text as an expression, and how many operations between rational numbers are left to be done.

    Raises:
        Unreadable: it is not an expression, or it has no value.
    """
    if text in _INFINITE:
        return _INFINITE[text], 0
    reader = Reader(tokens(text), _ALGEBRA)
    value = reader.whole()
    if value.has(sympy.nan, sympy.zoo):
        raise Unreadable
    return value, reader.arithmetic


def is_operator(text: str) -> bool:
    r"""Return whether the text has an operator that the grammar leaves to math-verify: ``\sum``, ``\int``, ``\lim``."""
    return _WRITTEN_OUT.search(text) is not None
