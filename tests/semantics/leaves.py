"""Small leaves with a known score for the tests of the semantics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rewardkit as rk

NAN = float("nan")


def leaf(name: str, value: Callable[[str], float | None], **options: Any) -> rk.Reward:
    def function(completion: str) -> float | None:
        return value(completion)

    made: rk.Reward = rk.reward(name=name, **options)(function)
    return made


def marked(mark: str) -> rk.Reward:
    """1.0 if the completion contains `mark`."""
    return leaf(mark, lambda completion: float(mark in completion))


def down(name: str = "down", when: str = "") -> rk.Reward:
    def function(completion: str) -> float | None:
        if when in completion:
            raise rk.RewardFailure("no answer")
        return 0.5

    return rk.reward(name=name)(function)


def constantly(value: float) -> Callable[[str], float]:
    def function(completion: str) -> float:
        return value

    return function


HALF = leaf("half", lambda completion: 0.5)
SILENT = leaf("silent", lambda completion: None)


def lists(table: rk.ScoreTable) -> dict[str, list[float]]:
    return {name: values.tolist() for name, values in table.terms.items()}
