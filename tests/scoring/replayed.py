"""Rewards for the tests of replay; other processes import them from this file."""

from __future__ import annotations

import os
import time

import rewardkit as rk

TARGET = f"{__file__}:"


@rk.reward
def closeness(completion: str, answer: float) -> float:
    """1 at the right number."""
    return 1.0 / (1.0 + abs(float(completion) - answer))


@rk.reward(scope="group")
def longest(completion: list[str]) -> list[float]:
    """1 for the longest of a prompt."""
    most = max(map(len, completion))
    return [float(len(text) == most) for text in completion]


@rk.reward
def deadly(completion: str) -> float:
    """Ends its process at the word."""
    if completion == "die":
        os._exit(9)
    return float(len(completion) % 2)


@rk.reward
def whole(trajectory: rk.Trajectory) -> float:
    """1 if it was not cut."""
    return float(trajectory.stop == "answered")


@rk.reward
async def waiting(completion: str) -> float:
    """As a judge: asked for many at once."""
    return 1.0


def plain(completions, answer, **kwargs):  # type: ignore[no-untyped-def]
    """As TRL takes it."""
    return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]


number = rk.number("answer")
both = 0.5 * number + 0.5 * rk.length.between(1, 40, unit="characters").named("short")
ranked = number + rk.rank_in_group(longest)
routed = rk.route({"math": number, "text": rk.exact("gold")}, by="task")


@rk.reward
def length(completion: str) -> float:
    """1 for ten characters."""
    return len(completion) / 10


@rk.reward(scope="batch")
def sized(completion: list[str]) -> list[float]:
    """1 in a batch of ten completions."""
    return [len(completion) / 10] * len(completion)


@rk.reward
def slow(completion: str) -> float:
    """Takes a millisecond."""
    time.sleep(0.001)
    return 1.0


slowly = number + slow


@rk.reward
def quota(completion: str) -> float:
    """Stops the run at the word, while a variable of the environment is set."""
    if completion == "stop" and os.environ.get("REPLAYED_STOPS"):
        raise rk.RunStopped("the quota is used up")
    return 1.0
