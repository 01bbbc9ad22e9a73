"""Pauses between tries: ``Backoff(first=0.1, longest=10.0, seconds=60.0).pause()`` is about 0.1, then about 0.2.

What needs only the base installation retries with it; the endpoint of judges and the shared cache use tenacity.
"""

from __future__ import annotations

import random
import time
from typing import final


@final
class Backoff:
    """The pauses between the tries of one thing: each is twice as long as the one before, and none ends too late.

    Args:
        first, longest: seconds of the first pause, and of the longest.
        seconds: the seconds after which there is no further try.
    """

    def __init__(self, first: float, longest: float, seconds: float) -> None:
        self._pause = first
        self._longest = longest
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until there is no further try; 0.0 if the time is over."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, least: float = 0.0) -> float:
        """Return the seconds to wait now; `least` if the other side asked for it, and randomized.

        Without randomness, all callers that failed together would come back together.
        """
        # Half as long up to half as long again: any spread that parts the callers.
        pause = max(least, self._pause) * random.uniform(0.5, 1.5)
        self._pause = min(2 * self._pause, self._longest)
        return min(pause, self.left)
