"""Places: the syntax tree nodes of a reward's functions, and of the module-level objects that the functions use."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from rewardkit.check.mutants.sites import Site, Source, sites_of
from rewardkit.check.reward_under_test.vocabulary import code_of
from rewardkit.tree.reward import Reward, bindings

_OURS = str(Path(__file__).resolve().parents[2])
_LONGEST = 200_000
"""The maximum length of a module to read, in characters. Arbitrary: longer modules take too long."""


def places(reward: Reward) -> Iterator[Site]:
    """Yield the places in the code of the user's functions. Functions without available source are skipped."""
    visited: set[tuple[str, str]] = set()
    todo = [binding.original for _, binding in bindings(reward)]
    while todo:
        original = todo.pop(0)
        function = inspect.unwrap(getattr(original, "func", original))
        if inspect.isfunction(function):  # the functions passed to a factory, as in make_reward(scorer)
            todo += filter(inspect.isfunction, closed_over(function))
        named = function if hasattr(function, "__qualname__") else type(function)
        definition = (file_of(function), str(named.__qualname__).split(".")[0])
        if definition[0] and definition not in visited:
            visited.add(definition)
            yield from _places(*definition)


def closed_over(function: FunctionType) -> Iterator[Any]:
    """Yield the values in a function's closure."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _places(path: str, name: str) -> Iterator[Site]:
    text = "".join(linecache.getlines(path))
    if not text or len(text) > _LONGEST:
        return
    try:
        source = Source(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from sites_of(source, name)


def file_of(function: Any) -> str:
    """Return the file that defines a function or an object's class, or "" for rewardkit's code and built-ins."""
    code = code_of(function)
    path = "" if code is None else code.co_filename
    return "" if path.startswith(_OURS) else path
