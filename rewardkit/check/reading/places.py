"""Places: the nodes of the source code of a reward's functions, and of the objects in their modules that they use."""

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
"""Characters of a module; a longer one takes too long to read."""


def places(reward: Reward) -> Iterator[Site]:
    """Yield the places in the code of the user's functions; none of functions whose source is not at hand."""
    visited: set[tuple[str, str]] = set()
    todo = [binding.original for _, binding in bindings(reward)]
    while todo:
        original = todo.pop(0)
        function = inspect.unwrap(getattr(original, "func", original))
        if inspect.isfunction(function):  # that it was made for, as in make_reward(scorer)
            todo += filter(inspect.isfunction, closed_over(function))
        named = function if hasattr(function, "__qualname__") else type(function)
        definition = (file_of(function), str(named.__qualname__).split(".")[0])
        if definition[0] and definition not in visited:
            visited.add(definition)
            yield from _places(*definition)


def closed_over(function: FunctionType) -> Iterator[Any]:
    """Yield the values that a function uses from the functions around it."""
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
    """Return the file that defines a function, or the class of an object; "" for rewardkit's own and built-in ones."""
    code = code_of(function)
    path = "" if code is None else code.co_filename
    return "" if path.startswith(_OURS) else path
