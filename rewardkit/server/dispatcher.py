"""The dispatcher: rows of all requests wait in one queue, and workers score them in batches.

A row that kills its worker costs no other row its score: after a death, the rows of the batch are scored one by one.
"""

from __future__ import annotations

import asyncio
import hashlib
import marshal
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError, RewardKitError
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row, RowScore, unscored
from rewardkit.server.meters import Meters
from rewardkit.server.worker import Described, Setup
from rewardkit.server.workers import Sent, Worker

LARGEST, LARGEST_WAITING = 256, 16
"""The most rows of a batch, of a reward that only computes, and of one that waits: its slowest row holds up others."""
_PATIENCE, _PATIENCE_WAITING = 0.25, 0.75
"""The share of the deadline after which the rows of a slow batch are scored one by one, so that one slow row costs the
others nothing. Asking judges again is dear, so a reward that waits gets more time."""
_GRACE = 0.5
"""Seconds that a late worker still gets to answer before it is killed."""
_MOST_TRIES = 3
"""How often a row is scored alone before it is the reason why workers die."""


class Busy(RewardKitError):
    """The queue is full, or the server is shutting down: try again later."""


@final
@dataclass(eq=False)
class Job:
    """Rows that are scored together: one, or whole groups.

    Attributes:
        generations: completions per prompt; None if the rows are independent.
        waiters: how many requests wait for it.
    """

    rows: Sequence[Row]
    progress: Progress | None
    generations: int | None
    until: float
    done: asyncio.Future[list[RowScore]]
    key: bytes | None = None
    waiters: int = 0
    tries: int = 0
    alone: bool = False


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
    _alike: dict[bytes, Job] = field(default_factory=dict)

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
            broken = next((task for task in self._tasks if task.done()), None)
            if broken is not None:
                await self.close()
                raise broken.exception() or RewardDefinitionError("no worker process could be started")
            await asyncio.sleep(0.01)
        self.described = next(worker.described for worker in self._pool if worker.described)
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
        if self.taken + len(rows) > self.queue:
            raise Busy(f"{self.taken:,} rows are waiting, and at most {self.queue:,} may wait")
        seconds = min(deadline or self.deadline, self.deadline)
        until = time.monotonic() + seconds
        self.taken += len(rows)
        try:
            jobs = [
                self._job(part, progress, generations, until)
                for part in ([rows] if generations else [[row] for row in rows])
                if part
            ]
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
        job = None if key is None else self._alike.get(key)
        if job is None or job.done.done():  # what has failed meanwhile may succeed now
            job = Job(rows, progress, generations, until, asyncio.get_running_loop().create_future(), key)
            self._waiting.append(job)
            if key is not None:
                self._alike[key] = job
        else:
            self.meters.alike.inc()
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
            if job.key is not None and self._alike.get(job.key) is job:
                del self._alike[job.key]

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
            while self._waiting and (free := [worker for worker in self._pool if worker.slots > 0]):
                jobs = self._batch(len(free))
                if jobs:
                    worker = max(free, key=lambda one: one.slots)
                    await self._send(worker, jobs)

    def _batch(self, free: int) -> list[Job]:
        """Take jobs that fit into one batch, an even share of what waits for each free worker."""
        assert self.described is not None
        largest = LARGEST_WAITING if self.described.waits else LARGEST
        most = max(1, min(largest, -(-len(self._waiting) // free)))
        taken: list[Job] = []
        rest: list[Job] = []
        while self._waiting and len(taken) < most:
            job = self._waiting.popleft()
            if job.done.done():
                continue
            if taken and (job.alone or taken[0].alone or job.generations or job.progress != taken[0].progress):
                rest.append(job)
                break
            taken.append(job)
            if job.generations:
                break
        self._waiting.extendleft(reversed(rest))
        return taken

    async def _send(self, worker: Worker, jobs: list[Job]) -> None:
        rows = [row for job in jobs for row in job.rows]
        self.meters.batch.observe(len(rows))
        assert self.described is not None
        if len(jobs) == 1:
            until = jobs[0].until
        else:
            until = time.monotonic() + self.deadline * (_PATIENCE_WAITING if self.described.waits else _PATIENCE)
        sent = Sent(jobs, until + _GRACE)
        await worker.send(sent, rows, jobs[0].progress, jobs[0].generations)

    def _kill_late(self) -> float | None:
        """Kill workers whose batches are late; return the seconds until the next one is; None if none is running."""
        now = time.monotonic()
        for worker in self._pool:
            if any(sent.until <= now for sent in worker.sent.values()):
                for sent in worker.sent.values():
                    for job in sent.job if sent.until > now else ():
                        job.tries -= 1  # not its fault
                worker.kill()
                for sent in worker.sent.values():
                    sent.until = float("inf")
        ends = [sent.until for worker in self._pool for sent in worker.sent.values()]
        nearest = min(ends, default=float("inf"))
        return None if nearest == float("inf") else max(0.05, nearest - now)

    def _answered(self, sent: Sent, scores: list[RowScore] | str | None) -> None:
        jobs: list[Job] = sent.job
        if isinstance(scores, list):
            start = 0
            for job in jobs:
                _settle(job, scores[start : start + len(job.rows)])
                start += len(job.rows)
        elif isinstance(scores, str):
            for job in jobs:
                _settle(job, [self.none(scores)] * len(job.rows))
        else:
            self.meters.deaths.inc()
            self._died(jobs)
        self._wake()

    def _died(self, jobs: list[Job]) -> None:
        """Score the rows of a batch again, one by one, whose worker died; give up those that were alone too often."""
        suspect = len(jobs) == 1
        for job in reversed(jobs):
            job.tries += suspect
            job.alone = True
            if job.tries >= _MOST_TRIES:
                why = f"its worker process died {job.tries} times while it was scored"
                _settle(job, [self.none(why)] * len(job.rows))
            elif suspect:  # the others first
                self._waiting.append(job)
            else:
                self._waiting.appendleft(job)


def _settle(job: Job, scores: list[RowScore]) -> None:
    if not job.done.done():
        job.done.set_result(scores)


def _key(row: Row, progress: Progress | None) -> bytes | None:
    """Return what equal rows have in common; None if they cannot be compared. 1, 1.0 and true differ."""
    when = None if progress is None else (progress.step, progress.max_steps)
    parts: Any = (row.completion, row.prompt, dict(row.columns), row.completion_ids, row.cut, when)
    try:
        written = marshal.dumps(parts, 0)  # version 0 writes values alone, not whether two of them are one object
    except ValueError:
        return None
    return hashlib.blake2b(written, digest_size=16).digest()
