"""The way to `symbolic`, which only worker processes import: ``submit("check", gold, timeout=3.0)``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rewardkit.core.processes import worker

MEMORY_BYTES = 256_000_000
"""What one comparison may take beside the loaded libraries."""

TOO_MUCH = (TimeoutError, MemoryError, RecursionError, worker.WorkerDied)
"""What a comparison that takes too much ends with."""


def submit(name: str, *arguments: Any, timeout: float, **options: Any) -> worker.Call:
    """Calls a function of `symbolic` in a worker that is killed after `timeout` seconds."""
    return worker.submit(_Symbolic(name, options), arguments, timeout, MEMORY_BYTES)


@dataclass(frozen=True)
class _Symbolic:
    """Becomes the function where it is unpickled: the worker loads sympy then, before the clock starts."""

    name: str
    options: dict[str, Any] = field(hash=False)

    def __call__(self, *arguments: Any) -> str:
        result: str = _function(self.name)(*arguments, **self.options)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self.name, self.options)


def _loaded(name: str, options: dict[str, Any]) -> _Symbolic:
    _function(name)
    return _Symbolic(name, options)


def _function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(
        importlib.import_module("rewardkit.primitives.mathematics.computer_algebra"), name
    )
    return function
