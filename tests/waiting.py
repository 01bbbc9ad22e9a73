"""Waiting in tests: for what happens, never for a time that should be enough."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 60.0
"""Far beyond what the busiest machine needs, so that only what never happens fails."""


def until(condition: Callable[[], bool]) -> None:
    """Wait until `condition` holds; fail if it never does."""
    end = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < end, f"it did not happen within {_SECONDS:g} s"
        time.sleep(0.02)
