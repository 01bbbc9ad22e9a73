"""For all tests: how many examples Hypothesis tries, and what two processes tell each other.

``--hypothesis-profile`` chooses one of three: ``quick`` (the default) tries 25 examples, the same ones every time,
``thorough`` 100, ``random`` draws 200 new ones in every run. `make test`, `make test-all` and `make proof` use them.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# No test has a deadline, because the machine may be busy.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=100)
settings.register_profile("random", deadline=None, max_examples=200)
settings.load_profile("quick")

# A shell that starts the tests in the background makes them ignore Ctrl-C, and with them all processes they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_PARTS = {
    "Chromium": ("chromium", "the web page", "apt-get install chromium, or REWARDKIT_CHROMIUM=/path/to/chromium"),
    "bubblewrap": ("bubblewrap", "the sandbox", "apt-get install bubblewrap"),
}
"""System parts: a word of the reason why tests skip without one, what they test, and how to get it."""


@pytest.fixture(autouse=True)
def _folders_of_modules() -> Generator[None, None, None]:
    """Loading a reward from a file adds its folder to those of modules; in another test it would hide others."""
    before = sys.path[:]
    yield
    sys.path[:] = before


class _Skipped:
    """Counts the tests that skip because a system part is missing, and says so in the last line."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].lower()
            for part, (word, _, _) in _PARTS.items():
                self._counts[part] += word in reason

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        missing = [
            f"{count} tests of {_PARTS[part][1]} skipped because {part} is missing: {_PARTS[part][2]}"
            for part, count in self._counts.items()
            if count
        ]
        if missing:
            print("; ".join(missing))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Skipped(), "skipped parts")


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """The report of a failing test may hold half a character, which cannot be sent to another process."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_encodable, value))
    return value
