"""Reward functions that worker processes can import, and one that prints after its capture has ended."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from typing import Any

import rewardkit as rk

logger = logging.getLogger("tests.talkative")


@rk.reward(timeout=30.0)
def loud(completion: str) -> float:
    print("printed", completion)
    logger.warning("logged %s", completion)
    return 0.5


@rk.reward(timeout=30.0)
def raising(completion: str) -> float:
    print("before it raises")
    raise ValueError("no")


@rk.reward(timeout=30.0)
def unpicklable(completion: str) -> Any:
    return lambda: None


@rk.reward(timeout=0.2)
def late(completion: str) -> float:
    print("never heard")
    time.sleep(60)
    return 0.5


class Hasty:
    """Leaves a thread running that has the context of its call."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def __call__(self, completion: str) -> float:
        context = contextvars.copy_context()
        self.thread = threading.Thread(target=lambda: (self.release.wait(), context.run(print, "late")))
        self.thread.start()
        return 0.5

    def __repr__(self) -> str:
        return "Hasty()"


left_behind = Hasty()
hasty = rk.reward(name="hasty")(left_behind)
