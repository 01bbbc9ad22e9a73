"""The dispatcher: the rows in all requests wait in one queue, and workers score them in batches.

If a row kills its worker, the other rows still get their scores, because the batch is then scored row by row.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import logging
import marshal
import math
import os
import pickle
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.errors import RewardDefinitionError
from rewardkit.online.rows import Row, RowScore, unscored
from rewardkit.progress.progress import Progress
from rewardkit.serve.metrics import Metrics
from rewardkit.serve.worker import COMPUTING, WAITING, Described, Setup
from rewardkit.workers.worker import command

# The server's side of the worker processes: start, send batches, kill, restart.


_LOG = logging.getLogger("rewardkit.serve")
_START_SECONDS = 600.0
"""The seconds that a worker may take to load its reward. The limit is arbitrary: reward models with tens of gigabytes
take minutes to load."""
_MOST_STARTS = 3
"""The number of consecutive failed starts after which the reward is considered unloadable. The number is arbitrary: a
single failure may be an accident, but three failures are probably caused by the reward."""
_PAUSES = (0.0, 0.5, 2.0, 10.0)
"""The seconds before a worker that died while loading its reward is restarted, by the number of consecutive deaths. The
values are arbitrary: immediately after an accident, but rarely if the reward cannot be loaded."""
_LAST_WORDS_SECONDS = 0.2
"""The seconds for reading the output that a process wrote before it died. The limit is arbitrary: a pipe is read in
microseconds."""
_LENGTH_BYTES = 8
"""The size of a message's length prefix, as in `workers.frames`."""

Answered = Callable[["Sent", "list[RowScore] | str | None"], None]


@final
@dataclass(eq=False)
class Sent:
    """A batch that was sent to a worker.

    Attributes:
        job: the dispatcher's jobs in the batch.
        until: the time at which to kill the worker (`time.monotonic`).
        turn: the earlier time at which to kill the worker if other rows are waiting.
        end: the reason why the worker was killed: ``"late"`` if this batch took too long, or ``"innocent"`` if another
            batch took too long. Empty if the worker died without being killed.
        shared: whether the worker had other batches when it died.
        began: the time at which the batch was sent.
    """

    job: Any
    until: float
    number: int = 0
    end: str = ""
    shared: bool = False
    turn: float = math.inf
    began: float = field(default_factory=time.monotonic)

    def end_at(self, others_wait: bool) -> float:
        """Return the time at which to kill the worker."""
        return min(self.until, self.turn) if others_wait else self.until


