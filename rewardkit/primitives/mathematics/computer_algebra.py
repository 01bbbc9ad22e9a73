r"""Computer algebra, for worker processes only: whether ``\sqrt{12}`` is ``2\sqrt{3}``, by math-verify.

Only the worker imports this module (see `workers`): it loads sympy, and the functions it calls may hang or crash.
"""

from __future__ import annotations

import logging
import re
import warnings
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended import NormalizationConfig, latex2sympy
from latex2sympy2_extended.sets import FiniteSet
from math_verify import verify
from math_verify.grader import is_relation, should_treat_as_complex

logging.getLogger("math_verify").setLevel(logging.CRITICAL)
warnings.simplefilter("ignore")

# Units are split off first, by a table: math-verify would remove the "h" from "2 \pi r h".
_NORMALIZATION = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none", equations=False
)
_DECIMAL = re.compile(r"([0-9]*)\.([0-9]+)(\s*\^)?")
_DIGITS = 50


def check(gold: str) -> str:
    """Return why a gold answer cannot be read or evaluated, or ""."""
    try:
        expected = _gold(gold)
    except Exception:
        return "cannot be read as mathematics"
    undefined = (sympy.nan, sympy.zoo)
    value = expected.doit() if hasattr(expected, "doit") else expected
    return "is undefined" if expected in undefined or value in undefined else ""


def compare(gold: str, sides: tuple[str, ...], *, evaluated: bool) -> str:
    """Return why one of the answer's sides does not equal the gold answer, or "".

    Args:
        sides: the expressions that the answer states to be equal; the last one is the answer.
        evaluated: require that the last one leaves no more arithmetic to be done than the gold answer.
    """
    expected = _gold(gold)
    for side in sides:
        try:
            found = _parsed(side)
        except Exception:
            return "cannot be read as mathematics"
        if evaluated and side is sides[-1] and _arithmetic(found) > _arithmetic(expected):
            return "still has to be evaluated"
        if not _equal(expected, found):
            return "is not equal"
    return ""


def _equal(expected: Any, found: Any) -> bool:
    if is_relation(expected) and is_relation(found) and expected.free_symbols != found.free_symbols:
        return False  # two equations without solutions would have the same ones
    if _differ_somewhere(expected, found):
        return False
    # Precise enough that neither rounding nor a tiny term makes unequal numbers equal.
    return bool(
        verify(
            expected,
            found,
            float_rounding=_DIGITS,
            numeric_precision=_DIGITS,
            allow_set_relation_comp=True,
            timeout_seconds=None,
        )
    )


def _differ_somewhere(expected: Any, found: Any) -> bool:
    """Return whether two formulas clearly differ at one point: fast, where simplifying their difference is slow."""
    if not (isinstance(expected, sympy.Expr) and isinstance(found, sympy.Expr)):
        return False
    if expected.is_Symbol or found.is_Symbol:
        return False
    letters = sorted(expected.free_symbols | found.free_symbols, key=str)
    point = {letter: sympy.Rational(13 + 7 * place, 11) for place, letter in enumerate(letters)}
    try:
        one, other = (complex(sympy.N(tree.subs(point))) for tree in (expected, found))
    except Exception:
        return False
    return abs(one - other) > 1e-6 * max(1.0, abs(one), abs(other))  # False where one is NaN


@lru_cache(maxsize=1024)
def _gold(text: str) -> Any:
    """Parse a gold answer, cached: the same one comes with every generation of its prompt."""
    return _parsed(text)


def _parsed(text: str) -> Any:
    if "\\pm" in text or "\\mp" in text:
        upper = text.replace("\\pm", "+").replace("\\mp", "-")
        lower = text.replace("\\pm", "-").replace("\\mp", "+")
        return FiniteSet(*_elements(_parsed(upper)), *_elements(_parsed(lower)))
    return latex2sympy(
        _DECIMAL.sub(_as_fraction, text),
        is_real=not should_treat_as_complex(text),
        convert_degrees=True,
        normalization_config=_NORMALIZATION,
    )


def _elements(parsed: Any) -> tuple[Any, ...]:
    return tuple(parsed.args) if isinstance(parsed, sympy.FiniteSet) else (parsed,)


def _as_fraction(decimal: re.Match[str]) -> str:
    """Return ``0.25`` as an exact fraction: sympy would round floats before comparing them."""
    whole, after, power = decimal.groups()
    fraction = f"\\frac{{{int(whole + after)}}}{{{10 ** len(after)}}}"
    return f"({fraction}){power}" if power else fraction


def _arithmetic(tree: Any) -> int:
    """Count the operations between rational numbers that an expression leaves to be done: 2 in ``(2 + 3 + 4) x``."""
    if isinstance(tree, sympy.MatrixBase):
        return sum(map(_arithmetic, tree.flat()))
    if not isinstance(tree, sympy.Basic):
        return 0
    here: int = 0
    if isinstance(tree, sympy.Add):
        here = max(0, sum(map(_is_rational, tree.args)) - 1)
    elif isinstance(tree, sympy.Mul):
        factors = [factor for factor in _factors(tree) if _is_rational(factor) and factor != -1]
        below = sum(isinstance(factor, sympy.Pow) and factor.exp == -1 for factor in factors)
        here = max(0, len(factors) - below - 1) + max(0, below - 1)
        return here + sum(_arithmetic(factor) for factor in _factors(tree))
    elif isinstance(tree, sympy.Pow):
        here = int(_is_rational(tree.base) and tree.exp.is_Integer and tree.exp != -1)
    elif isinstance(tree, sympy.factorial):
        here = int(_is_rational(tree.args[0]))
    return here + sum(map(_arithmetic, tree.args))


def _factors(product: Any) -> list[Any]:
    """Return the factors of nested products."""
    if not isinstance(product, sympy.Mul):
        return [product]
    return [factor for part in product.args for factor in _factors(part)]


def _is_rational(tree: Any) -> bool:
    """Return whether it is a rational number, or arithmetic that results in one."""
    if isinstance(tree, (sympy.Rational, sympy.Float)):
        return True
    if isinstance(tree, sympy.Pow):
        return _is_rational(tree.base) and bool(tree.exp.is_Integer)
    return isinstance(tree, (sympy.Add, sympy.Mul)) and all(map(_is_rational, tree.args))
