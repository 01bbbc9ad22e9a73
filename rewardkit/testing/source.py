"""Source: what the source code of a function says that its bytecode does not."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any


def only_zipped(function: Callable[..., Any], name: str) -> bool:
    """Whether a function only iterates over its argument `name`, beside others, and never reads the items.

    ``for completion, gold in zip(completions, target): ...`` is copied from reward to reward, also where no line reads
    ``gold``. False if there is no source.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    read = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    items = [item for target, source in _loops(tree) for item in _items_of(target, source, name)]
    return (
        bool(items) and read.count(name) == len(items) and all(item is not None and item not in read for item in items)
    )


def _loops(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the target and the iterable of every loop."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield node.target, node.iter


def _items_of(target: ast.expr, source: ast.expr, name: str) -> Iterator[str | None]:
    """Yield the variable that takes the items of `name` in ``for a, b in zip(x, name)``; None if there is none."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
        return
    if source.func.id == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and source.args:
        yield from _items_of(target.elts[1], source.args[0], name)
    elif source.func.id == "zip":
        parts = target.elts if isinstance(target, ast.Tuple) else []
        for place, argument in enumerate(source.args):
            if isinstance(argument, ast.Name) and argument.id == name:
                part = parts[place] if len(parts) == len(source.args) else None
                yield part.id if isinstance(part, ast.Name) else None
