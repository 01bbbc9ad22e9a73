"""The numbers in a reward that can be changed without code: weights, thresholds, and stage ends.

``with_numbers(gate(tags, 0.7 * exact + 0.3 * style), {"weights": {"exact": 0.5}})`` returns the tree with the new
weight.

A weight is named after its component, a threshold after its gate, and a stage end after its stage. An ambiguous name is
prefixed with the names of its parent nodes: ``tags_gate/exact``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from rewardkit import schedules
from rewardkit.errors import RewardDefinitionError, RewardKitError, near_miss, shorten
from rewardkit.progress.schedule import Schedule, Weight, as_weight
from rewardkit.tree.algebra import changed
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.reward import Kind, Reward, Tunable

# Parse schedules: ``parsed("0.5 * linear(0.0, 1.0, end=0.3)")`` returns that schedule.


LONGEST = 2_000
"""The maximum number of characters in an expression. The limit is arbitrary, but sufficient because weights and
schedules are one-line expressions."""
DEEPEST = 40
"""The maximum nesting depth of calls and operations. The limit is arbitrary and bounds the recursion during
evaluation."""

_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def parse_weight(text: object) -> Weight:
    """Parse a number or schedule from `text`. If `text` is already a number, return it unchanged.

    Raises:
        RewardDefinitionError: the text is not a number or a valid schedule.
    """
    if not isinstance(text, str):
        return as_weight(text)
    if len(text) > LONGEST:
        raise RewardDefinitionError(f"a schedule can have at most {LONGEST:,} characters, got {len(text):,}")
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
        return _evaluate_call(node, depth)
    raise RewardDefinitionError(
        f"{_shown_expression(node)} is not allowed in a schedule. Use numbers, {_schedule_names()}, + - *, .clip()"
    )


def _operand(node: ast.expr, depth: int) -> Any:
    value = _value(node, depth + 1)
    if isinstance(value, bool) or not isinstance(value, (int, float, Schedule)):
        raise RewardDefinitionError(f"{_shown_expression(node)} is neither a number nor a schedule")
    return value


def _evaluate_call(node: ast.Call, depth: int) -> Any:
    arguments = [_value(argument, depth + 1) for argument in node.args]
    options: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise RewardDefinitionError(f"{_shown_expression(node)}: ** is not allowed. Write out the options")
        options[keyword.arg] = _value(keyword.value, depth + 1)
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "clip":
        schedule = _value(function.value, depth + 1)
        if not isinstance(schedule, Schedule):
            raise RewardDefinitionError(f"{_shown_expression(function.value)} is not a schedule, so it has no .clip()")
        return schedule.clip(*arguments, **options)
    name = _name(function)
    if name not in schedules.__all__:
        raise RewardDefinitionError(
            f"{_shown_expression(function)} is not a schedule.{near_miss(name, schedules.__all__)} "
            f"Choose from: {_schedule_names()}"
        )
    return getattr(schedules, name)(*arguments, **options)


def _name(function: ast.expr) -> str:
    """Return ``linear`` for ``linear``, ``schedules.linear``, and ``rk.schedules.linear``."""
    name = ast.unparse(function)
    return name.removeprefix("rk.").removeprefix("schedules.")


def _shown_expression(node: ast.expr) -> str:
    return shorten(ast.unparse(node))


def _schedule_names() -> str:
    return ", ".join(schedules.__all__)


KINDS: tuple[Kind, ...] = get_args(Kind)

Numbers = Mapping[str, Mapping[str, Any]]
"""Kind -> name -> a number, or a schedule as a string."""


@dataclass(frozen=True)
class Number:
    """One number in a reward.

    Attributes:
        path: the names of the parent nodes, followed by the number's own name.
        node: the reward that contains the number. Equal rewards are one node.
        place: the index of the number in `node`'s tunables.
    """

    kind: Kind
    path: tuple[str, ...]
    value: Any
    node: Reward
    place: int

    @property
    def text(self) -> str:
        return "/".join(self.path)


def tunables(reward: Reward) -> list[Number]:
    """Return all numbers in `reward`, in tree order, each with a unique path."""
    names = Scorer(reward).names
    labels = {node: name for name, node in (*names.terms, *names.components, *names.gates)}
    known_numbers: list[Number] = []
    used_paths: set[tuple[Kind, tuple[str, ...]]] = set()
    for number in _walk_numbers(reward, (), labels, set()):
        *parent_path, leaf_name = number.path
        path, count = number.path, 1
        while (number.kind, path) in used_paths:
            count += 1
            path = (*parent_path, f"{leaf_name}#{count}")
        used_paths.add((number.kind, path))
        known_numbers.append(replace(number, path=path))
    return known_numbers


def _walk_numbers(
    node: Reward, path: tuple[str, ...], labels: Mapping[Reward, str], visited: set[Reward]
) -> Iterator[Number]:
    if node in visited:
        return
    visited.add(node)
    facts = node.facts
    label = labels.get(node, node.name)
    node_path = (*path, label) if label else path
    for index, (kind, value, child, stage) in enumerate(facts.tunables):
        number_path = (*node_path, stage) if stage else node_path
        if child is not None:
            if child.facts.addends == ():  # the weight of a monitor has no effect
                continue
            number_path = (*number_path, labels.get(child, child.name) or "sum")
        yield Number(kind, number_path, value, node, index)
    stages = facts.prefixes if facts.stages else ("",) * len(facts.children)
    for stage, child in zip(stages, facts.children, strict=True):
        yield from _walk_numbers(child, (*node_path, stage) if stage else node_path, labels, visited)


def numbers_of(reward: Reward) -> dict[str, dict[str, float | str]]:
    """Return the numbers in `reward` in the form that `with_numbers` accepts."""
    known_numbers = tunables(reward)
    return {
        kind: {
            _key(number, known_numbers): _display_value(number.value) for number in known_numbers if number.kind == kind
        }
        for kind in KINDS
    }


def _key(number: Number, known_numbers: list[Number]) -> str:
    """Return the shortest suffix of the number's path that is unique in `known_numbers`."""
    paths = [other.path for other in known_numbers if other.kind == number.kind]
    for length in range(1, len(number.path)):
        if sum(path[-length:] == number.path[-length:] for path in paths) == 1:
            return "/".join(number.path[-length:])
    return number.text


