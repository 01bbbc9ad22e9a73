r"""Whether two expressions of sympy are equal: ``2 \arcsin \sqrt{a}`` is ``\arccos(1 - 2a)``. For workers only.

Different expressions differ at some point, which is quick to find. Equal ones are proved by simplification, or agree to
more than a hundred digits at many points. The second counts only if all numbers in them are of ordinary size, so that
no difference can hide behind the last digit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from rewardkit.primitives.mathematics.symbolic import GreatestDivisor, LeastMultiple

DIGITS = 160
AGREEMENT = 120
MAX_SIZE = 60.0
ENOUGH = 5

_REALS = tuple(
    sympy.Rational(above, below)
    for above, below in (
        (3, 7),
        (13, 11),
        (-5, 9),
        (8, 3),
        (1, 5),
        (-17, 8),
        (5, 6),
        (29, 9),
        (2, 3),
        (-1, 4),
        (7, 9),
        (6, 1),
    )
)
_NATURALS = (7, 3, 4, 9, 5, 2, 11, 6, 8, 10)
_OFF_AXIS = (sympy.Rational(2, 3) + 2 * sympy.I / 5, -sympy.Rational(7, 5) + 3 * sympy.I / 4, 1 - 4 * sympy.I / 3)
_FAR = (30, -12, 1000, -1000, 100, -100, 17, -45, 12, 64, -7, 15, 20, 25, -3, 10, 0, 1)
"""Integers, where floors jump, and on both sides of what an absolute value or a binomial may be about."""

_PIECEWISE = (
    sympy.Abs, sympy.Max, sympy.Min, sympy.floor, sympy.ceiling, sympy.Piecewise, sympy.Mod, sympy.sign, sympy.log,
    sympy.asin, sympy.acos, sympy.atan, sympy.acot, sympy.asec, sympy.acsc,
)  # fmt: skip
"""What may be one formula here and another one there, like roots."""

_INTEGRAL = (sympy.factorial, sympy.binomial, GreatestDivisor, LeastMultiple)
_JUMPING = (sympy.floor, sympy.ceiling, sympy.Mod)
MAX_NUMBERS = 6
FEW = 6
"""Points for what has no jumps: on both sides, at three distances."""


@lru_cache(maxsize=1024)
def identical(one: Any, other: Any) -> bool:
    """Return whether two expressions are equal wherever both have a value."""
    if one == other:
        return True
    if one.has(sympy.oo, -sympy.oo) or other.has(sympy.oo, -sympy.oo):
        return False
    if one.atoms(AppliedUndef) or other.atoms(AppliedUndef):
        return bool(sympy.expand(one - other) == 0)
    difference = one - other
    if difference == 0:
        return True
    if difference.is_Rational:
        return False
    verdict = _sampled(one, other)
    if verdict is None:
        return bool(sympy.simplify(difference) == 0)
    return verdict


def _sampled(one: Any, other: Any) -> bool | None:
    """Return whether both agree at every point; None if that is no proof."""
    both = sympy.Tuple(one, other)
    discrete = both.has(*_INTEGRAL)
    letters = sorted(both.free_symbols, key=str)
    is_complex = both.has(sympy.I) or any(letter.is_real is None for letter in letters)
    agreed = 0
    largest = 0.0
    for point in _points(letters, discrete=discrete):
        left, right = one.subs(point), other.subs(point)
        largest = max(largest, _size(left), _size(right))
        found = _agree(left, right, is_complex=is_complex, modest=largest <= MAX_SIZE)
        if found is False:
            return False
        agreed += found is True
    for point in _other_points(both, letters, discrete=discrete):
        if _agree(one.subs(point), other.subs(point), is_complex=is_complex, modest=False) is False:
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


def _other_points(both: Any, letters: list[Any], *, discrete: bool) -> Iterator[dict[Any, Any]]:
    """Yield points at which only pieces of a formula differ, or only numbers that are not real."""
    planes = [letter for letter in letters if letter.is_real is None]
    if planes and not both.has(sympy.Max, sympy.Min):
        for row in range(len(_OFF_AXIS)):
            point = {letter: sympy.Rational(3, 2 + place) for place, letter in enumerate(letters)}
            yield point | {letter: _OFF_AXIS[(row + place) % len(_OFF_AXIS)] for place, letter in enumerate(planes)}
    if letters and not discrete:  # sin(27720 pi x) vanishes at all points with small denominators
        yield {letter: sympy.Rational(2 * place + 37, 1009) for place, letter in enumerate(letters)}
        yield {letter: sympy.sqrt(2) / (place + 3) for place, letter in enumerate(letters)}
    if not letters or not (
        discrete
        or both.has(*_PIECEWISE)
        or any(power.exp.is_Rational and power.exp.q > 1 for power in both.atoms(sympy.Pow))
    ):
        return
    numbers = sorted((number for number in both.atoms(sympy.Rational) if abs(number) > 2), key=abs)[-MAX_NUMBERS:]
    if discrete or both.has(*_JUMPING):
        edges = [sign * number + step for number in numbers for sign in (1, -1) for step in (0, 1)]
        values = [*map(sympy.Integer, _FAR), *edges, *_jumps(both, letters)]
    else:
        values = [*map(sympy.Integer, _FAR[:FEW]), *(sign * number for number in numbers[-1:] for sign in (1, -1))]
    if discrete:
        values = [value for value in values if value.is_Integer and value >= 0]
    for row in range(len(values)):
        yield {letter: values[(row + 5 * place) % len(values)] for place, letter in enumerate(letters)}


def _jumps(both: Any, letters: list[Any]) -> Iterator[Any]:
    """Yield where the floors of linear expressions of one letter jump."""
    for floor in both.atoms(sympy.floor, sympy.ceiling):
        inner = floor.args[0]
        slope = sympy.diff(inner, letters[0]) if len(letters) == 1 else None
        if slope is not None and slope.is_Rational and slope != 0:
            yield from ((step - inner.subs(letters[0], 0)) / slope for step in (0, 1, 7))


def _agree(left: Any, right: Any, *, is_complex: bool, modest: bool) -> bool | None:
    """Return whether two numbers agree; None where one has no value."""
    if left == right:
        return True
    if left.has(sympy.nan, sympy.zoo, sympy.oo) or right.has(sympy.nan, sympy.zoo, sympy.oo):
        return None
    if left.is_Rational and right.is_Rational:
        return False
    rough, other = complex(sympy.N(left, 20)), complex(sympy.N(right, 20))
    if not is_complex:
        imaginary = [abs(value.imag) > 1e-12 * max(1.0, abs(value)) for value in (rough, other)]
        if all(imaginary):
            return None
        if any(imaginary):
            return False
    if abs(rough - other) > 1e-9 * max(abs(rough), abs(other)):
        return False
    if not modest:
        return None
    gap = abs(sympy.N(left, DIGITS) - sympy.N(right, DIGITS))
    return bool(gap < sympy.Float(10) ** -AGREEMENT)


def _size(number: Any) -> float:
    """Return a bound on the digits that a number without letters may need: large for large or tiny parts."""
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
    """Return the absolute value of a number, but at least its size."""
    try:
        return max(_size(number), abs(complex(sympy.N(number, 15))))
    except (TypeError, ValueError, OverflowError):
        return float("inf")
