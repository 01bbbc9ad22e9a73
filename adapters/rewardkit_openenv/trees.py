"""Trees of OpenEnv's rubrics, read without importing OpenEnv."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

CONTAINERS = "openenv.core.rubrics.containers"
"""The module of WeightedSum, Gate and Sequential."""


def is_rubric(value: Any) -> bool:
    """Return whether `value` is an instance of a class of rubrics."""
    return not isinstance(value, type) and _base(value) is not None


def _base(rubric: Any) -> type | None:
    """Return OpenEnv's own class Rubric."""
    kinds = (kind for kind in type(rubric).__mro__ if kind.__name__ == "Rubric" and "named_rubrics" in vars(kind))
    return next(kinds, None)


def nodes(rubric: Any) -> Iterator[Any]:
    """Yield a rubric and all rubrics in it."""
    yield rubric
    yield from rubric.rubrics()


def is_container(rubric: Any, name: str) -> bool:
    """Return whether it is exactly OpenEnv's own container `name`, without hooks that want to see it called."""
    kind = type(rubric)
    hooked = rubric._forward_hooks or rubric._forward_pre_hooks
    return kind.__name__ == name and kind.__module__ == CONTAINERS and not hooked


def is_asynchronous(rubric: Any) -> bool:
    """Return whether calling it may return a coroutine, because one of its rubrics has an async ``forward``."""
    return any(
        inspect.iscoroutinefunction(method) for node in nodes(rubric) for method in (node.forward, type(node).__call__)
    )


def has_state(rubric: Any) -> bool:
    """Return whether one of its rubrics remembers something: it has a ``reset`` of its own."""
    return any(type(node).reset is not getattr(_base(node), "reset", None) for node in nodes(rubric))


def setters(rubric: Any) -> list[str]:
    """Return the methods with which an environment tells its rubrics something at its reset: ``set_expected``."""
    names = {
        f"{type(node).__name__}.{name}"
        for node in nodes(rubric)
        for name in dir(type(node))
        if name.startswith("set_") and callable(getattr(type(node), name))
    }
    return sorted(names)


def ignored_forwards(rubric: Any) -> list[str]:
    """Return the classes whose ``forward`` is never called: that of a container's subclass, which inherits its call."""
    found = {}
    for node in nodes(rubric):
        for kind in type(node).__mro__:
            if "__call__" in vars(kind):
                if kind.__module__ == CONTAINERS and "forward" in _own(type(node), kind):
                    found[type(node).__name__] = kind.__name__
                break
    return [f"{name} (a {kind})" for name, kind in found.items()]


def _own(kind: type, container: type) -> set[str]:
    """Return the attributes that a class and its bases define before `container`."""
    kinds = kind.__mro__[: kind.__mro__.index(container)]
    return {name for one in kinds for name in vars(one)}
