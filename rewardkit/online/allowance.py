"""An allowance of seconds: work beside a training takes at most a share of the training's time.

``Allowance(0.01)`` saves 1 % of the time that passes, up to the cost of a few pieces of work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

_SAVED = 3.0
"""The most to save, in times of the last cost: after a long pause there is no rush of work."""


@final
class Allowance:
    """The seconds that may be spent now: saved as time passes, spent by work.

    The first piece of work is free: it is often many times slower than the next ones, because it imports and compiles.

    Args:
        share: of the time that passes, from 0 to 1.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self._saved = self._cost = 0.0
        self._worked = 0
        self._seen: float | None = None

    @property
    def suffices(self) -> bool:
        """Whether work that takes as long as the last one may begin; asking saves for the time since it was asked."""
        now = time.perf_counter()
        passed = 0.0 if self._seen is None else now - self._seen
        self._seen = now
        self._saved = min(self._saved + self.share * passed, _SAVED * self._cost)
        return self._saved >= self._cost

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Spend the seconds that the ``with`` block takes."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._worked += 1
            if self._worked > 1:
                self._cost = time.perf_counter() - started
                self._saved -= self._cost
