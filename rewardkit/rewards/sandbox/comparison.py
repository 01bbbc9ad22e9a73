"""Check answers here, without running code: ``comparison(split("assert f(1) == 2"))([2])`` is True.

A sandbox behind HTTP must not see expected values, and code that reads a program's answers must not run here. So an
assertion is evaluated node by node: literals, comparisons, numbers, and a few functions, on plain Python values. Others
are refused when the tests are read. Answers are at most `service.OUTPUT_BYTES` long, which bounds the time it takes.
"""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

from rewardkit.errors import shorten
from rewardkit.rewards.sandbox.assertions import Assertion
from rewardkit.rewards.sandbox.scripts import Tolerant, parsed
from rewardkit.rewards.sandbox.values import MAPPINGS, decode, equal

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
        raise TypeError("round() of this type")
    return round(value, *digits)


_FUNCTIONS: dict[str, Any] = {
    **{"abs": abs, "all": all, "any": any, "len": len, "max": max, "min": min, "round": _round, "sorted": sorted},
    **{"sum": sum, "isinstance": isinstance},
}
_GROUND = {"math": math, **_FUNCTIONS, **{kind.__name__: kind for kind in _TYPES}}
_MATH_FUNCTIONS = (math.isclose, math.isnan, math.isinf, math.isfinite)
_CALLABLE = (*_FUNCTIONS.values(), *_MATH_FUNCTIONS, bool, float, list, tuple, set, frozenset)


@final
@dataclass(frozen=True)
class Comparison:
    """Assertions as expressions over ``answer_0``, ``answer_1``, ..."""

    tests: tuple[ast.expr, ...]
    names: dict[str, Any]

    def __call__(self, answers: Sequence[Any]) -> bool:
        """Return whether all assertions hold; an exception means that they do not."""
        names = {**self.names, **{f"answer_{number}": answer for number, answer in enumerate(answers)}}
        try:
            return all(_value(test, names) for test in self.tests)
        except (Exception, RecursionError):
            return False


@lru_cache(4_096)
def comparison(assertion: Assertion, tolerance: float | None = None) -> Comparison:
    """Return the assertions in the form that can be checked here.

    Raises:
        ValueError: they need code; the message says which.
    """
    names = dict(_GROUND)
    for statement in parsed(assertion.ground):
        _define(statement, names)
    names["_equal"] = lambda value, expected: equal(value, expected, tolerance)
    names["_any_equal"] = lambda value, expected: any(equal(value, one, tolerance) for one in expected)
    answers = {f"answer_{number}": None for number in range(len(assertion.calls))}
    tests = []
    for line in parsed(assertion.check):
        assert isinstance(line, ast.Assert)
        _inspect(line.test, {**names, **answers}, assertion.shown)
        tests.append(line.test if tolerance is None else Tolerant(everywhere=True).visit(line.test))
    return Comparison(tuple(tests), names)


def read_answers(report: bytes) -> list[Any]:
    """Return the values that a program's process reported.

    Raises:
        ValueError: they are not plain values.
    """
    try:
        answers = json.loads(report)
        if not isinstance(answers, list):
            raise ValueError("no list of answers")
        for answer in answers:
            _admit(answer)
        return [decode(answer) for answer in answers]
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError, UnicodeError) as error:
        raise ValueError(f"the answer cannot be read ({type(error).__name__})") from None


def _admit(value: Any) -> None:
    """Refuse what `values.encode` does not write, and ranges that take long to search."""
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
    """Add the names that a statement of the set-up code defines; leave out those that need code."""
    if isinstance(statement, ast.Import):
        names.update((alias.asname, math) for alias in statement.names if alias.name == "math" and alias.asname)
    elif isinstance(statement, ast.ImportFrom) and statement.module == "math":
        found = [(alias.asname or alias.name, alias.name) for alias in statement.names]
        names.update((bound, getattr(math, name)) for bound, name in found if name in _MATH)
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        try:
            _inspect(statement.value, names, "")
            value = _value(statement.value, names)
        except Exception:
            return
        if isinstance(target, ast.Name):
            names[target.id] = value


def _inspect(node: ast.expr, names: Mapping[str, Any], shown: str) -> None:
    """Raise ValueError unless `_value` can evaluate `node`."""
    inner: list[ast.expr] = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    if isinstance(node, ast.Constant):
        sound = True
    elif isinstance(node, ast.Name):
        sound = node.id in names
    elif isinstance(node, ast.Attribute):
        sound = isinstance(node.value, ast.Name) and names.get(node.value.id) is math and node.attr in _MATH
        inner = []
    elif isinstance(node, ast.Call):
        sound = isinstance(node.func, ast.Attribute)
        if isinstance(node.func, ast.Name):
            sound = any(names.get(node.func.id) is function for function in _CALLABLE) or node.func.id == "_any_equal"
        sound = sound and all(word.arg in ("rel_tol", "abs_tol", "reverse", "ndigits") for word in node.keywords)
        inner += [word.value for word in node.keywords]
    elif isinstance(node, ast.Subscript):
        sound = not isinstance(node.slice, ast.Slice)
    else:
        sound = isinstance(node, (ast.BoolOp, ast.Compare, ast.Dict, ast.UnaryOp, *_DISPLAYS)) or (
            isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC
        )
        sound = sound and not (isinstance(node, ast.Dict) and None in node.keys)
    if not sound:
        raise ValueError(
            f"{shorten(ast.unparse(node), 60)!r} in {shorten(shown, 100)!r} needs code, and the results "
            "of a service are compared without running code; compare the program's result with a literal"
        )
    for child in inner:
        _inspect(child, names, shown)


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    def of(child: ast.expr) -> Any:
        return _value(child, names)

    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Attribute):
        return getattr(math, node.attr)
    if isinstance(node, ast.Call):
        return of(node.func)(*map(of, node.args), **{word.arg or "": of(word.value) for word in node.keywords})
    if isinstance(node, ast.Subscript):
        return of(node.value)[of(node.slice)]
    if isinstance(node, ast.BoolOp):
        return _joined(node, of)
    if isinstance(node, ast.UnaryOp):
        return _SIGNS[type(node.op)](of(node.operand))
    if isinstance(node, ast.BinOp):
        return _computed(node.op, of(node.left), of(node.right))
    if isinstance(node, ast.Dict):
        return {of(key): of(item) for key, item in zip(node.keys, node.values, strict=True) if key is not None}
    if isinstance(node, ast.Compare):
        return _compared(node, of)
    assert isinstance(node, (ast.List, ast.Tuple, ast.Set))
    return _DISPLAYS[type(node)]([of(item) for item in node.elts])


def _joined(node: ast.BoolOp, of: Callable[[ast.expr], Any]) -> Any:
    value: Any = None
    for part in node.values:
        value = of(part)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _compared(node: ast.Compare, of: Callable[[ast.expr], Any]) -> Any:
    value: Any = True
    left = of(node.left)
    for kind, side in zip(node.ops, node.comparators, strict=True):
        right = of(side)
        value = _COMPARISONS[type(kind)](left, right)
        if not value:
            break
        left = right
    return value


def _computed(kind: ast.operator, left: Any, right: Any) -> Any:
    numbers = all(isinstance(side, (int, float, complex)) for side in (left, right))
    if not numbers and not isinstance(kind, (ast.Add, ast.Sub)):
        raise TypeError("arithmetic of other types")  # "a" * 10**9
    if isinstance(kind, ast.Pow) and not (abs(left) <= 2**64 and abs(right) <= _LARGEST_EXPONENT):
        raise OverflowError
    return _ARITHMETIC[type(kind)](left, right)
