"""JSON changes: ``{"qty": 1}`` becomes ``{}``, ``{"qty": null}``, ``{"qty": 1, "surplus": 0}``, and so on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]


def changed_values(value: Any, schema: Any = None) -> Iterator[Any]:
    """Yield `value` with one thing changed: parts missing first, then wrong values, then parts too many.

    Args:
        value: a JSON value.
        schema: a JSON schema; its numbers and enumerated texts are among the wrong values.
    """
    numbers, texts = _literals(schema)
    spots = list(_spots(value, ()))
    for path, part in spots:
        if isinstance(part, dict):
            for name in part:
                yield _replaced(value, (*path, name), _Gone)
    for path, part in spots:
        for other in _unlike(part, numbers, texts):
            if other != part or isinstance(other, bool) is not isinstance(part, bool):
                yield _replaced(value, path, other)
    for path, part in spots:
        if isinstance(part, dict):
            yield _replaced(value, path, {**part, "surplus": 0})
            yield from (_replaced(value, path, {**part, "surplus": {**part}}) for _ in range(bool(part)))
        elif isinstance(part, list) and part:
            yield _replaced(value, path, part[:-1])
            yield _replaced(value, path, [*part, part[0]])
            yield _replaced(value, path, part * 20)
            yield _replaced(value, path, [])


def _unlike(part: Any, numbers: list[Any], texts: list[str]) -> Iterator[Any]:
    """Yield other values in place of `part`, those of its own type last."""
    others: list[Any] = [None, "x", 0, [], {}, True]
    for other in others:
        if type(other) is not type(part):
            yield other
    if isinstance(part, (int, float)) and not isinstance(part, bool):
        yield from (number + step for number in numbers for step in (-1, 1))
        yield from (-1, -(10**9), 10**9, 0.5, 1e300)
    if isinstance(part, str):
        yield from ("", "?", f"{part}?", f"?{part}", part.swapcase())
        yield from ("x" * min(number + 1, 1_000) for number in numbers if isinstance(number, int) and number >= 0)
        yield from texts


def _literals(root: Any) -> tuple[list[Any], list[str]]:
    """Return the numbers in a schema, and variants of its enumerated texts."""
    numbers: dict[Any, None] = {}
    texts: dict[str, None] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (int, float)) and not isinstance(node, bool):
            numbers.setdefault(node)
        if isinstance(node, dict):
            choices = node["enum"] if isinstance(node.get("enum"), list) else ()
            texts.update((one, None) for one in choices if isinstance(one, str))
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return list(numbers)[:12], [f"{text}?" for text in list(texts)[:6]]


def _spots(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    below: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(below)[:12]:
        yield from _spots(part, (*path, key))


class _Gone:
    """Marks a value to remove."""


def _replaced(value: Any, path: Path, other: Any) -> Any:
    if not path:
        return other
    made = copy.copy(value)
    if other is _Gone and len(path) == 1:
        del made[path[0]]
    else:
        made[path[0]] = _replaced(value[path[0]], path[1:], other)
    return made
