"""Clocks for the check, since a real one says more about the machine than about a reward or a law."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

_TIMED = ("check", "run.execution", "reward_under_test.reward_under_test", "reward_under_test.sensitivity")
"""Modules of the check that look at the time, besides the measurements, the search and the child processes."""


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def perf_counter(self) -> float:
        return self.monotonic()

    def process_time(self) -> float:
        return self.monotonic()


class CountingClock(Clock):
    """A clock that advances by a millisecond whenever it is read, so work takes the same time on any machine."""

    def monotonic(self) -> float:
        self.now += 1e-3
        return self.now


@contextmanager
def check_goes_by(clock: Clock) -> Iterator[None]:
    """Let the check go by this clock."""
    with ExitStack() as patches:
        for module in _TIMED:
            patches.enter_context(mock.patch(f"rewardkit.check.{module}.time", clock))
        yield
