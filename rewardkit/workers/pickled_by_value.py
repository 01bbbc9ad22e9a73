"""Pickling by value for functions in your script or notebook, because a worker process cannot import them.

``PickledByValue.of(function)(1)`` is ``function(1)``, even in another process. Everything in ``__main__`` that the
function refers to (other functions, classes, numbers) is also sent.
"""

from __future__ import annotations

import inspect
import io
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, final

BY_VALUE = {"__main__"}
"""The names of the modules whose functions and classes are sent by value, because an import would run a script."""


def importable(function: Callable[..., Any]) -> bool:
    """Return whether another process can import `function` without running your script again."""
    return getattr(inspect.unwrap(function), "__module__", None) not in BY_VALUE


@final
@dataclass(frozen=True)
class PickledByValue:
    """A function pickled by value, which is called like the original."""

    packed: bytes

    @classmethod
    def of(cls, function: Callable[..., Any]) -> PickledByValue:
        """Pickle `function`; raise pickle's error if something that the function refers to cannot be pickled."""
        return cls(packed(function))

    def __call__(self, *arguments: Any) -> Any:
        return _unpacked(self.packed)(*arguments)


# Arbitrary size: a process runs only a few functions, and each keeps everything it refers to in memory.
@lru_cache(maxsize=16)
def _unpacked(function: bytes) -> Callable[..., Any]:
    unpacked: Callable[..., Any] = pickle.loads(function)
    return unpacked


def packed(value: object) -> bytes:
    """Return `value` pickled, together with the functions and classes in scripts (`BY_VALUE`) that it refers to."""
    with suppress(Exception):
        by_name = pickle.dumps(value)
        if not any(name.encode() in by_name for name in BY_VALUE):
            return by_name
    import cloudpickle

    for name in BY_VALUE & set(sys.modules) - {"__main__"}:
        cloudpickle.register_pickle_by_value(sys.modules[name])

    class ByValue(cloudpickle.Pickler):  # type: ignore[misc]
        """A pickler that sends a script's reward with its function; pickle would send only the function's name."""

        def reducer_override(self, instance: Any) -> Any:
            return with_function(instance, lambda function: not importable(function)) or super().reducer_override(
                instance
            )

    sent = io.BytesIO()
    ByValue(sent).dump(value)
    return sent.getvalue()


def with_function(instance: object, is_sent: Callable[[Callable[..., Any]], bool]) -> tuple[Any, ...] | None:
    """Return the reduce value (class, arguments) that pickles a reward with its function, or None for other objects.

    Without this value, pickle would send only the function's name.

    Args:
        is_sent: a function that returns whether to send a function by value.
    """
    function = getattr(getattr(instance, "binding", None), "function", None)
    if function is None or not is_sent(function) or not is_dataclass(instance):
        return None
    return type(instance), tuple(getattr(instance, field.name) for field in fields(instance))
