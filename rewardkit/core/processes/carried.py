"""Carried functions: those of a notebook or of ``python -c``, which a worker process cannot import, sent as they are.

``Carried.of(function)(1)`` is ``function(1)``, also in another process. What the function refers to in ``__main__``
(names of other cells) is sent along.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.spawn import get_preparation_data
from typing import Any, final


def main_module() -> dict[str, Any]:
    """Return what a process needs to import the functions of the script; nothing if there is no script to import."""
    prepared = get_preparation_data("rewardkit worker")
    if not os.path.exists(prepared.get("init_main_from_path", ".")):  # such as "<stdin>"
        return {}
    return {key: prepared[key] for key in ("init_main_from_name", "init_main_from_path") if key in prepared}


def importable(function: Callable[..., Any]) -> bool:
    """Return whether another process can import the module of `function`."""
    return getattr(function, "__module__", None) != "__main__" or bool(main_module())


@final
@dataclass(frozen=True)
class Carried:
    """A function as bytes."""

    packed: bytes

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Carried:
        """Pack a function; raise what pickle raises if something that it refers to cannot be sent."""
        return cls(packed(function))

    def __call__(self, *arguments: Any) -> Any:
        return _unpacked(self.packed)(*arguments)


@lru_cache(maxsize=16)
def _unpacked(function: bytes) -> Callable[..., Any]:
    unpacked: Callable[..., Any] = pickle.loads(function)
    return unpacked


def packed(value: object) -> bytes:
    """Return `value` as bytes for pickle, with the functions and classes of ``__main__`` in it."""
    import cloudpickle

    as_bytes: bytes = cloudpickle.dumps(value)
    return as_bytes
