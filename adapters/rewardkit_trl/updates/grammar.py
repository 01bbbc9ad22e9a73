"""Schedules as text, and back: ``parsed("0.5 * linear(0.0, 1.0, end=0.3)")`` is that schedule.

Text comes from a file or a command line, so nothing of it is executed: numbers, names of components, ``+ - *``, calls
of what stands in ``rk.schedules``, and ``.clip(low, high)`` are all there is.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rewardkit import schedules
from rewardkit.core.errors import RewardDefinitionError, RewardKitError, near_miss, shorten
from rewardkit.core.positions import Passing
from rewardkit.core.progress import Constant, Limited, Multiplied, Scaled, Schedule, Summed, Weight, as_weight
from rewardkit.schedules.by_performance import Reached, Tracking
from rewardkit.schedules.by_time import Geometric, HalfCosine, Logistic, Piecewise, Power, Ramp, Straight
from rewardkit.schedules.joined import Cycled, Extreme, Joined

LONGEST = 2_000
"""Characters of a text."""
DEEPEST = 40
"""Levels of calls and operations."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_CURVES = {Straight: "linear", HalfCosine: "cosine", Power: "polynomial", Geometric: "exponential", Logistic: "sigmoid"}


def parsed(text: object) -> Weight:
    """The number or schedule that `text` says; a number is itself.

    Raises:
        RewardDefinitionError: it says something else, or a schedule that cannot be; the message says where.
    """
    if not isinstance(text, str):
        return as_weight(text)
    if len(text) > LONGEST:
        raise RewardDefinitionError(f"a schedule takes at most {LONGEST:,} characters, this text has {len(text):,}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RewardDefinitionError(f"{shorten(text)} is no number and no schedule: {error}") from None
    try:
        return as_weight(_value(tree.body, 0), shorten(text))
    except RewardKitError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise RewardDefinitionError(f"{shorten(text)} is no number and no schedule: {error}") from None


def _value(node: ast.expr, depth: int) -> Any:
    if depth > DEEPEST:
        raise RewardDefinitionError(f"a schedule is nested at most {DEEPEST} levels deep")
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
    raise RewardDefinitionError(f"{_shown(node)} has no place in a schedule: write numbers, {_known()}, + - *, .clip()")


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
            raise RewardDefinitionError(f"{_shown(node)}: options are written out, without **")
        options[keyword.arg] = _value(keyword.value, depth + 1)
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "clip":
        limited = _value(function.value, depth + 1)
        if not isinstance(limited, Schedule):
            raise RewardDefinitionError(f"{_shown(function.value)} is no schedule, so it has no .clip()")
        return limited.clip(*arguments, **options)
    name = _name(function)
    if name not in schedules.__all__:
        raise RewardDefinitionError(
            f"{_shown(function)} is no schedule.{near_miss(name, schedules.__all__)} There are {_known()}"
        )
    return getattr(schedules, name)(*arguments, **options)


def _name(function: ast.expr) -> str:
    """``linear`` of ``linear``, ``schedules.linear`` and ``rk.schedules.linear``."""
    name = ast.unparse(function)
    return name.removeprefix("rk.").removeprefix("schedules.")


def _shown(node: ast.expr) -> str:
    return shorten(ast.unparse(node))


def _known() -> str:
    return ", ".join(schedules.__all__)


def written(weight: Weight) -> str:
    """The text of a number or schedule, from which `parsed` makes an equal one.

    Raises:
        RewardDefinitionError: it is a schedule that ``rk.schedules`` does not make.
    """
    if not isinstance(weight, Schedule):
        return repr(weight)
    match weight:
        case Constant():
            return f"constant({weight.value!r})"
        case Scaled():
            return f"{weight.factor!r} * ({written(weight.schedule)})"
        case Multiplied():
            return f"({written(weight.first)}) * ({written(weight.second)})"
        case Summed():
            return f"({written(weight.first)} + {written(weight.second)})"
        case Limited():
            return f"({written(weight.schedule)}).clip({weight.low!r}, {weight.high!r})"
        case Ramp():
            return _ramp(weight)
        case Piecewise():
            return _call("piecewise", [_points(weight.points)], interpolation=repr(weight.interpolation))
        case Joined():
            return _call("join", [_points(weight.pieces)])
        case Cycled():
            return _call("cycle", [written(weight.schedule)], period=repr(weight.period))
        case Extreme():
            return _call(weight.kind, map(written, weight.schedules))
        case Passing():
            return _call("after", [repr(weight.position)], over=repr(weight.over))
        case Reached():
            options = {name: repr(getattr(weight, name)) for name in ("level", "window", "patience", "fall_back")}
            return _call("when_reached", [repr(weight.component)], **options, over=repr(weight.over))
        case Tracking():
            options = {name: repr(getattr(weight, name)) for name in ("low", "high", "half_life")}
            return _call("track", [repr(weight.component)], **options)
    raise RewardDefinitionError(f"{shorten(weight)} is not of rk.schedules, so it cannot be written as text")


def _ramp(ramp: Ramp) -> str:
    options = {"start": repr(ramp.start), "end": repr(ramp.end)}
    if isinstance(ramp.curve, Power):
        options["power"] = repr(ramp.curve.power)
    if isinstance(ramp.curve, Logistic):
        options["steepness"] = repr(ramp.curve.steepness)
    return _call(_CURVES[type(ramp.curve)], [repr(ramp.initial), repr(ramp.target)], **options)


def _points(points: Iterable[tuple[float, Weight]]) -> str:
    return f"{{{', '.join(f'{position!r}: {written(value)}' for position, value in points)}}}"


def _call(name: str, arguments: Iterable[str], **options: str) -> str:
    return f"{name}({', '.join([*arguments, *(f'{option}={value}' for option, value in options.items())])})"