@final
@dataclass(eq=False)
class Worker:
    """One worker process.

    Args:
        setup: the settings for loading the reward.
        answered: a function that is called with each batch and one of: its scores, the reason why it does not have
            scores, or None if the process died first.
        changed: a function that is called when the worker becomes ready and when it dies.
        expected: the description that the loaded reward must have; None to accept any reward.
        described: the loaded reward's description, or None while the worker cannot score rows.
        refusal: the reason why the worker cannot load its reward; empty if it can or if this is not yet known.
    """

    setup: Setup
    answered: Answered
    changed: Callable[[], None]
    expected: Described | None = None
    described: Described | None = None
    refusal: str = ""
    sent: dict[int, Sent] = field(default_factory=dict)
    deaths: int = 0
    closing: bool = False
    process: asyncio.subprocess.Process | None = None
    _writer: asyncio.StreamWriter | None = None
    _closed: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _in_a_row: int = 0

    @property
    def slots(self) -> int:
        """The number of additional batches that the worker accepts."""
        if self.described is None or self._writer is None or self.closing:
            return 0
        return (WAITING if self.described.waits else COMPUTING) - len(self.sent)

    async def live(self) -> None:
        """Run the process until `close`, and restart it whenever it dies."""
        while not self.closing:
            pause = _PAUSES[min(self._in_a_row, len(_PAUSES) - 1)]
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._closed.wait(), pause)
                return
            try:
                await self._run()
            except Exception as error:
                if not self.closing:
                    self._explain(error)
            loaded = self.described is not None
            await self._end()
            self._in_a_row = 0 if loaded else self._in_a_row + 1
            if not self.closing:
                self.deaths += 1
            lost, self.sent = list(self.sent.values()), {}
            for batch in lost:
                batch.shared = len(lost) > 1
                self.answered(batch, None)
            self.changed()

    def _explain(self, error: Exception) -> None:
        """Log the reason why the process ended; store it if the next process will end the same way."""
        if isinstance(error, RewardDefinitionError):
            self.refusal = str(error)
        elif self.described is None and self._in_a_row + 1 >= _MOST_STARTS:
            self.refusal = (
                f"{_MOST_STARTS} worker processes crashed while they loaded {self.setup.target}. Import it in a "
                "separate Python process to see why"
            )
        if self.refusal and self.expected is None:
            return  # the server does not start, and says why
        reason = self.refusal if self.described is None else str(error)
        _LOG.warning("a worker process ended%s", f": {reason}" if reason else "")

    async def _run(self) -> None:
        server_socket, worker_socket = socket.socketpair()
        try:
            self.process = await asyncio.create_subprocess_exec(
                *command("rewardkit.serve.worker:main", worker_socket.fileno(), ["", *sys.path]),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=[worker_socket.fileno()],
                start_new_session=True,  # Ctrl-C goes only to the server; killing the group kills all descendants
                env={"REWARDKIT_LAUNCH": f"server-{os.getpid()}", **os.environ},
            )
            reader, self._writer = await asyncio.open_connection(sock=server_socket)
        except BaseException:
            server_socket.close()
            raise
        finally:
            worker_socket.close()
        watching = asyncio.create_task(self._watch(self.process, self._writer))
        try:
            await self._talk(reader)
        finally:
            watching.cancel()

    async def _watch(self, process: asyncio.subprocess.Process, writer: asyncio.StreamWriter) -> None:
        """Close the connection after the process has died, because its children may keep its end of the socket open."""
        await process.wait()
        await asyncio.sleep(_LAST_WORDS_SECONDS)
        writer.transport.abort()

    async def _talk(self, reader: asyncio.StreamReader) -> None:
        self._write(pickle.dumps(self.setup))
        try:
            hello = pickle.loads(await asyncio.wait_for(_message(reader), _START_SECONDS))
        except asyncio.TimeoutError:
            raise RewardDefinitionError(
                f"{self.setup.target} was not loaded within {_START_SECONDS:g} s. Load large models in the first call"
            ) from None
        if isinstance(hello, str):
            raise RewardDefinitionError(hello)
        if self.expected is not None and hello != self.expected:
            raise RewardDefinitionError(
                f"{self.setup.target} has changed since the server started, from {self.expected.fingerprint} to "
                f"{hello.fingerprint}. Restart the server, or undo the change"
            )
        self.described, self.refusal = hello, ""
        self.changed()
        while True:
            number, scores = pickle.loads(await _message(reader))
            sent = self.sent.pop(number, None)
            if sent is not None:
                self.answered(sent, scores)

    def send(self, sent: Sent, rows: Sequence[Row], progress: Progress | None, generations: int | None) -> None:
        """Send a batch without waiting for a process that is too busy to read; the answer arrives later.

        Raises:
            RecursionError: the rows are nested too deeply to be sent.
        """
        sent.number = next(self._numbers)
        message = pickle.dumps((sent.number, rows, progress, generations), pickle.HIGHEST_PROTOCOL)
        self.sent[sent.number] = sent
        self._write(message)

    def kill(self) -> None:
        """Kill the process and everything that it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let the process save its record and exit."""
        self.closing = True
        self._closed.set()
        if self._writer is not None:
            self._writer.close()

    def _write(self, message: bytes) -> None:
        assert self._writer is not None
        self._writer.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)

    async def _end(self) -> None:
        writer, self._writer, self.described = self._writer, None, None
        if writer is not None:
            writer.close()
        if self.process is not None:
            with contextlib.suppress(asyncio.TimeoutError):
                # A closing worker gets ten seconds to finish its batch; a process that died needs no time.
                await asyncio.wait_for(self.process.wait(), 10.0 if self.closing else 0.1)
            self.kill()  # also the processes that it left behind
            await self.process.wait()
            self.process = None