def _display_value(value: Any) -> float | str:
    plain_value: float | str = value.text if isinstance(value, Schedule) else value
    return plain_value


def with_numbers(reward: Reward, numbers: Numbers) -> Reward:
    """Return `reward` with new numbers, which are validated in the same way as when a reward is created.

    Raises:
        RewardDefinitionError: a name is unknown or ambiguous, or a number is invalid.
    """
    known_numbers = tunables(reward)
    changes: dict[tuple[Reward, int], Any] = {}
    for kind, values in numbers.items():
        if kind not in KINDS:
            raise RewardDefinitionError(
                f"there are no {kind!r} to set.{near_miss(kind, KINDS)} Choose from: {', '.join(KINDS)}"
            )
        for name, value in values.items():
            target = _find_number(name, kind, known_numbers)
            changes[target.node, target.place] = _check_value(value, f"{kind}.{name}")

    def number(node: Reward, index: int, tunable: Tunable) -> Any:
        return _cast_number(changes.get((node, index), tunable.value), tunable)

    updated: Reward = changed(reward, lambda node: node, number)
    return updated


def replaced_values(reward: Reward, numbers: Numbers) -> dict[str, dict[str, float | str]]:
    """Return the values in `reward` that `with_numbers` would replace, with the names in `numbers`."""
    known_numbers = tunables(reward)
    return {
        kind: {name: _display_value(_find_number(name, kind, known_numbers).value) for name in values}
        for kind, values in numbers.items()
    }


def _find_number(name: str, kind: str, known_numbers: list[Number]) -> Number:
    same_kind = [number for number in known_numbers if number.kind == kind]
    exact = [number for number in same_kind if number.text == name]
    matches = exact or [number for number in same_kind if f"/{number.text}".endswith(f"/{name}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise RewardDefinitionError(
            f"{kind}: {name!r} is ambiguous. Use one of: {', '.join(number.text for number in matches)}"
        )
    names = [_key(number, known_numbers) for number in same_kind]
    raise RewardDefinitionError(
        f"{kind}: the reward has no {shorten(name)}.{near_miss(name, names)} Choose from: {', '.join(names) or 'none'}"
    )


def _check_value(value: Any, where: str) -> Any:
    """Convert `value` to a number or a schedule. An int stays an int, because a stage end may be a step."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parse_weight(value)
    except RewardDefinitionError as error:
        raise RewardDefinitionError(f"{where}: {error}") from None


def _cast_number(value: Any, tunable: Tunable) -> Any:
    """Convert `value` to the type that the tunable's node accepts."""
    if value is tunable.value:
        return value
    value = as_weight(value) if isinstance(value, Schedule) else value  # a constant schedule becomes a number
    return float(value) if tunable.kind != "schedules" and isinstance(value, int) else value
