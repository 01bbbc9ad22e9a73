"""Worker processes that apply a function to many items, in order.

If a completion kills a process, only that completion's row is lost.

In ``with Workers(4) as workers: ...``, ``workers.map`` works like Python's ``map``.
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, final

from rewardkit.errors import DataError, WorkerDied
from rewardkit.scoring.scores import Scores, Work, score
from rewardkit.tree.conversion import tree_of
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.loading import load
from rewardkit.tree.reward import Reward

if TYPE_CHECKING:
    from rewardkit.workers.worker import Pool

_AHEAD = 2
"""The number of submitted items per process: one in progress and one waiting. The limit saves memory."""
_WORTHWHILE = 4.0
"""If the number of processes was not specified, processes are started if more than this many seconds of work remain.
The value is arbitrary: each process must start and import the reward, which takes seconds."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@final
class Workers:
    """Worker processes that are started when needed and replaced if they die.

    Args:
        processes: the number of processes. By default, one per core if there are at least a few seconds of work.
    """

    def __init__(self, processes: int | None) -> None:
        self.processes = processes
        self._pool: Pool | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.stop()
            self._pool = None

    def worthwhile(self, seconds: float) -> bool:
        """Set the number of processes, given the remaining `seconds` of work; return whether to use several."""
        if self.processes is None and seconds > _WORTHWHILE:
            self.processes = cores()
        return (self.processes or 1) > 1

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield each item's result in order.

        Results are computed in this process until it is worthwhile to start others.
        """
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
        """Yield each item's result in order, computed in worker processes.

        Args:
            function: the function to call. The function and its results must be picklable.
            items: the items, which must be picklable.
            rescue: a function that is called in this process with an item whose worker process died.

        Raises:
            DataError: a process died and there is no `rescue`.
        """
        from rewardkit.workers.worker import Pool

        pool = self._pool = self._pool or Pool(self.processes or 1)
        submitted = in_progress(lambda item: pool.submit(function, (item,)), items, _AHEAD * (self.processes or 1))
        for item, call in submitted:
            try:
                result = call.result()
            except WorkerDied:
                if rescue is None:
                    raise DataError(
                        "a process crashed: it ran out of memory, or another program killed it. Run the command again"
                    ) from None
                result = rescue(item)
            yield result


def in_progress(
    start: Callable[[_Item], _Result], items: Iterable[_Item], most: int
) -> Iterator[tuple[_Item, _Result]]:
    """Yield each item with the result of `start(item)`, in order; up to `most` items are started in advance."""
    waiting: deque[tuple[_Item, _Result]] = deque()
    for item in items:
        waiting.append((item, start(item)))
        if len(waiting) >= most:
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()


def score_in_process(target: str, work: Work) -> Scores:
    """Score `work` in a separate process. If the process dies, find the row that kills it by bisection."""
    from rewardkit.workers import worker

    call = worker.run_in_process(score_here, (target, work))
    try:
        scores: Scores = call.result()
        return scores
    except WorkerDied:
        if work.units == 1:
            reason = "the process that scored it crashed: it ran out of memory, or the reward's own code killed it"
            return Scores.none(Scorer(one_reward(target)).components, len(work.completions), reason)
    finally:
        call.stop()
    return Scores.joined([score_in_process(target, half) for half in work.halves()])


def score_here(target: str, work: Work) -> Scores:
    """Score `work` in this process with the reward that `target` names."""
    return score(scorer_of(target), work)


@functools.cache
def scorer_of(target: str) -> Scorer:
    """Return the scorer for the reward that `target` names, which is loaded once in each process."""
    return Scorer(one_reward(target))


def one_reward(target: str) -> Reward:
    """Load the reward that `target` names.

    Raises:
        RewardDefinitionError: the reward does not exist.
        DataError: `target` has several rewards.
    """
    rewards: list[Any] = load(target)
    if len(rewards) > 1:
        names = ", ".join(reward.name for reward in rewards)
        raise DataError(f"{target} has several rewards ({names}). Name one of them: {target}:{rewards[0].name}")
    return tree_of(rewards[0].reward, "a reward to score with")


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
