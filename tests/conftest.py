"""For all tests: what Hypothesis does, and how two processes share the tests and tell each other of failures.

``pytest --hypothesis-profile=exploring`` draws other examples in every run.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# No test is held to a time, because the machine may be busy with others.
settings.register_profile("exploring", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")

# Whoever starts the tests in the background has them ignore Ctrl-C, and with them all processes that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _folders_of_modules() -> Generator[None, None, None]:
    """Loading a reward from a file adds its folder to those of modules; in another test they would hide others."""
    before = sys.path[:]
    yield
    sys.path[:] = before


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with slow tests go first, then those with many: a long one at the end would keep one process alone."""
    if not hasattr(config, "workerinput"):
        return  # alone, a process takes them as they come
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    count = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in slow, -count[item.path]))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """What a failing test says may hold half a character, which cannot be sent to another process."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_encodable, value))
    return value
