"""The worker processes, seen from the server: started, fed, killed, and started again."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import math
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row, RowScore
from rewardkit.server.worker import COMPUTING, WAITING, Described, Setup

_LOG = logging.getLogger("rewardkit.server")
_START_SECONDS = 600.0
_MOST_STARTS = 3
_PAUSES = (0.0, 0.5, 2.0, 10.0)
"""Seconds before a worker is started again that died before it had loaded its reward, again and again."""
_LAST_WORDS_SECONDS = 0.2
"""What a process wrote before it died is read first."""
_LENGTH_BYTES = 8

Answered = Callable[["Sent", "list[RowScore] | str | None"], None]


@final
@dataclass(eq=False)
class Sent:
    """A batch that a worker has.

    Attributes:
        job: what the dispatcher knows it by.
        until: the time at which the worker is killed (`time.monotonic`).
        turn: the time at which it is killed if others wait.
        end: why it was killed: this batch is ``"late"``, or it is ``"innocent"`` and another one is; empty if it died.
        shared: the worker had other batches when it died.
        began: when it was sent.
    """

    job: Any
    until: float
    number: int = 0
    end: str = ""
    shared: bool = False
    turn: float = math.inf
    began: float = field(default_factory=time.monotonic)

    def end_at(self, others_wait: bool) -> float:
        """Return the time at which the worker is killed."""
        return min(self.until, self.turn) if others_wait else self.until


@final
@dataclass(eq=False)
class Worker:
    """One process.

    Args:
        setup: what it loads.
        answered: called with each batch and its scores; with a text that says why there are none; with None if the
            process died first.
        changed: called when it is ready, and when it has died.
        expected: what it must have loaded to score; None if anything will do.
        described: what it has loaded; None while it cannot score.
        refusal: why it cannot load its reward; empty if it can, or if that is not known yet.
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
        """How many more batches it takes."""
        if self.described is None or self._writer is None or self.closing:
            return 0
        return (WAITING if self.described.waits else COMPUTING) - len(self.sent)

    async def live(self) -> None:
        """Run the process, and start it again whenever it dies, until `close`."""
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
            for one in lost:
                one.shared = len(lost) > 1
                self.answered(one, None)
            self.changed()

    def _explain(self, error: Exception) -> None:
        """Log why the process ended, and remember it if the next ones will end like it."""
        if isinstance(error, RewardDefinitionError):
            self.refusal = str(error)
        elif self.described is None and self._in_a_row + 1 >= _MOST_STARTS:
            self.refusal = (
                f"{_MOST_STARTS} worker processes died while they loaded {self.setup.target}. Import it in a Python "
                "process of its own to see why"
            )
        if self.refusal and self.expected is None:
            return  # the server does not start, and says why
        why = self.refusal if self.described is None else str(error)
        _LOG.warning("a worker process ended%s", f": {why}" if why else "")

    async def _run(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                f"from rewardkit.server.worker import run; run({theirs.fileno()})",
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C goes only to the server; killing the group kills all descendants
                env={"REWARDKIT_LAUNCH": f"server-{os.getpid()}", **os.environ},
            )
            reader, self._writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        watching = asyncio.create_task(self._watch(self.process, self._writer))
        try:
            await self._talk(reader)
        finally:
            watching.cancel()

    async def _watch(self, process: asyncio.subprocess.Process, writer: asyncio.StreamWriter) -> None:
        """Hang up once the process has died: what it started may still hold its end of the socket."""
        await process.wait()
        await asyncio.sleep(_LAST_WORDS_SECONDS)
        writer.transport.abort()

    async def _talk(self, reader: asyncio.StreamReader) -> None:
        self._write(pickle.dumps(self.setup))
        try:
            hello = pickle.loads(await asyncio.wait_for(_message(reader), _START_SECONDS))
        except asyncio.TimeoutError:
            raise RewardDefinitionError(
                f"{self.setup.target} was not loaded within {_START_SECONDS:g} s. Load large models at the first call"
            ) from None
        if isinstance(hello, str):
            raise RewardDefinitionError(hello)
        if self.expected is not None and hello != self.expected:
            raise RewardDefinitionError(
                f"{self.setup.target} has changed since the server was started, from {self.expected.fingerprint} to "
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
        """Send a batch; it is answered later. This does not wait for a process that is too busy to read.

        Raises:
            RecursionError: the rows are nested too deeply to be sent.
        """
        sent.number = next(self._numbers)
        message = pickle.dumps((sent.number, rows, progress, generations), pickle.HIGHEST_PROTOCOL)
        self.sent[sent.number] = sent
        self._write(message)

    def kill(self) -> None:
        """Kill the process and all that it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let the process write its record and end."""
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
                await asyncio.wait_for(self.process.wait(), 10.0 if self.closing else 0.1)
            self.kill()  # also what it has left behind
            await self.process.wait()
            self.process = None


async def _message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
    return await reader.readexactly(length)