async def _message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
    return await reader.readexactly(length)


LARGEST, LARGEST_WAITING = 256, 16
"""The maximum number of rows in a batch, for a reward that only computes and for a reward that waits. The limits are
arbitrary: the slowest row delays the other rows."""
_BATCH_SECONDS = 0.01
"""The target duration of a batch in seconds. Requests that arrive in the meantime must wait for the batch, and its rows
are answered together. The value is arbitrary: clients barely notice the delay, and it is much longer than the time
needed to distribute a batch."""
_SMALLEST = 4
"""The lower limit for `_largest`. The limit is arbitrary: even a slow reward gets a few rows per call, because it may
be faster on a batch than on single rows."""
_PATIENCE, _PATIENCE_WAITING = 0.25, 0.75
"""The share of the deadline after which the rows in a slow batch are scored one by one, so that the other rows do not
lose their scores because of one slow row. Calling judges again is expensive, so a reward that waits gets more time."""
_TURN = 1 / 16
"""The share of the deadline after which a row that is scored separately makes room for waiting rows. The share doubles
each time. Without it, a few hanging rows would block all workers until the other rows are late."""
_GRACE = 0.5
"""The additional seconds that a late worker gets to answer before it is killed. The value is arbitrary: if an answer is
about to arrive, another process does not need to be started."""
_MOST_TRIES = 3
"""The number of workers that a row may kill before it fails. The last of these workers score only this row. The number
is arbitrary: other rows may have caused the first deaths."""


class Busy(Exception):
    """The queue is full or the server is shutting down, so the request must be retried later."""


