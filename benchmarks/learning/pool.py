"""Do weights and prompts that adapt to the record beat a plain sum? Three tasks with few prompts that come up often.

All arms of a task train on the same `POOL` prompts with the same sum, in as many steps of as many completions. With 8
prompts per step, the plain arm meets each of them every 8 steps, 10 times in 80 steps.

- ``plain``: the sum as it is, all prompts in turn.
- ``rests``: prompts whose groups had no variance rest (`sampling`).
- ``following``: the weights of the sum follow the shares of the advantages (`weights`).
"""

from __future__ import annotations

from dataclasses import dataclass

import rewardkit as rk
from benchmarks.learning.arms import most_arms, order_arms
from benchmarks.learning.tasks import Columns

POOL = 64
FIRST_REST = 16
EVERY = 10
REFERENCE = "plain"


@dataclass(frozen=True)
class Adaptive:
    """A plain sum, and what adapts while it trains.

    Args:
        first_rest: the first rest of a prompt, in steps; None if none rests. A pass over the pool takes half of it.
        follows: True if the weights of the sum follow the shares of the advantages.
    """

    reward: rk.Reward
    first_rest: int | None = None
    follows: bool = False


def adaptive_arms(reward: rk.Reward) -> dict[str, Adaptive]:
    return {
        REFERENCE: Adaptive(reward),
        "rests": Adaptive(reward, first_rest=FIRST_REST),
        "following": Adaptive(reward, follows=True),
    }


def order_pool_arms() -> dict[str, Adaptive]:
    return adaptive_arms(order_arms()["partial"])


def most_pool_arms() -> dict[str, Adaptive]:
    partial = most_arms()["partial"]
    assert isinstance(partial, rk.Reward)
    return adaptive_arms(partial)


def distinct(columns: Columns, count: int) -> Columns:
    """Return the first `count` rows whose prompts differ."""
    first = {prompt: row for row, prompt in reversed(list(enumerate(columns["prompt"])))}
    rows = sorted(first.values())[:count]
    return {name: [values[row] for row in rows] for name, values in columns.items()}
