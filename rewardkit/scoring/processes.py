"""Processes that do the same work on many things, in order. If a completion kills a process, only its row is lost.

``with Workers(4) as workers: ...`` has `map`, which works as Python's. `Pool` scores batches of one reward with it.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar, final

from rewardkit.errors import DataError
from rewardkit.scoring.chunks import Chunk
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.loading import load
from rewardkit.tree.reward import Reward

_AHEAD = 2
"""Items per process that are waiting or in progress; this bounds the memory."""
_WORTHWHILE = 4.0
"""Without a number of processes, more are started if this many seconds of work are left."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@final
class Workers:
    """Processes that are started when they are needed. If one dies, new ones continue.

    Args:
        processes: how many; by default one per core, once there are some seconds of work.
    """

    def __init__(self, processes: int | None) -> None:
        self.processes = processes
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            _ended(self._executor)
            self._executor = None

    def worthwhile(self, seconds: float) -> bool:
        """Decide about the number of processes, when this many seconds of work are left; return whether to use them."""
        if self.processes is None and seconds > _WORTHWHILE:
            self.processes = cores()
        return (self.processes or 1) > 1

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield the result of each item, in order; in this process as long as no other is worthwhile."""
        left = iter(items)
        started = time.perf_counter()
        while not self.worthwhile(time.perf_counter() - started):
            for item in itertools.islice(left, 1):
                yield function(item)
                break
            else:
                return
        yield from self.elsewhere(function, left)

    def elsewhere(
        self,
        function: Callable[[_Item], _Result],
        items: Iterable[_Item],
        rescue: Callable[[_Item], _Result] | None = None,
    ) -> Iterator[_Result]:
        """Yield the result of each item, in order, from other processes.

        Args:
            function: can be pickled, as its results.
            items: can be pickled.
            rescue: called in this process instead, with an item whose process died.

        Raises:
            DataError: no process can be started, or one died and there is no `rescue`.
        """
        left, waiting = iter(items), deque[tuple[_Item, "Future[_Result]"]]()
        while True:
            for item in itertools.islice(left, _AHEAD * (self.processes or 1) - len(waiting)):
                waiting.append((item, self._submitted(function, item)))
            if not waiting:
                return
            item, future = waiting.popleft()
            try:
                result = future.result()
            except BrokenProcessPool:
                if rescue is None:
                    raise DataError("a process died: out of memory, or killed from outside. Run it again") from None
                result = rescue(item)
                self.__exit__()
                waiting = deque((item, self._submitted(function, item)) for item, _ in waiting)
            yield result

    def _submitted(self, function: Callable[[_Item], _Result], item: _Item) -> Future[_Result]:
        if self._executor is None:
            self._executor = _started(self.processes or 1)
        try:
            return self._executor.submit(function, item)
        except BrokenProcessPool as error:  # an earlier item broke it, and is handled first
            future: Future[_Result] = Future()
            future.set_exception(error)
            return future


@final
class Pool:
    """Processes that score batches with one reward.

    Raises:
        DataError: no process can be started.
    """

    def __init__(self, target: str, processes: int) -> None:
        self._target = target
        self._workers = Workers(processes)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.__exit__()

    def results(self, batches: Iterator[tuple[Chunk, Work]]) -> Iterator[tuple[Chunk, Scores]]:
        """Yield each batch with its scores, in order."""
        chunks: deque[Chunk] = deque()

        def works() -> Iterator[Work]:
            for chunk, work in batches:
                chunks.append(chunk)
                yield work

        score_here = functools.partial(_score_here, self._target)
        for scores in self._workers.elsewhere(score_here, works(), functools.partial(alone, self._target)):
            yield chunks.popleft(), scores


def alone(target: str, work: Work) -> Scores:
    """Score `work` in a process of its own; if that dies, bisect down to the row that kills it."""
    executor = _started(1)
    try:
        return executor.submit(_score_here, target, work).result()
    except BrokenProcessPool:
        if work.units == 1:
            why = "the process that scored it died: out of memory, or killed by the reward's own code"
            return Scores.none(Scorer(one_reward(target)).components, len(work.completions), why)
    finally:
        _ended(executor)
    return Scores.joined([alone(target, half) for half in work.halves()])


def _started(processes: int) -> ProcessPoolExecutor:
    # Not forked: the locks of Arrow's and DuckDB's threads could stay held.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(processes, mp_context=context, initializer=_prepared)
    try:
        executor.submit(os.getpid).result()
    except BrokenProcessPool:
        _ended(executor)
        raise DataError(
            "cannot start more processes. Put the code of your script under `if __name__ == '__main__':`, or "
            "score in one process with --processes 1."
        ) from None
    return executor


def _prepared() -> None:
    """Ignore Ctrl-C, which reaches all processes of a terminal: the parent ends the others. End with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # a parent that was killed could not end us, and nobody takes our results


def _ended(executor: ProcessPoolExecutor) -> None:
    """End the processes at once, with everything that runs in them."""
    children = list((executor._processes or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for child in children:
        child.terminate()
    for child in children:
        child.join()


def _score_here(target: str, work: Work) -> Scores:
    return score(scorer_of(target), work)


@functools.cache
def scorer_of(target: str) -> Scorer:
    """Return the scorer of the reward that `target` names, loaded once in each process."""
    return Scorer(one_reward(target))


def one_reward(target: str) -> Reward:
    """Load the reward that `target` names.

    Raises:
        RewardDefinitionError: there is no such reward.
        DataError: there are several.
    """
    found: list[Any] = load(target)
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise DataError(f"{target} has several rewards ({names}). Name one of them: {target}:{found[0].name}")
    return tree_of(found[0].reward, "a reward to score with")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
