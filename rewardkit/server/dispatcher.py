"""The dispatcher: rows of all requests wait in one queue, and workers score them in batches.

A row that kills its worker costs no other row its score: after a death, the rows of the batch are scored one by one.
"""

from __future__ import annotations

import asyncio
import hashlib
import marshal
import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row, RowScore, unscored
from rewardkit.server.meters import Meters
from rewardkit.server.worker import Described, Setup
from rewardkit.server.workers import Sent, Worker

LARGEST, LARGEST_WAITING = 256, 16
"""The most rows of a batch, of a reward that only computes, and of one that waits: its slowest row holds up others."""
_BATCH_SECONDS = 0.01
"""How long a batch should take: what arrives meanwhile waits for it, and its rows are answered together."""
_SMALLEST = 4
_PATIENCE, _PATIENCE_WAITING = 0.25, 0.75
"""The share of the deadline after which the rows of a slow batch are scored one by one, so that one slow row costs the
others nothing. Asking judges again is dear, so a reward that waits gets more time."""
_TURN = 1 / 16
"""The share of the deadline after which a row that is scored alone makes room for rows that wait: this share at first,
then twice as much, and so on. Without it, a few rows that hang would hold all workers until the others are late."""
_GRACE = 0.5
"""Seconds that a late worker still gets to answer before it is killed."""
_MOST_TRIES = 3
"""How many workers a row kills before it is given up; the last ones scored nothing else meanwhile."""


class Busy(Exception):
    """The queue is full, or the server is shutting down: try again later."""


@final
@dataclass(eq=False)
class Job:
    """Rows that are scored together: one, or a group.

    Attributes:
        generations: completions per prompt; None if the row is independent.
        waiters: how many requests wait for it.
        deaths: of workers, while it was the only job of its batch.
        alone: it is sent in a batch of its own.
        turns: how often it has made room for others.
    """

    rows: Sequence[Row]
    progress: Progress | None
    generations: int | None
    until: float
    done: asyncio.Future[list[RowScore]]
    key: bytes | None = None
    waiters: int = 0
    deaths: int = 0
    alone: bool = False
    turns: int = 0


