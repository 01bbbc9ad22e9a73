"""Calls to `computer_algebra`, which only worker processes import: ``submit("check", gold, timeout=3.0)``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rewardkit.core.errors import WorkerDied
from rewardkit.core.processes import worker

MEMORY_BYTES = 256_000_000
"""The memory that one comparison may use in addition to the loaded libraries."""

TOO_MUCH = (TimeoutError, MemoryError, RecursionError, WorkerDied)
"""The errors that end a comparison that needs too much time or memory."""


def submit(name: str, *arguments: Any, timeout: float, **options: Any) -> worker.Call:
    """Call a function of `computer_algebra` in a worker that is killed after `timeout` seconds."""
    return worker.submit(_Symbolic(name, options), arguments, timeout, MEMORY_BYTES)


@dataclass(frozen=True)
class _Symbolic:
    """A function that is looked up when unpickled, so that the worker loads sympy before the clock starts."""

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
