"""Functions of your script or notebook, which a worker process cannot import: they are sent as they are.

``PickledByValue.of(function)(1)`` is ``function(1)``, also in another process. What the function refers to in
``__main__`` (other functions, classes, numbers) is sent along.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, final


def importable(function: Callable[..., Any]) -> bool:
    """Return whether another process can import `function` without running your script again."""
    return getattr(function, "__module__", None) != "__main__"


@final
@dataclass(frozen=True)
class PickledByValue:
    """A function as bytes."""

    packed: bytes

    @classmethod
    def of(cls, function: Callable[..., Any]) -> PickledByValue:
        """Pack a function. Raise pickle's error if something that it refers to cannot be sent."""
        return cls(packed(function))

    def __call__(self, *arguments: Any) -> Any:
        return _unpacked(self.packed)(*arguments)


# Any size: a process runs a few functions, and each holds what it refers to.
@lru_cache(maxsize=16)
def _unpacked(function: bytes) -> Callable[..., Any]:
    unpacked: Callable[..., Any] = pickle.loads(function)
    return unpacked


def packed(value: object) -> bytes:
    """Return `value` as bytes for pickle, with the functions and classes of ``__main__`` in it."""
    with suppress(Exception):
        by_name = pickle.dumps(value)
        if b"__main__" not in by_name:
            return by_name
    import cloudpickle

    class ByValue(cloudpickle.Pickler):  # type: ignore[misc]
        """Sends a reward of the script with its function, where pickle would send only the name."""

        def reducer_override(self, instance: Any) -> Any:
            return with_function(instance, lambda function: not importable(function)) or super().reducer_override(
                instance
            )

    sent = io.BytesIO()
    ByValue(sent).dump(value)
    return sent.getvalue()


def with_function(instance: object, is_sent: Callable[[Callable[..., Any]], bool]) -> tuple[Any, ...] | None:
    """Return how to pickle a reward with its function, where pickle would send only its name; None for the rest.

    Args:
        is_sent: whether a function is sent as it is.
    """
    function = getattr(getattr(instance, "binding", None), "function", None)
    if function is None or not is_sent(function) or not is_dataclass(instance):
        return None
    return type(instance), tuple(getattr(instance, field.name) for field in fields(instance))
