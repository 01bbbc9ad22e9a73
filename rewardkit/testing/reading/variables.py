"""Variables: which column a variable in the code of a reward has a cell of.

In ``for text, kind in zip(completions, level)`` the variable ``kind`` has a cell of the column ``level``, and so has
``kwargs["level"][i]``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from rewardkit.testing.mutation.sites import Site

_UNCHANGED = ("lower", "strip", "casefold", "upper")
_STEPS = 6


def column_of(node: ast.AST, site: Site) -> str:
    """Return the column that an expression may read, or ""; a variable of no column is taken for a column itself."""
    name = _named(node)
    functions = [one for one in site.parents if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    known = _variables(functions[-1]) if functions else {}
    for _ in range(_STEPS):
        if name not in known or known[name] == name:
            break
        name = known[name]
    return name


@lru_cache(maxsize=64)
def _variables(function: ast.AST) -> dict[str, str]:
    """Return what each variable of a function is taken from: a parameter, a column of ``kwargs``, another variable."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            found.update(_items(node.target, node.iter))
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, _named(node.value))
    return {name: source for name, source in found.items() if source}


def _items(target: ast.expr, source: ast.expr) -> Iterator[tuple[str, str]]:
    """Yield (variable, what it is taken from) for the targets of a loop."""
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and isinstance(target, ast.Tuple):
        if source.func.id == "enumerate" and len(target.elts) == 2 and source.args:
            yield from _items(target.elts[1], source.args[0])
        elif source.func.id == "zip" and len(source.args) == len(target.elts):
            for part, argument in zip(target.elts, source.args, strict=True):
                yield from _items(part, argument)
    elif isinstance(target, ast.Name):
        yield target.id, _named(source)


def _named(node: ast.AST) -> str:
    """Return "level" for ``level``, ``level[i].strip()``, ``kwargs["level"][i]`` and ``kwargs.get("level")``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _UNCHANGED:
            return _named(node.func.value)
        if node.func.attr == "get" and node.args:
            return _key(node.args[0])
    if isinstance(node, ast.Subscript):
        return _key(node.slice) or _named(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _key(node: ast.AST) -> str:
    text = node.value if isinstance(node, ast.Constant) else None
    return text if isinstance(text, str) and re.fullmatch(r"\w+", text) else ""
