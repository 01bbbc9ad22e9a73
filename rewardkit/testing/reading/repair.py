"""Repair: run a reward with another text at one place of its code, without running its module again.

The module is compiled with the change, and the new code of the function around the place is put in place of the old
code while the block runs. At the top level, the value of the one constant is computed again.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

from rewardkit.core.tree.reward import Reward, bindings
from rewardkit.testing.mutation.sites import Site
from rewardkit.testing.reading.places import closed_over

_DEPTH = 8


class NotRepaired(Exception):
    """The place belongs to no function or constant that can be exchanged while the process runs."""


@contextmanager
def repaired(reward: Reward, site: Site, text: str) -> Iterator[None]:
    """Inside the block, the reward runs with `text` at a place of its code.

    Raises:
        NotRepaired: that cannot be done, or the file has changed since it was loaded.
    """
    source = site.source.replaced(site.node, text)
    try:
        before, after = (_codes(compile(one, "<repaired>", "exec")) for one in (site.source.text, source))
    except (SyntaxError, ValueError) as error:
        raise NotRepaired(str(error)) from None
    names = [one.name for one in site.parents if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    functions = list(reachable(reward))
    if not names:
        yield from _with_constant(functions, site, source)
        return
    changed = {place for place, code in after.items() if place in before and before[place] != code}
    exchanged = [one for one in functions if _place(one.__code__) in changed and _same(one.__code__, before)]
    if not exchanged:
        raise NotRepaired(f"{names[-1]} was not found as it is in its file")
    originals = [one.__code__ for one in exchanged]
    try:
        for one in exchanged:
            one.__code__ = after[_place(one.__code__)]
        yield
    finally:
        for one, code in zip(exchanged, originals, strict=True):
            one.__code__ = code


def _with_constant(functions: list[FunctionType], site: Site, source: str) -> Iterator[None]:
    """Exchange the value of a constant of the module."""
    statement = site.parents[-1] if site.parents else None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    spaces = [one.__globals__ for one in functions if isinstance(target, ast.Name) and target.id in one.__globals__]
    if not isinstance(target, ast.Name) or not spaces:
        raise NotRepaired("it is no constant of a module that is in use")
    space, name = spaces[0], target.id
    written = next(
        one for one in ast.parse(source).body if getattr(one, "lineno", 0) == getattr(statement, "lineno", -1)
    )
    assert isinstance(written, (ast.Assign, ast.AnnAssign))
    assert written.value is not None
    try:
        value = eval(compile(ast.Expression(written.value), "<repaired>", "eval"), dict(space))
    except Exception as error:  # it was made of something that is no more what it was
        raise NotRepaired(str(error)) from None
    original = space[name]
    if type(value) is not type(original):
        raise NotRepaired(f"{name} has changed")
    space[name] = value
    try:
        yield
    finally:
        space[name] = original


def _codes(module: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return the code of all functions of a module, by name and line."""
    found: dict[tuple[str, int], CodeType] = {}
    todo = [module]
    while todo:
        for constant in todo.pop().co_consts:
            if isinstance(constant, CodeType):
                found[_place(constant)] = constant
                todo.append(constant)
    return found


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _same(code: CodeType, known: Mapping[tuple[str, int], CodeType]) -> bool:
    """Whether the code that runs is the one of the file."""
    other = known.get(_place(code))
    return other is not None and (code.co_code, code.co_freevars) == (other.co_code, other.co_freevars)


def reachable(reward: Reward) -> Iterator[FunctionType]:
    """Yield the functions of a reward, and those of their modules that they use."""
    seen: set[int] = set()
    todo: list[tuple[Any, int]] = [(binding.original, _DEPTH) for _, binding in bindings(reward) if not binding.trusted]
    while todo:
        value, depth = todo.pop()
        value = inspect.unwrap(getattr(value, "func", value)) if callable(value) else value
        if id(value) in seen or depth < 0:
            continue
        seen.add(id(value))
        if inspect.ismethod(value):
            todo += [(value.__func__, depth), (value.__self__, depth)]
        elif isinstance(value, FunctionType):
            yield value
            todo += [(one, depth - 1) for one in _used(value)]
        elif not isinstance(value, type) and type(value).__module__ not in ("builtins", "re"):
            todo += [
                (one, depth - 1) for one in vars(type(value)).values() if isinstance(one, (FunctionType, staticmethod))
            ]


def _used(function: FunctionType) -> Iterator[Any]:
    """Yield what a function uses of its own module, and of the functions around it."""
    file = function.__code__.co_filename
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
        if getattr(code, "co_filename", file) == file and value is not None:
            yield value
    yield from closed_over(function)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
