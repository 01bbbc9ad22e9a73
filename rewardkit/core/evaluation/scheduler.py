"""Scheduler: evaluates trees with rewards that wait: async rewards, judges, worker processes.

Everything that waits is started first. Meanwhile, synchronous functions run one at a time, in order, in the caller's
thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from rewardkit.core.batch.column import Column, Rows
from rewardkit.core.errors import RewardKitError
from rewardkit.core.evaluation.calls import Pending, make
from rewardkit.core.evaluation.run import Memo, Run, advanced
from rewardkit.core.tree.reward import Calls, Pieces, Request, Reward, Steps


@dataclass(slots=True, eq=False)
class _Task:
    """A node in progress: what it waits for, and which tasks wait for it."""

    reward: Reward
    steps: Steps
    memo: Memo
    rows: Rows
    requests: Sequence[Request] = ()
    calls: Calls | None = None
    pending: Pending | None = None
    left: int = 0
    """The number of nodes or futures that it still waits for."""
    waiters: list[_Task] = field(default_factory=list)


class Scheduler:
    """Evaluates the nodes of one `run`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._ready: deque[tuple[_Task, Any]] = deque()
        self._turns: deque[_Task] = deque()
        self._arrived: SimpleQueue[_Task] = SimpleQueue()
        self._pending: set[_Task] = set()

    def evaluated(self, reward: Reward, rows: Rows) -> Column:
        """Return the column of `reward`; an exception in any node stops all of them."""
        root = self._started(reward, rows)
        try:
            while root.running:
                self._advance()
            return self._run.column(reward)
        finally:
            for task in self._pending:
                if task.pending is not None:
                    task.pending.stop()

    def _started(self, reward: Reward, rows: Rows) -> Memo:
        memo = self._run.memo(reward)
        missing = self._run.missing(reward, memo, rows)
        if missing is not None:
            task = _Task(reward, reward._evaluate(self._run, missing), memo, missing)
            memo.running.append(task)
            self._ready.append((task, None))
        return memo

    def _advance(self) -> None:
        """Do one thing: continue a node that is ready, else run a synchronous function, else wait."""
        while not self._arrived.empty():
            self._arrival(self._arrived.get())
        if self._ready:
            self._step(*self._ready.popleft())
        elif self._turns:
            task = self._turns.popleft()
            assert task.calls is not None
            reward = task.calls.reward
            self._step(task, self._run.taken(reward, task.memo, make(task.calls, self._run.label(reward))))
        elif self._pending:
            self._arrival(self._arrived.get())
        else:
            raise RuntimeError("the rewards of this tree wait for each other. Report this as a bug in rewardkit")

    def _step(self, task: _Task, answer: Any) -> None:
        try:
            asked = advanced(task.steps, answer)
        except StopIteration as end:
            self._finish(task, end.value)
            return
        except RewardKitError as error:
            self._blame(error, task)
            raise
        if isinstance(asked, Pieces):
            found = self._run.of_pieces(asked, task.memo, lambda inner: Scheduler(inner).evaluated)
            self._ready.append((task, found))
        elif not isinstance(asked, Calls):
            self._ask(task, asked)
        elif asked.binding.waits and asked.make is None:
            self._wait(task, asked)
        else:
            task.calls = asked
            self._turns.append(task)

    def _blame(self, error: RewardKitError, task: _Task) -> None:
        self._run.plan.blame(error, task.reward)
        for waiter in task.waiters:
            self._blame(error, waiter)

    def _ask(self, task: _Task, requests: Sequence[Request]) -> None:
        task.requests = requests
        running = [one for reward, rows in requests for one in self._started(reward, rows).running]
        task.left = len(running)
        for other in running:
            other.waiters.append(task)
        if not running:
            self._answer(task)

    def _answer(self, task: _Task) -> None:
        self._ready.append((task, [self._run.column(reward) for reward, _ in task.requests]))

    def _wait(self, task: _Task, calls: Calls) -> None:
        task.calls, task.pending = calls, Pending(calls, self._run.label(calls.reward))
        self._pending.add(task)
        task.left = len(task.pending.futures)
        for future in task.pending.futures:
            future.add_done_callback(lambda _: self._arrived.put(task))
        if not task.pending.futures:
            task.left = 1
            self._arrived.put(task)

    def _arrival(self, task: _Task) -> None:
        task.left -= 1
        if task.left == 0:
            assert task.calls is not None
            assert task.pending is not None
            self._pending.discard(task)
            task.pending.stop()
            self._ready.append((task, self._run.taken(task.calls.reward, task.memo, task.pending.made())))

    def _finish(self, task: _Task, column: Column) -> None:
        self._run.keep(task.memo, task.rows, column)
        task.memo.running.remove(task)
        for waiter in task.waiters:
            waiter.left -= 1
            if waiter.left == 0:
                self._answer(waiter)