@final
@dataclass
class Dispatcher:
    """Scores rows with a pool of workers.

    Args:
        setup: what the workers load.
        workers: their number.
        queue: the most rows that wait or are scored.
        deadline: seconds after which a row has no score, and a worker that still computes it is killed.
        meters: counts what happens.
    """

    setup: Setup
    workers: int
    queue: int
    deadline: float
    meters: Meters
    described: Described | None = None
    taken: int = 0
    closing: bool = False
    _pool: list[Worker] = field(default_factory=list)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _waiting: deque[Job] = field(default_factory=deque)
    _suspects: deque[Job] = field(default_factory=deque)
    _isolated: Job | None = None
    _reserved: Worker | None = None
    _owed: bool = False
    _pace: float = 0.0
    _in_flight: dict[bytes, Job] = field(default_factory=dict)

    async def start(self) -> Described:
        """Start the workers and return the description of the reward, once the first has loaded it.

        Raises:
            RewardDefinitionError: the reward cannot be loaded or served.
        """
        self._changed = asyncio.Event()
        self._pool = [Worker(self.setup, self._answered, self._wake) for _ in range(self.workers)]
        self._tasks = [asyncio.create_task(worker.live()) for worker in self._pool]
        self._tasks.append(asyncio.create_task(self._dispatch()))
        while not self.ready_workers:
            if refusal := self._refusal():
                await self.close()
                raise RewardDefinitionError(refusal)
            await asyncio.sleep(0.01)
        self.described = next(worker.described for worker in self._pool if worker.described)
        for worker in self._pool:
            worker.expected = self.described  # a file that is edited now must not mix two rewards
        return self.described

    async def close(self) -> None:
        """Let the workers write their records and end."""
        self.closing = True
        for worker in self._pool:
            worker.close()
        await asyncio.gather(*self._tasks[: len(self._pool)], return_exceptions=True)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def ready(self) -> bool:
        """Whether at least one worker can score."""
        return not self.closing and self.ready_workers > 0

    @property
    def ready_workers(self) -> int:
        """The number of workers that can score."""
        return sum(worker.described is not None for worker in self._pool)

    def _refusal(self) -> str:
        return next((worker.refusal for worker in self._pool if worker.refusal), "")

    async def score(
        self,
        rows: Sequence[Row],
        *,
        progress: Progress | None = None,
        generations: int | None = None,
        deadline: float | None = None,
    ) -> list[RowScore]:
        """Return the scores of `rows`; those that have none within the deadline have failed.

        Args:
            generations: the rows are whole groups of so many completions; None if they are independent.
            deadline: seconds; at most that of the server, which is also the default.

        Raises:
            Busy: too many rows wait.
        """
        if self.closing:
            raise Busy("the server is shutting down")
        if not self.ready_workers and (refusal := self._refusal()):
            raise Busy(f"no worker can score: {refusal}")
        if self.taken + len(rows) > self.queue:
            raise Busy(f"{self.taken:,} rows are waiting, and at most {self.queue:,} may wait")
        assert self.described is not None
        if self.described.together == "sample":
            generations = None
        size = generations or 1
        seconds = min(deadline or self.deadline, self.deadline)
        until = time.monotonic() + seconds
        self.taken += len(rows)
        jobs: list[Job] = []
        try:
            for start in range(0, len(rows), size):
                jobs.append(self._job(rows[start : start + size], progress, generations, until))
            self._wake()
            await asyncio.wait([job.done for job in jobs], timeout=seconds) if jobs else None
            return [score for job in jobs for score in self._result(job, seconds)]
        finally:
            self.taken -= len(rows)
            for job in jobs:
                self._leave(job)

    def none(self, why: str) -> RowScore:
        """Return the scores of a row that could not be scored."""
        assert self.described is not None
        return unscored(self.described.terms, self.described.components, why)

    def _job(self, rows: Sequence[Row], progress: Progress | None, generations: int | None, until: float) -> Job:
        """Return a new job, or the one in flight for an equal row."""
        assert self.described is not None
        key = _key(rows[0], progress) if generations is None and self.described.deterministic else None
        job = None if key is None else self._in_flight.get(key)
        if job is None or job.done.done():  # what has failed meanwhile may succeed now
            job = Job(rows, progress, generations, until, asyncio.get_running_loop().create_future(), key)
            self._waiting.append(job)
            if key is not None:
                self._in_flight[key] = job
        else:
            self.meters.duplicates.inc()
            job.until = max(job.until, until)
        job.waiters += 1
        return job

    def _result(self, job: Job, seconds: float) -> list[RowScore]:
        if job.done.done():
            return job.done.result()
        return [self.none(f"no score within the deadline of {seconds:g} s")] * len(job.rows)

    def _leave(self, job: Job) -> None:
        """A request no longer waits for a job; one that nobody waits for is not scored."""
        job.waiters -= 1
        if job.waiters == 0:
            job.done.cancel()
            if job.key is not None and self._in_flight.get(job.key) is job:
                del self._in_flight[job.key]

    def _wake(self) -> None:
        self._changed.set()

    async def _dispatch(self) -> None:
        """Send what waits to the workers, and kill those that take too long."""
        while True:
            late = self._kill_late()
            try:
                await asyncio.wait_for(self._changed.wait(), late)
            except asyncio.TimeoutError:
                continue
            self._changed.clear()
            await asyncio.sleep(0)  # what other requests add now joins the batch
            while True:
                self._isolate()
                free = [worker for worker in self._pool if worker.slots > 0 and worker is not self._reserved]
                if not self._waiting or not free:
                    break
                if jobs := self._batch(len(free)):
                    self._owed = False
                    self._send(max(free, key=lambda one: one.slots), jobs)

    def _isolate(self) -> None:
        """Score the next suspect on a worker that has nothing else, so that it is known who the reason is if it dies.

        One suspect at a time, and a batch of other rows between two of them.
        """
        while self._suspects and self._suspects[0].done.done():
            self._suspects.popleft()
        if self._isolated is not None:
            return
        if not self._suspects or (self._owed and self._waiting):
            self._reserved = None
            return
        if self._reserved is None or self._reserved.described is None:
            running = [worker for worker in self._pool if worker.described is not None]
            self._reserved = min(running, key=lambda one: len(one.sent), default=None)
        if self._reserved is not None and self._reserved.slots > 0 and not self._reserved.sent:
            self._owed, self._isolated = True, self._suspects.popleft()
            self._send(self._reserved, [self._isolated])

    def _batch(self, free: int) -> list[Job]:
        """Take jobs that fit into one batch, an even share of what waits for each free worker."""
        assert self.described is not None
        largest = LARGEST_WAITING if self.described.waits else self._largest()
        most = -(-len(self._waiting) // free)
        taken: list[Job] = []
        rows = 0
        while self._waiting and len(taken) < most:
            job = self._waiting[0]
            if not job.done.done() and taken and (rows + len(job.rows) > largest or not _fit(job, taken[0])):
                break
            self._waiting.popleft()
            if not job.done.done():
                taken.append(job)
                rows += len(job.rows)
        return taken

    def _largest(self) -> int:
        """Return how many rows take about `_BATCH_SECONDS`."""
        return LARGEST if self._pace == 0.0 else max(_SMALLEST, min(LARGEST, int(_BATCH_SECONDS / self._pace)))

    def _send(self, worker: Worker, jobs: list[Job]) -> None:
        rows = [row for job in jobs for row in job.rows]
        self.meters.batch.observe(len(rows))
        assert self.described is not None
        until = time.monotonic() + self.deadline * (_PATIENCE_WAITING if self.described.waits else _PATIENCE)
        if len(jobs) == 1:
            until = max(until, jobs[0].until)  # no request with a short deadline makes the server kill its workers
        sent = Sent(jobs, until + _GRACE)
        if jobs[0].alone and not self.described.waits:
            sent.turn = time.monotonic() + self.deadline * _TURN * 2 ** jobs[0].turns
        try:
            worker.send(sent, rows, jobs[0].progress, jobs[0].generations)
        except Exception as error:  # rows that are nested too deeply
            self._answered(sent, f"it cannot be sent to a worker process: {type(error).__name__}: {error}")

    def _kill_late(self) -> float | None:
        """Kill workers whose batches are late; return the seconds until the next one is; None if none is running."""
        now, others = time.monotonic(), any(not job.done.done() for job in self._waiting)
        for worker in self._pool:
            if any(sent.end_at(others) <= now for sent in worker.sent.values()):
                for sent in worker.sent.values():
                    sent.end = "late" if sent.end_at(others) <= now else "innocent"
                    sent.until = sent.turn = math.inf
                worker.kill()
        ends = [sent.end_at(others) for worker in self._pool for sent in worker.sent.values()]
        nearest = min(ends, default=math.inf)
        return None if nearest == math.inf else max(0.05, nearest - now)

    def _answered(self, sent: Sent, scores: list[RowScore] | str | None) -> None:
        jobs: list[Job] = sent.job
        if self._isolated in jobs:
            self._isolated = None
        if isinstance(scores, list):
            seconds = (time.monotonic() - sent.began) / len(scores)
            self._pace += 0.1 * (seconds - self._pace) if self._pace else seconds
            start = 0
            for job in jobs:
                _settle(job, scores[start : start + len(job.rows)])
                start += len(job.rows)
        elif isinstance(scores, str) and len(jobs) == 1:
            _settle(jobs[0], [self.none(scores)] * len(jobs[0].rows))
        elif isinstance(scores, str):
            self._again(jobs, alone=True)
        else:
            self.meters.deaths.inc()
            self._lost(sent)
        self._wake()

    def _lost(self, sent: Sent) -> None:
        """Score the rows of a batch again whose worker died: one by one, until it is known who the reason is."""
        jobs: list[Job] = sent.job
        if sent.end == "late" and jobs[0].alone:
            jobs[0].turns += 1
            return self._waiting.append(jobs[0])
        if sent.end or len(jobs) > 1:
            return self._again(jobs, alone=sent.end != "innocent")
        (job,) = jobs
        job.deaths += 1
        if job.deaths >= _MOST_TRIES and not sent.shared:
            why = f"its worker process died {job.deaths} times while it was scored"
            return _settle(job, [self.none(why)] * len(job.rows))
        self._suspects.append(job)

    def _again(self, jobs: list[Job], *, alone: bool) -> None:
        for job in jobs:
            job.alone = job.alone or alone
        self._waiting.extendleft(reversed(jobs))


def _fit(one: Job, other: Job) -> bool:
    """Return whether two jobs may be in one batch."""
    alone = one.alone or other.alone
    return not alone and one.generations == other.generations and one.progress == other.progress


def _settle(job: Job, scores: list[RowScore]) -> None:
    if not job.done.done():
        job.done.set_result(scores)


def _key(row: Row, progress: Progress | None) -> bytes | None:
    """Return what equal rows have in common; None if they cannot be compared. 1, 1.0 and true differ."""
    when = None if progress is None else (progress.step, progress.max_steps)
    parts: Any = (row.completion, row.prompt, dict(row.columns), row.completion_ids, row.cut, row.runs_calls, when)
    try:
        written = marshal.dumps(parts, 0)  # version 0 writes values alone, not whether two of them are one object
    except ValueError:
        return None
    return hashlib.blake2b(written, digest_size=16).digest()
