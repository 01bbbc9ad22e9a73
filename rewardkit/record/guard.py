"""A guard for recording code: errors are logged and counted, but never reach the training code.

``with guard(): recorder.record(record)``, where ``guard = Guard("runs/x", "these batches")``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from rewardkit.errors import worth_reporting

_LOG = logging.getLogger("rewardkit")


@final
class Guard:
    """A guard that logs recording errors: the first, the tenth, the hundredth, and so on.

    Args:
        path: the run's path.
        lost: the data that is not recorded if an error occurs.
    """

    def __init__(self, path: str, lost: str) -> None:
        self._path = path
        self._lost = lost
        self._failures = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Run the block; log an exception instead of raising it."""
        try:
            yield
        except Exception as error:
            self._failures += 1
            if worth_reporting(self._failures):
                _LOG.warning(
                    "%s: recording failed (%d times so far): %s: %s. Training continues, but %s are not recorded",
                    self._path,
                    self._failures,
                    type(error).__name__,
                    error,
                    self._lost,
                    exc_info=not isinstance(error, OSError),
                )
