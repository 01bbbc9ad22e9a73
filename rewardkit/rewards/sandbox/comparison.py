"""Checks of answers in this process, without running code: ``comparison(split("assert f(1) == 2"))([2])`` is True.

A sandbox behind HTTP must not see expected values, and test code must not run in this process. Therefore, an assertion
is evaluated node by node: literals, comparisons, arithmetic, and a few functions on plain Python values. Other
assertions are rejected when the tests are parsed. The time is bounded because answers are at most
`service.OUTPUT_BYTES` long.
"""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, final

from rewardkit.errors import shorten
from rewardkit.rewards.sandbox.assertions import Assertion
from rewardkit.rewards.sandbox.scripts import Tolerant, parsed
from rewardkit.rewards.sandbox.values import MAPPINGS, decode, equal

Evaluator = Callable[[Mapping[str, Any]], Any]
"""A function that returns an expression's value, given the values of its names."""

# Arbitrary: values come from the tested program, so none of them may take much memory or time to compare.
_LONGEST_RANGE = 100_000
_LARGEST_EXPONENT = 1_000
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not},
    **{ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge},
    **{ast.In: lambda item, items: item in items, ast.NotIn: lambda item, items: item not in items},
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow},
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    **{ast.Not: operator.not_, ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
}
_DISPLAYS: dict[type[ast.expr], Callable[[Any], Any]] = {ast.List: list, ast.Tuple: tuple, ast.Set: set}
_TYPES = (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict, range)
_MATH = ("isclose", "isnan", "isinf", "isfinite", "pi", "e", "tau", "inf", "nan")


def _round(value: Any, *digits: Any) -> Any:
    if not isinstance(value, (int, float)):  # a Decimal may stand for billions of digits
        raise TypeError("round() does not support this type")
    return round(value, *digits)


_FUNCTIONS: dict[str, Any] = {
    **{"abs": abs, "all": all, "any": any, "len": len, "max": max, "min": min, "round": _round, "sorted": sorted},
    **{"sum": sum, "isinstance": isinstance},
}
_GROUND = {"math": math, **_FUNCTIONS, **{kind.__name__: kind for kind in _TYPES}}
_OPTIONS = ("rel_tol", "abs_tol", "reverse", "ndigits")
_EQUALITIES = ("_equal", "_any_equal")
_MATH_FUNCTIONS = (math.isclose, math.isnan, math.isinf, math.isfinite)
_CALLABLE = (*_FUNCTIONS.values(), *_MATH_FUNCTIONS, bool, float, list, tuple, set, frozenset)


@final
@dataclass(frozen=True)
class Comparison:
    """A check for answers: assertions as expressions over ``answer_0``, ``answer_1``, ..."""

    tests: tuple[Evaluator, ...]
    names: dict[str, Any]

    def __call__(self, answers: Sequence[Any]) -> bool:
        """Return whether all assertions hold for `answers`; False if an assertion raises an exception."""
        names = {**self.names, **{f"answer_{number}": answer for number, answer in enumerate(answers)}}
        try:
            return all(test(names) for test in self.tests)
        except (Exception, RecursionError):
            return False


# Arbitrary: more than the number of tests in a batch.
@lru_cache(4_096)
def comparison(assertion: Assertion, tolerance: float | None = None) -> Comparison:
    """Convert an assertion to a check that can run in this process.

    Raises:
        ValueError: the assertion cannot be evaluated without running code. The message names this code.
    """
    names = dict(_GROUND)
    for statement in parsed(assertion.ground):
        _define(statement, names)
    names["_equal"] = lambda value, expected: equal(value, expected, tolerance)
    names["_any_equal"] = lambda value, expected: any(equal(value, candidate, tolerance) for candidate in expected)
    answers = {f"answer_{number}": None for number in range(len(assertion.calls))}
    tests = []
    for line in parsed(assertion.check):
        assert isinstance(line, ast.Assert)
        test = line.test if tolerance is None else Tolerant(everywhere=True).visit(line.test)
        tests.append(_evaluator(test, {**names, **answers}, assertion.shown))
    return Comparison(tuple(tests), names)


def read_answers(report: bytes) -> list[Any]:
    """Parse the values reported by a program's process.

    Raises:
        ValueError: the report is not a list of plain values.
    """
    try:
        answers = json.loads(report)
        if not isinstance(answers, list):
            raise ValueError("not a list of answers")
        for answer in answers:
            _admit(answer)
        return [decode(answer) for answer in answers]
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError, UnicodeError) as error:
        raise ValueError(f"the answer cannot be read ({type(error).__name__})") from None


