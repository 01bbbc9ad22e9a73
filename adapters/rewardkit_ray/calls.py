"""Calls that travel to a pool of actors, many in one message: ``Line(name, actors, 64, 2).sent(0, ("4", "2+2"), {})``.

A call returns a future at once. A thread sends what has come together meanwhile, so messages are large while there is
much to do and small while there is little. Each actor has only a few messages waiting, so one that is slow or gone
holds up no others.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, final

from rewardkit.core.errors import RewardFailure
from rewardkit.core.tree.results import Raised


class _Call(NamedTuple):
    place: int
    values: tuple[Any, ...]
    named: dict[str, Any]
    future: Future[Any]


@final
class Line:
    """The calls of one process to one pool.

    Args:
        name: of the pool.
        actors: they have a method ``results(place, calls)``.
        together: the most calls in one message.
        ahead: the most messages that one actor has waiting from here.
    """

    def __init__(self, name: str, actors: Sequence[Any], together: int, ahead: int) -> None:
        self._name = name
        self._actors = actors
        self._together = together
        self._waiting = [0] * len(actors)
        self._lock = threading.Lock()
        self._room = threading.Semaphore(ahead * len(actors))
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        threading.Thread(target=self._send, name=f"rewardkit pool {name}", daemon=True).start()

    def sent(self, place: int, values: tuple[Any, ...], named: dict[str, Any]) -> Future[Any]:
        """Return the future of one call."""
        future: Future[Any] = Future()
        self._calls.put(_Call(place, values, named, future))
        return future

    def _send(self) -> None:
        held: _Call | None = None
        while True:
            calls = [held or self._calls.get()]
            held = None
            self._room.acquire()
            while len(calls) < self._together and held is None:
                try:
                    following = self._calls.get_nowait()
                except Empty:
                    break
                if following.place == calls[0].place:
                    calls.append(following)
                else:
                    held = following
            live = [call for call in calls if call.future.set_running_or_notify_cancel()]
            if live:
                self._dispatch(live)
            else:
                self._room.release()

    def _dispatch(self, calls: list[_Call]) -> None:
        with self._lock:
            chosen = self._waiting.index(min(self._waiting))
            self._waiting[chosen] += 1
        try:
            asked = self._actors[chosen].results.remote(calls[0].place, [(call.values, call.named) for call in calls])
            asked.future().add_done_callback(lambda done: self._answered(chosen, calls, done))
        except Exception as error:  # a value that cannot be sent
            self._settle(chosen, calls, [Raised(error)] * len(calls))

    def _answered(self, chosen: int, calls: list[_Call], done: Future[Any]) -> None:
        error = done.exception()
        if error is None:
            self._settle(chosen, calls, done.result())
            return
        why = f"the pool {self._name!r} gave no answer: {str(error).splitlines()[0]}"
        self._settle(chosen, calls, [Raised(RewardFailure(why))] * len(calls))

    def _settle(self, chosen: int, calls: list[_Call], results: list[Any]) -> None:
        with self._lock:
            self._waiting[chosen] -= 1
        self._room.release()
        for call, result in zip(calls, results, strict=True):
            call.future.set_result(result)
