"""Task: demonstrations for the warm-up, prompts to train on, and the rewards that are always recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import rewardkit as rk
from rewardkit_adapters.runner.tiny.make import Split

Pairs = list[tuple[str, str]]
Columns = dict[str, list[str]]


@dataclass(frozen=True)
class Task:
    """One task on the tiny model.

    Args:
        key: the name of its warm starts on disk; tasks with the same demonstrations share them.
        title: the title in tables and in the figure.
        demonstrations: ``(count, seed)`` -> pairs of a prompt and the completion that the warm start imitates.
        columns: ``(count, seed, split)`` -> the dataset: prompts and gold columns.
        exact: the honest score: 1 for the right answer and nothing else.
        watched: name -> a reward that is recorded with every arm but does not count.
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