def _admit(value: Any) -> None:
    """Raise ValueError for values that `values.encode` does not write, and for ranges that take too long to search."""
    if not isinstance(value, list):
        return
    name, *items = value
    if name == "array":
        raise ValueError("arrays need numpy")
    if name in ("int", "float", "bytes", "Decimal", "datetime", "date", "time") and not (
        len(items) == 1 and isinstance(items[0], str)
    ):
        raise ValueError(name)
    if name in ("Fraction", "range", "timedelta"):
        if not all(isinstance(item, list) and item[:1] == ["int"] for item in items):
            raise ValueError(name)
        if name == "range" and len(decode(value)) > _LONGEST_RANGE:
            raise ValueError("the range is too long")
    for item in items:
        for part in item if name in MAPPINGS else (item,):
            _admit(part)


def _define(statement: ast.stmt, names: dict[str, Any]) -> None:
    """Add the names that a setup statement defines to `names`, except names that require running code."""
    if isinstance(statement, ast.Import):
        names.update((alias.asname, math) for alias in statement.names if alias.name == "math" and alias.asname)
    elif isinstance(statement, ast.ImportFrom) and statement.module == "math":
        aliases = [(alias.asname or alias.name, alias.name) for alias in statement.names]
        names.update((bound, getattr(math, name)) for bound, name in aliases if name in _MATH)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        try:
            value = _evaluator(statement.value, names, "")(names)
        except Exception:
            return
        if isinstance(target, ast.Name):
            names[target.id] = value


def _evaluator(node: ast.expr, scope: Mapping[str, Any], label: str) -> Evaluator:
    """Return a function that evaluates `node`; raise ValueError if this requires running code."""

    def of(child: ast.expr) -> Evaluator:
        return _evaluator(child, scope, label)

    match node:
        case ast.Constant(value=value):
            return lambda names: value
        case ast.Name(id=name) if name in scope:
            return operator.itemgetter(name)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if scope.get(module) is math and name in _MATH:
            value = getattr(math, name)
            return lambda names: value
        case ast.Call(func=function, args=arguments, keywords=words) if _may_be_called(function, scope) and all(
            word.arg in _OPTIONS for word in words
        ):
            called, positional = of(function), list(map(of, arguments))
            named = {word.arg or "": of(word.value) for word in words}
            return lambda names: called(names)(
                *(item(names) for item in positional), **{name: item(names) for name, item in named.items()}
            )
        case ast.Subscript(value=items, slice=index) if not isinstance(index, ast.Slice):
            container, key = of(items), of(index)
            return lambda names: container(names)[key(names)]
        case ast.BoolOp(op=join, values=values):
            return partial(_joined, list(map(of, values)), isinstance(join, ast.Or))
        case ast.UnaryOp(op=sign, operand=side):
            signed, operand = _SIGNS[type(sign)], of(side)
            return lambda names: signed(operand(names))
        case ast.BinOp(op=kind, left=left, right=right) if type(kind) in _ARITHMETIC:
            first, second = of(left), of(right)
            return lambda names: _computed(kind, first(names), second(names))
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = [(of(key), of(item)) for key, item in zip(keys, values, strict=True) if key is not None]
            return lambda names: {key(names): item(names) for key, item in pairs}
        case ast.Compare(left=left, ops=kinds, comparators=sides):
            return partial(_compared, of(left), [_COMPARISONS[type(kind)] for kind in kinds], list(map(of, sides)))
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            display, parts = _DISPLAYS[type(node)], list(map(of, elements))
            return lambda names: display([part(names) for part in parts])
    raise ValueError(
        f"{shorten(ast.unparse(node), 60)!r} in {shorten(label, 100)!r} needs code, but results "
        "from a service are compared without running code. Compare the program's result with a literal"
    )


def _may_be_called(function: ast.expr, scope: Mapping[str, Any]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in _EQUALITIES or any(scope.get(function.id) is allowed for allowed in _CALLABLE)
    return isinstance(function, ast.Attribute)


def _joined(parts: Sequence[Evaluator], is_or: bool, names: Mapping[str, Any]) -> Any:
    value: Any = None
    for part in parts:
        value = part(names)
        if bool(value) is is_or:
            break
    return value


def _compared(
    first: Evaluator, kinds: Sequence[Callable[[Any, Any], Any]], sides: Sequence[Evaluator], names: Mapping[str, Any]
) -> Any:
    value: Any = True
    left = first(names)
    for compare, side in zip(kinds, sides, strict=True):
        right = side(names)
        value = compare(left, right)
        if not value:
            break
        left = right
    return value


def _computed(kind: ast.operator, left: Any, right: Any) -> Any:
    numbers = all(isinstance(side, (int, float, complex)) for side in (left, right))
    if not numbers and not isinstance(kind, (ast.Add, ast.Sub)):
        raise TypeError("arithmetic does not support these types")  # such as "a" * 10**9, which takes much memory
    if isinstance(kind, ast.Pow) and not (abs(left) <= 2**64 and abs(right) <= _LARGEST_EXPONENT):
        raise OverflowError
    return _ARITHMETIC[type(kind)](left, right)
