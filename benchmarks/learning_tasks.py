"""What a task is: demonstrations to warm up on, prompts to train on, and what is watched however the reward is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import rewardkit as rk
from rewardkit_runner.tiny.task import Split

Pairs = list[tuple[str, str]]
Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Task:
    """One task on the tiny model.

    Args:
        key: of its warm starts on disk; tasks with the same demonstrations share them.
        title: for tables and the figure.
        demonstrations: ``(count, seed)`` -> pairs of a prompt and what the warm start imitates.
        columns: ``(count, seed, split)`` -> the dataset: prompts, and the gold in columns of its own.
        exact: the honest score: 1 for the right answer and nothing else.
        watched: further rewards that are recorded under every arm without counting, by name.
    """

    key: str
    title: str
    demonstrations: Callable[[int, int], Pairs]
    columns: Callable[[int, int, Split], Columns]
    exact: rk.Reward
    watched: Mapping[str, rk.Reward]

    @property
    def all_watched(self) -> dict[str, rk.Reward]:
        return {"exact": self.exact, **self.watched}
