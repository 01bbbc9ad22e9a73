"""What the source of a function says: arguments that are only zipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rewardkit.check.reward_under_test.vocabulary import only_zipped, uses_argument


def unread(completions: Any, target: Any) -> list[float]:
    scores = []
    for text, _gold in zip(completions, target, strict=False):
        scores.append(float(len(text)))
    return scores


def unread_in_a_list(completions: Any, target: Any) -> list[float]:
    return [float(len(text)) for text, gold in zip(completions, target, strict=True)]


def numbered(completions: Any, target: Any) -> list[float]:
    return [float(place + len(text)) for place, (text, _) in enumerate(zip(completions, target, strict=True))]


def read(completions: Any, target: Any) -> list[float]:
    return [float(gold in text) for text, gold in zip(completions, target, strict=True)]


def read_twice(completions: Any, target: Any) -> list[float]:
    return [float(len(target)) for _, _ in zip(completions, target, strict=True)]


def pairs(completions: Any, target: Any) -> list[float]:
    return [float(pair[0] == pair[1]) for pair in zip(completions, target, strict=True)]


def passed_on(completions: Any, target: Any) -> list[float]:
    return read(completions, target)


@pytest.mark.parametrize("function", [unread, unread_in_a_list, numbered])
def test_an_argument_whose_items_are_never_read(function: Callable[..., Any]) -> None:
    assert only_zipped(function, "target")
    assert not only_zipped(function, "completions")
    assert not uses_argument(function, "target")


@pytest.mark.parametrize("function", [read, read_twice, pairs, passed_on])
def test_an_argument_that_is_read(function: Callable[..., Any]) -> None:
    assert not only_zipped(function, "target")
    assert uses_argument(function, "target")


def test_functions_without_source() -> None:
    made: dict[str, Any] = {}
    exec("def made(completions, target): return [0.0 for a, b in zip(completions, target)]", made)
    assert not only_zipped(made["made"], "target")
    assert not only_zipped(len, "target")