@final
@dataclass(eq=False)
class Job:
    """Rows that are scored together: one row or one group.

    Attributes:
        generations: the number of completions per prompt, or None if the row is independent.
        waiters: the number of requests that are waiting for the job.
        deaths: the number of workers that died while this was the only job in their batch.
        alone: whether to send the job in a separate batch.
        turns: the number of times that the job has made room for other jobs.
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
    """A queue of rows and the pool of workers that score them.

    Args:
        setup: the settings with which the workers load the reward.
        workers: the number of workers.
        queue: the maximum number of rows that are waiting or being scored.
        deadline: the seconds after which a row fails and a worker that is still scoring it is killed.
        meters: the metrics to update.
    """

    setup: Setup
    workers: int
    queue: int
    deadline: float
    meters: Metrics
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
        """Start the workers; when the first worker has loaded the reward, return the reward's description.

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
            # Loading takes seconds, and a hundred checks per second cost next to nothing.
            await asyncio.sleep(0.01)
        self.described = next(worker.described for worker in self._pool if worker.described)
        for worker in self._pool:
            worker.expected = self.described  # later edits of the file must not mix two rewards
        return self.described

    async def close(self) -> None:
        """Let the workers save their records and exit."""
        self.closing = True
        for worker in self._pool:
            worker.close()
        await asyncio.gather(*self._tasks[: len(self._pool)], return_exceptions=True)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def ready(self) -> bool:
        """Whether at least one worker can score rows."""
        return not self.closing and self.ready_workers > 0

    @property
    def ready_workers(self) -> int:
        """The number of workers that can score rows."""
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
        """Return the scores for `rows`. Rows without a score at the deadline fail.

        Args:
            generations: the number of completions per group if the rows are whole groups, or None if the rows are
                independent.
            deadline: the time limit in seconds, at most the server's deadline, which is also the default.

        Raises:
            Busy: too many rows are waiting.
        """
        if self.closing:
            raise Busy("the server is shutting down")
        if not self.ready_workers and (refusal := self._refusal()):
            raise Busy(f"no worker can score: {refusal}")
        if self.taken + len(rows) > self.queue:
            raise Busy(f"{self.taken:,} rows are waiting, but at most {self.queue:,} may wait")
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

    def none(self, reason: str) -> RowScore:
        """Return the scores for a row that could not be scored."""
        assert self.described is not None
        return unscored(self.described.terms, self.described.components, reason)

    def _job(self, rows: Sequence[Row], progress: Progress | None, generations: int | None, until: float) -> Job:
        """Return a new job, or the pending job for an equal row."""
        assert self.described is not None
        key = _key(rows[0], progress) if generations is None and self.described.deterministic else None
        job = None if key is None else self._in_flight.get(key)
        if job is None or job.done.done():  # rows that failed meanwhile may succeed now
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
        """Record that a request no longer waits for `job`; if it was the last such request, cancel the job."""
        job.waiters -= 1
        if job.waiters == 0:
            job.done.cancel()
            if job.key is not None and self._in_flight.get(job.key) is job:
                del self._in_flight[job.key]

    def _wake(self) -> None:
        self._changed.set()

    async def _dispatch(self) -> None:
        """Send waiting rows to the workers, and kill workers that take too long."""
        while True:
            late = self._kill_late()
            try:
                await asyncio.wait_for(self._changed.wait(), late)
            except asyncio.TimeoutError:
                continue
            self._changed.clear()
            await asyncio.sleep(0)  # rows that other requests add now join the batch
            while True:
                self._isolate()
                free = [worker for worker in self._pool if worker.slots > 0 and worker is not self._reserved]
                if not self._waiting or not free:
                    break
                if jobs := self._batch(len(free)):
                    self._owed = False
                    self._send(max(free, key=lambda candidate: candidate.slots), jobs)

    def _isolate(self) -> None:
        """Score the next suspected row on an idle worker. If the worker dies, the row is the cause.

        Suspected rows are scored one at a time, with a batch of other rows between them.
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
            self._reserved = min(running, key=lambda candidate: len(candidate.sent), default=None)
        if self._reserved is not None and self._reserved.slots > 0 and not self._reserved.sent:
            self._owed, self._isolated = True, self._suspects.popleft()
            self._send(self._reserved, [self._isolated])

    def _batch(self, free: int) -> list[Job]:
        """Take jobs for one batch from the queue, so that each free worker gets an equal share of the waiting rows."""
        assert self.described is not None
        largest = LARGEST_WAITING if self.described.waits else self._largest()
        most = -(-len(self._waiting) // free)
        jobs: list[Job] = []
        rows = 0
        while self._waiting and len(jobs) < most:
            job = self._waiting[0]
            if not job.done.done() and jobs and (rows + len(job.rows) > largest or not _fit(job, jobs[0])):
                break
            self._waiting.popleft()
            if not job.done.done():
                jobs.append(job)
                rows += len(job.rows)
        return jobs

    def _largest(self) -> int:
        """Return the number of rows that takes about `_BATCH_SECONDS`, at least `_SMALLEST` and at most `LARGEST`."""
        return LARGEST if self._pace == 0.0 else max(_SMALLEST, min(LARGEST, int(_BATCH_SECONDS / self._pace)))

    def _send(self, worker: Worker, jobs: list[Job]) -> None:
        rows = [row for job in jobs for row in job.rows]
        self.meters.batch.observe(len(rows))
        assert self.described is not None
        until = time.monotonic() + self.deadline * (_PATIENCE_WAITING if self.described.waits else _PATIENCE)
        if len(jobs) == 1:
            until = max(until, jobs[0].until)  # a short deadline must not make the server kill its workers
        sent = Sent(jobs, until + _GRACE)
        if jobs[0].alone and not self.described.waits:
            sent.turn = time.monotonic() + self.deadline * _TURN * 2 ** jobs[0].turns
        try:
            worker.send(sent, rows, jobs[0].progress, jobs[0].generations)
        except Exception as error:  # rows that are nested too deeply
            self._answered(sent, f"it cannot be sent to a worker process: {type(error).__name__}: {error}")

    def _kill_late(self) -> float | None:
        """Kill workers with late batches.

        Return the seconds until the next batch is late, or None if no batch is running.
        """
        now, has_waiting = time.monotonic(), any(not job.done.done() for job in self._waiting)
        for worker in self._pool:
            if any(sent.end_at(has_waiting) <= now for sent in worker.sent.values()):
                for sent in worker.sent.values():
                    sent.end = "late" if sent.end_at(has_waiting) <= now else "innocent"
                    sent.until = sent.turn = math.inf
                worker.kill()
        ends = [sent.end_at(has_waiting) for worker in self._pool for sent in worker.sent.values()]
        nearest = min(ends, default=math.inf)
        # At least 50 ms, so that a deadline in the past does not make the loop spin.
        return None if nearest == math.inf else max(0.05, nearest - now)

    def _answered(self, sent: Sent, scores: list[RowScore] | str | None) -> None:
        jobs: list[Job] = sent.job
        if self._isolated in jobs:
            self._isolated = None
        if isinstance(scores, list):
            seconds = (time.monotonic() - sent.began) / len(scores)
            # A moving average over about ten batches.
            self._pace += 0.1 * (seconds - self._pace) if self._pace else seconds
            start = 0
            for job in jobs:
                _resolve_job(job, scores[start : start + len(job.rows)])
                start += len(job.rows)
        elif isinstance(scores, str) and len(jobs) == 1:
            _resolve_job(jobs[0], [self.none(scores)] * len(jobs[0].rows))
        elif isinstance(scores, str):
            self._again(jobs, alone=True)
        else:
            self.meters.deaths.inc()
            self._lost(sent)
        self._wake()

    def _lost(self, sent: Sent) -> None:
        """Queue the rows in a batch whose worker died, one by one, until the row that killed the worker is known."""
        jobs: list[Job] = sent.job
        if sent.end == "late" and jobs[0].alone:
            jobs[0].turns += 1
            return self._waiting.append(jobs[0])
        if sent.end or len(jobs) > 1:
            return self._again(jobs, alone=sent.end != "innocent")
        (job,) = jobs
        job.deaths += 1
        if job.deaths >= _MOST_TRIES and not sent.shared:
            reason = f"its worker process crashed {job.deaths} times while the row was scored"
            return _resolve_job(job, [self.none(reason)] * len(job.rows))
        self._suspects.append(job)

    def _again(self, jobs: list[Job], *, alone: bool) -> None:
        for job in jobs:
            job.alone = job.alone or alone
        self._waiting.extendleft(reversed(jobs))


def _fit(job: Job, other: Job) -> bool:
    """Return whether two jobs can be in the same batch."""
    alone = job.alone or other.alone
    return not alone and job.generations == other.generations and job.progress == other.progress


def _resolve_job(job: Job, scores: list[RowScore]) -> None:
    if not job.done.done():
        job.done.set_result(scores)


def _key(row: Row, progress: Progress | None) -> bytes | None:
    """Return a digest that is the same for equal rows, or None if `row` cannot be compared. 1, 1.0, and true differ."""
    progress_key = None if progress is None else (progress.step, progress.max_steps)
    parts: Any = (
        row.completion,
        row.prompt,
        dict(row.columns),
        row.completion_ids,
        row.cut,
        row.runs_calls,
        progress_key,
    )
    try:
        data = marshal.dumps(parts, 0)  # version 0 encodes only values, not whether two of them are the same object
    except ValueError:
        return None
    return hashlib.blake2b(data, digest_size=16).digest()
