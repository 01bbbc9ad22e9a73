"""Parse schedules: ``parsed("0.5 * linear(0.0, 1.0, end=0.3)")`` returns that schedule.

The text comes from a file or a command line, so it is never executed. It may contain numbers, names of components,
``+ - *``, calls of ``rk.schedules``, and ``.clip(low, high)``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from rewardkit import schedules
from rewardkit.core.errors import RewardDefinitionError, RewardKitError, near_miss, shorten
from rewardkit.core.progress.schedule import Schedule, Weight, as_weight

LONGEST = 2_000
"""Maximum characters of a text."""
DEEPEST = 40
"""Maximum nesting of calls and operations."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def parsed(text: object) -> Weight:
    """Return the number or schedule of `text`; a number is returned unchanged.

    Raises:
        RewardDefinitionError: the text is something else, or an invalid schedule; the message says where.
    """
    if not isinstance(text, str):
        return as_weight(text)
    if len(text) > LONGEST:
        raise RewardDefinitionError(f"a schedule has at most {LONGEST:,} characters, got {len(text):,}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RewardDefinitionError(f"{shorten(text)} is not a number or schedule: {error}") from None
    try:
        return as_weight(_value(tree.body, 0), shorten(text))
    except RewardKitError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise RewardDefinitionError(f"{shorten(text)} is not a number or schedule: {error}") from None


def _value(node: ast.expr, depth: int) -> Any:
    if depth > DEEPEST:
        raise RewardDefinitionError(f"a schedule may be nested at most {DEEPEST} levels deep")
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, (int, float, str))):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _operand(node.operand, depth)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        first, second = _operand(node.left, depth), _operand(node.right, depth)
        return _OPERATIONS[type(node.op)](first, second)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, depth + 1) for item in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_value(key, depth + 1) for key in node.keys if key is not None]
        return dict(zip(keys, (_value(value, depth + 1) for value in node.values), strict=True))
    if isinstance(node, ast.Call):
        return _called(node, depth)
    raise RewardDefinitionError(f"{_shown(node)} is not allowed in a schedule. Use numbers, {_known()}, + - *, .clip()")


def _operand(node: ast.expr, depth: int) -> Any:
    value = _value(node, depth + 1)
    if isinstance(value, bool) or not isinstance(value, (int, float, Schedule)):
        raise RewardDefinitionError(f"{_shown(node)} is neither a number nor a schedule")
    return value


def _called(node: ast.Call, depth: int) -> Any:
    arguments = [_value(argument, depth + 1) for argument in node.args]
    options: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise RewardDefinitionError(f"{_shown(node)}: ** is not allowed. Write the options out")
        options[keyword.arg] = _value(keyword.value, depth + 1)
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "clip":
        limited = _value(function.value, depth + 1)
        if not isinstance(limited, Schedule):
            raise RewardDefinitionError(f"{_shown(function.value)} is not a schedule, so it has no .clip()")
        return limited.clip(*arguments, **options)
    name = _name(function)
    if name not in schedules.__all__:
        raise RewardDefinitionError(
            f"{_shown(function)} is not a schedule.{near_miss(name, schedules.__all__)} Choose from: {_known()}"
        )
    return getattr(schedules, name)(*arguments, **options)


def _name(function: ast.expr) -> str:
    """Return ``linear`` for ``linear``, ``schedules.linear`` and ``rk.schedules.linear``."""
    name = ast.unparse(function)
    return name.removeprefix("rk.").removeprefix("schedules.")


def _shown(node: ast.expr) -> str:
    return shorten(ast.unparse(node))


def _known() -> str:
    return ", ".join(schedules.__all__)
