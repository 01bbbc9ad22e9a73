"""A pool of processes that score batches. If a completion kills a process, only its row is lost.

``with Pool("reward.py:reward", processes=4) as pool: ...``: each process loads the reward by its name.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from rewardkit.core.errors import DataError
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.conversion import tree_of
from rewardkit.core.tree.reward import Reward
from rewardkit.data.reward_names import load
from rewardkit.replay.chunks import Chunk
from rewardkit.replay.scores import Scores, Work, score

_AHEAD = 2
"""Batches per process that are waiting or scored; this bounds the memory."""


class Pool:
    """Processes that have loaded the reward. If one dies, new processes continue.

    Raises:
        DataError: no process can be started.
    """

    def __init__(self, target: str, processes: int) -> None:
        self._target = target
        self._processes = processes
        self._executor = self._started(processes)
        try:
            self._executor.submit(_scorer, target).result()
        except BrokenProcessPool:
            _ended(self._executor)
            raise DataError(
                "cannot start more processes. Put the code of your script under `if __name__ == '__main__':`, or "
                "score in one process with --processes 1."
            ) from None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        _ended(self._executor)

    def _started(self, processes: int) -> ProcessPoolExecutor:
        # Not forked: the locks of Arrow's and DuckDB's threads could stay held.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(processes, mp_context=context, initializer=_deaf)

    def results(self, batches: Iterator[tuple[Chunk, Work]]) -> Iterator[tuple[Chunk, Scores]]:
        """Yield each batch with its scores, in order."""
        waiting: deque[tuple[Chunk, Work, Future[Scores]]] = deque()
        while True:
            for chunk, work in itertools.islice(batches, _AHEAD * self._processes - len(waiting)):
                waiting.append((chunk, work, self._submitted(work)))
            if not waiting:
                return
            chunk, work, future = waiting.popleft()
            try:
                scores = future.result()
            except BrokenProcessPool:
                scores = self._alone(work)
                _ended(self._executor)
                self._executor = self._started(self._processes)
                waiting = deque((chunk, work, self._submitted(work)) for chunk, work, _ in waiting)
            yield chunk, scores

    def _submitted(self, work: Work) -> Future[Scores]:
        try:
            return self._executor.submit(_score_here, self._target, work)
        except BrokenProcessPool as error:  # an earlier batch broke it, and is handled first
            future: Future[Scores] = Future()
            future.set_exception(error)
            return future

    def _alone(self, work: Work) -> Scores:
        """Score `work` in a separate process; if it dies, bisect down to the row that kills it."""
        executor = self._started(1)
        try:
            return executor.submit(_score_here, self._target, work).result()
        except BrokenProcessPool:
            if work.units == 1:
                why = "the process that scored it died: out of memory, or killed by the reward's own code"
                return Scores.none(Scorer(one_reward(self._target)).components, len(work.completions), why)
        finally:
            _ended(executor)
        return Scores.joined([self._alone(half) for half in work.halves()])


def _deaf() -> None:
    """Ignore Ctrl-C, which reaches all processes of a terminal: the parent ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _ended(executor: ProcessPoolExecutor) -> None:
    """End the pool at once, with everything that runs in it."""
    children = list((executor._processes or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for child in children:
        child.terminate()
    for child in children:
        child.join()


def _score_here(target: str, work: Work) -> Scores:
    return score(_scorer(target), work)


@functools.cache
def _scorer(target: str) -> Scorer:
    return Scorer(one_reward(target))


def one_reward(target: str) -> Reward:
    """Load the reward that `target` names.

    Raises:
        RewardDefinitionError: there is no such reward.
        DataError: there are several.
    """
    found = load(target)
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise DataError(f"{target} has several rewards ({names}). Name one of them: {target}:{found[0].name}")
    return tree_of(found[0].reward, "a reward to score with")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
