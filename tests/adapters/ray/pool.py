"""A pool whose actors are threads of this process: what a message of Ray does, without Ray."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from rewardkit.tree.reward import Reward
from rewardkit_adapters.ray.pools import Worker


class _Asked:
    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def future(self) -> Future[Any]:
        return self._future


class _Method:
    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    def remote(self, place: int, calls: Sequence[Any]) -> _Asked:
        self._actor.messages.append((place, len(calls)))
        return _Asked(self._actor.threads.submit(self._actor.answer, place, calls))


class Actor:
    """An actor; `messages` are those that it got, as (place of the function, number of calls)."""

    def __init__(self, reward: Reward, at_once: int = 1) -> None:
        self._worker = Worker(lambda: reward)
        self.threads = ThreadPoolExecutor(at_once)
        self.messages: list[tuple[int, int]] = []
        self.results = _Method(self)
        self.most = 0
        self._running = 0
        self._lock = threading.Lock()

    def answer(self, place: int, calls: Sequence[Any]) -> list[Any]:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        try:
            return self._worker.results(place, calls)
        finally:
            with self._lock:
                self._running -= 1
