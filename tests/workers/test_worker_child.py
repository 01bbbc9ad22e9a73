"""What a worker process sends back: results and exceptions, or why it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from rewardkit.workers import worker


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def deep() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def raises_mute() -> None:
    raise Mute


def test_results_that_cannot_be_pickled_are_an_error() -> None:
    with pytest.raises(RuntimeError, match="worker process"):
        worker.submit(deep, (), timeout=30.0).result(timeout=60)
    assert isinstance(worker.submit(raises_mute, (), timeout=30.0).exception(timeout=60), Mute)


def interrupts() -> None:
    raise KeyboardInterrupt


def test_a_keyboard_interrupt_in_the_function_is_an_error_of_the_call() -> None:
    with pytest.raises(RuntimeError, match="KeyboardInterrupt"):
        worker.submit(interrupts, (), timeout=20.0).result(timeout=60)
