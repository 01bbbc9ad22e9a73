"""Micro-batches: rows that arrive one at a time in an event loop are scored together, in threads.

``await Requests(scorer).score(row)`` returns the scores of one row. Rows that arrive while a batch is being scored form
the next batch, so equal rows are scored once and judges are asked in parallel. The event loop is never blocked.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

from rewardkit.errors import RewardDefinitionError
from rewardkit.online.rows import Row, RowScore
from rewardkit.online.scorer import RowScorer

LARGEST = 256
"""The maximum number of rows in a batch. Arbitrary: a slow row holds up the batch."""
_BATCHES, _WAITING_BATCHES = 4, 32
"""The number of batches to score at a time, for a reward that only computes and for one that waits for something.
Arbitrary: more computing batches would only share the cores; waiting batches use none."""


@dataclass
class _Waiting:
    """A pending row, with its other arguments for `RowScorer.score`."""

    row: Row
    future: asyncio.Future[RowScore]
    options: Mapping[str, Any]


@dataclass
class _Loop:
    """The pending requests of one event loop."""

    rows: list[_Waiting] = field(default_factory=list)
    running: int = 0
    scheduled: bool = False


@final
class Requests:
    """A queue of rows to score, for any number of event loops.

    Args:
        scorer: the scorer of the rows.
        deadline: seconds after which a row is returned without a score; None sets no limit.
    """

    def __init__(self, scorer: RowScorer, *, deadline: float | None = None) -> None:
        if deadline is not None and not deadline > 0:
            raise RewardDefinitionError(f"deadline= must be a number of seconds greater than 0, got {deadline!r}")
        self.scorer = scorer
        self.deadline = deadline
        self._most = _WAITING_BATCHES if scorer.scorer.waits else _BATCHES
        self._threads: ThreadPoolExecutor | None = None
        self._process = os.getpid()
        self._loops: weakref.WeakKeyDictionary[Any, _Loop] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Requests, deadline=self.deadline), (self.scorer,)

    async def score(self, row: Row, **options: Any) -> RowScore:
        """Return the scores of one row, without a total if the deadline passes first.

        Args:
            options: ``progress``, ``step`` and ``training`` of `RowScorer.score`; rows with equal options are scored
                together.

        Raises:
            RunStopped, RewardFailure: as `RowScorer.score`.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            waiting = self._loops.setdefault(loop, _Loop())
        future: asyncio.Future[RowScore] = loop.create_future()
        waiting.rows.append(_Waiting(row, future, options))
        self._schedule(loop, waiting)
        try:
            return await asyncio.wait_for(future, self.deadline)
        except (asyncio.TimeoutError, TimeoutError):
            return self._late(row)

    async def score_group(self, rows: Sequence[Row], **options: Any) -> list[RowScore]:
        """Return the scores of all completions of a prompt, for rewards that compare them.

        Args:
            options: ``progress``, ``step`` and ``training`` of `RowScorer.score`.

        Raises:
            RunStopped, RewardFailure, BindingError, CoercionError: as `RowScorer.score`.
        """
        score = partial(self.scorer.score, rows, num_generations=len(rows), **options)
        scoring = asyncio.get_running_loop().run_in_executor(self._pool, score)
        try:
            return await asyncio.wait_for(scoring, self.deadline)
        except (asyncio.TimeoutError, TimeoutError):
            return [self._late(row) for row in rows]

    def _late(self, row: Row) -> RowScore:
        # The score may still arrive, and is recorded then.
        return self.scorer.refuse(row, f"no score within the deadline of {self.deadline:g} s", recorded=False)

    def _schedule(self, loop: asyncio.AbstractEventLoop, waiting: _Loop) -> None:
        if not waiting.scheduled and waiting.running < self._most and waiting.rows:
            waiting.scheduled = True
            loop.call_soon(self._start, loop, waiting)  # after other ready tasks have added their rows

    def _start(self, loop: asyncio.AbstractEventLoop, waiting: _Loop) -> None:
        waiting.scheduled = False
        batch: list[_Waiting] = []
        rest: list[_Waiting] = []
        for request in waiting.rows:
            if not request.future.done():  # the others are past their deadline
                fits = len(batch) < LARGEST and (not batch or request.options == batch[0].options)
                (batch if fits else rest).append(request)
        waiting.rows = rest
        if batch:
            waiting.running += 1
            score = partial(self.scorer.score, [request.row for request in batch], **batch[0].options)
            scoring = loop.run_in_executor(self._pool, score)
            scoring.add_done_callback(lambda future: self._finish(future, batch, loop, waiting))
        self._schedule(loop, waiting)

    def _finish(
        self,
        future: asyncio.Future[list[RowScore]],
        batch: list[_Waiting],
        loop: asyncio.AbstractEventLoop,
        waiting: _Loop,
    ) -> None:
        waiting.running -= 1
        error = asyncio.CancelledError() if future.cancelled() else future.exception()
        scores = [] if error is not None else future.result()
        for index, request in enumerate(batch):
            if not request.future.done():
                if error is None:
                    request.future.set_result(scores[index])
                else:
                    request.future.set_exception(error)
        self._schedule(loop, waiting)

    @property
    def _pool(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None or self._process != os.getpid():  # a fork has no threads
                self._process = os.getpid()
                self._threads = ThreadPoolExecutor(self._most, thread_name_prefix="rewardkit scoring")
            return self._threads
