"""Which exceptions pass through every except; test_results tries the signal handlers themselves."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from rewardkit.workers.signals import from_operator


def test_ctrl_c_is_the_operators_and_errors_are_not() -> None:
    assert from_operator(KeyboardInterrupt())
    for error in (SystemExit(1), ValueError(), MemoryError(), BaseException()):
        assert not from_operator(error)


def test_a_system_exit_in_another_thread_is_never_the_operators() -> None:
    found: list[bool] = []

    def work() -> None:
        try:
            raise SystemExit(1)
        except SystemExit as error:
            found.append(from_operator(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler])
def test_handlers_without_python_code_are_allowed(handler: Any) -> None:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        assert not from_operator(SystemExit(1))
    finally:
        signal.signal(signal.SIGUSR1, before)
