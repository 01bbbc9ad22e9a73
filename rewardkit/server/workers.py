"""The worker processes, seen from the server: started, fed, killed, and started again."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from rewardkit.core.errors import RewardDefinitionError
from rewardkit.core.progress.progress import Progress
from rewardkit.online.rows import Row, RowScore
from rewardkit.server.worker import COMPUTING, WAITING, Described, Setup

_LOG = logging.getLogger("rewardkit.server")
_START_SECONDS = 120.0
_PAUSES = (0.0, 1.0, 5.0, 15.0)
"""Seconds before a worker is started again that died before it had loaded its reward, again and again."""
_LENGTH_BYTES = 8

Answered = Callable[["Sent", "list[RowScore] | str | None"], None]


@final
@dataclass(eq=False)
class Sent:
    """A batch that a worker has.

    Attributes:
        job: what the dispatcher knows it by.
        until: the time at which the worker is killed (`time.monotonic`).
    """

    job: Any
    until: float
    number: int = 0


@dataclass(eq=False)
class Worker:
    """One process.

    Args:
        setup: what it loads.
        answered: called with each batch and its scores; with a text that says why there are none; with None if the
            process died first.
        changed: called when it is ready, and when it has died.
    """

    setup: Setup
    answered: Answered
    changed: Callable[[], None]
    described: Described | None = None
    sent: dict[int, Sent] = field(default_factory=dict)
    deaths: int = 0
    closing: bool = False
    process: asyncio.subprocess.Process | None = None
    _writer: asyncio.StreamWriter | None = None
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
            await asyncio.sleep(_PAUSES[min(self._in_a_row, len(_PAUSES) - 1)])
            loaded = False
            try:
                await self._run()
            except (OSError, EOFError, pickle.UnpicklingError, asyncio.IncompleteReadError) as error:
                if not self.closing:
                    _LOG.warning("a worker process died%s", f": {error}" if str(error) else "")
            finally:
                loaded = self.described is not None
                await self._end()
            self._in_a_row = 0 if loaded else self._in_a_row + 1
            if not self.closing:
                self.deaths += 1
            lost, self.sent = list(self.sent.values()), {}
            for one in lost:
                self.answered(one, None)
            self.changed()

    async def _run(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
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
        await self._write(pickle.dumps(self.setup))
        hello = pickle.loads(await asyncio.wait_for(_message(reader), _START_SECONDS))
        if isinstance(hello, str):
            raise RewardDefinitionError(hello)
        self.described = hello
        self.changed()
        while True:
            number, scores = pickle.loads(await _message(reader))
            sent = self.sent.pop(number, None)
            if sent is not None:
                self.answered(sent, scores)

    async def send(self, sent: Sent, rows: Sequence[Row], progress: Progress | None, generations: int | None) -> None:
        """Send a batch; it is answered later."""
        sent.number = next(self._numbers)
        self.sent[sent.number] = sent
        message = pickle.dumps((sent.number, rows, progress, generations), pickle.HIGHEST_PROTOCOL)
        with contextlib.suppress(OSError):  # it has died, which `live` notices
            await self._write(message)

    def kill(self) -> None:
        """Kill the process and all that it started."""
        if self.process is not None and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let the process write its record and end."""
        self.closing = True
        if self._writer is not None:
            self._writer.close()

    async def _write(self, message: bytes) -> None:
        assert self._writer is not None
        self._writer.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
        await self._writer.drain()

    async def _end(self) -> None:
        writer, self._writer, self.described = self._writer, None, None
        if writer is not None:
            writer.close()
        if self.process is not None:
            try:
                await asyncio.wait_for(self.process.wait(), 10.0 if self.closing else 0.1)
            except asyncio.TimeoutError:
                self.kill()
                await self.process.wait()
            self.process = None


async def _message(reader: asyncio.StreamReader) -> bytes:
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
    return await reader.readexactly(length)
