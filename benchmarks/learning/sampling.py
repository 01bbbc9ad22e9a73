"""Prompts that come up when they can teach: a prompt whose group had no variance rests, then comes back.

If all completions of a prompt earn the same, their advantages are 0 and the group teaches nothing. DAPO
(arXiv:2503.14476) samples such groups and throws them away. GRESO (arXiv:2506.02177) skips, before generating, prompts
that had no variance when they last came up; Bae et al. (arXiv:2504.03380) show why prompts that are solved about half
of the time teach most. ``Rests(64, first=16, seed=0)`` lets a prompt rest for 16 steps, for 32 if its next group has no
variance either, and so on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator


class Rests:
    """Which prompts rest, and until when. Time is counted in steps: one call of `draw` is one step.

    Args:
        prompts: the number of prompts.
        first: the length of a first rest, in steps; each further one in a row is twice as long.
        seed: decides between prompts that have waited for the same time.
    """

    def __init__(self, prompts: int, *, first: int, seed: int) -> None:
        self.first = first
        self.step = 0
        self._random = random.Random(f"{seed}/rests")
        self._drawn = [-1] * prompts
        self._wakes = [0] * prompts
        self._in_a_row = [0] * prompts

    def draw(self, count: int) -> list[int]:
        """Return `count` different prompts: those that have waited longest; if too many rest, those that wake next."""
        order = list(range(len(self._drawn)))
        self._random.shuffle(order)
        order.sort(key=lambda prompt: (max(self._wakes[prompt] - self.step, 0), self._drawn[prompt]))
        chosen = order[:count]
        for prompt in chosen:
            self._drawn[prompt] = self.step
        self.step += 1
        return chosen

    def tell(self, prompt: int, *, varied: bool) -> None:
        """Say whether the completions of the prompt's latest group earned different totals."""
        self._in_a_row[prompt] = 0 if varied else self._in_a_row[prompt] + 1
        rest = 0 if varied else self.first * 2 ** (self._in_a_row[prompt] - 1)
        self._wakes[prompt] = self._drawn[prompt] + 1 + rest

    def resting(self) -> int:
        """Return the number of prompts that rest now."""
        return sum(wakes > self.step for wakes in self._wakes)


class Awake:
    """A sampler for a data loader: draw the prompts of each step when it asks for them, each once per generation.

    The loader reads one batch ahead, so a draw knows the outcomes of all steps but the latest one.
    """

    def __init__(self, rests: Rests, *, steps: int, prompts_per_step: int, generations: int) -> None:
        self.rests = rests
        self.steps, self.prompts_per_step, self.generations = steps, prompts_per_step, generations

    def __iter__(self) -> Iterator[int]:
        for _ in range(self.steps):
            for prompt in self.rests.draw(self.prompts_per_step):
                yield from [prompt] * self.generations

    def __len__(self) -> int:
        return self.steps * self.prompts_per_step * self.generations
