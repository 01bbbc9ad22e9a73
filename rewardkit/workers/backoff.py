"""Pauses between retries: ``Backoff(first=0.1, longest=10.0, seconds=60.0).pause()`` is about 0.1, then about 0.2.

Code that must work with only the base installation uses this class for retries. Judge endpoints and the shared cache
use tenacity.
"""

from __future__ import annotations

import random
import time
from typing import final


@final
class Backoff:
    """Exponential backoff with a time limit. Each pause is about twice as long as the previous pause.

    Args:
        first, longest: the first and the longest pause, in seconds.
        seconds: the time limit for all attempts combined. Pauses do not extend past the limit.
    """

    def __init__(self, first: float, longest: float, seconds: float) -> None:
        self._pause = first
        self._longest = longest
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds left for retries; 0.0 after the time limit."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, least: float = 0.0) -> float:
        """Return the randomized number of seconds to wait before the next attempt.

        Without randomness, all callers that failed together would retry together.

        Args:
            least: the pause in seconds that the other side requested. It is used if it is longer.
        """
        # Arbitrary: a factor between 0.5 and 1.5 is enough to spread out the callers.
        pause = max(least, self._pause) * random.uniform(0.5, 1.5)
        self._pause = min(2 * self._pause, self._longest)
        return min(pause, self.left)
