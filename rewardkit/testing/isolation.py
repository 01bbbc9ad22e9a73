"""Isolation: laws run in a child process, so that a reward that hangs, or takes the process down, is a finding.

The child is a fork of this process: it has the reward as it is, closures and all. What it is about to score stands in
memory that both share, so that the parent knows what it hung on. It leads a session of its own, which ends as a whole:
processes that a reward has started do not outlive it. Ctrl-C reaches this process alone, which then ends the child.
"""

from __future__ import annotations

import mmap
import os
import pickle
import select
import signal
import struct
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rewardkit.core.processes.limits import limit_memory
from rewardkit.testing.trials import Trial

_NOTED = 1 << 20
"""Bytes that a noted trial may take."""
_HEADER = struct.Struct("dI")
_LENGTH = struct.Struct("Q")
_CAME_BACK = "the child has said everything"
_MEMORY = 3 << 30
"""Bytes that the child may take beyond what this process has."""


@dataclass(frozen=True)
class Lost:
    """The child did not come back.

    Attributes:
        trials: what it was scoring; empty where it was doing something else.
        reason: what happened to it.
    """

    trials: tuple[Trial, ...]
    reason: str


class Note:
    """What the child is scoring, and since when; shared between two processes."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _NOTED)
        self.write(None)

    def write(self, trials: Sequence[Trial] | None) -> None:
        message = b"" if not trials else _packed(trials)
        self._shared[_HEADER.size : _HEADER.size + len(message)] = message
        self._shared[: _HEADER.size] = _HEADER.pack(time.monotonic() if trials else 0.0, len(message))

    def read(self) -> tuple[float, tuple[Trial, ...]]:
        """Since when (0.0: nothing is being scored), and what."""
        since, length = _HEADER.unpack(self._shared[: _HEADER.size])
        if not length:
            return since, ()
        with suppress(Exception):
            return since, tuple(pickle.loads(self._shared[_HEADER.size : _HEADER.size + length]))
        return since, ()


def _packed(trials: Sequence[Trial]) -> bytes:
    with suppress(Exception):
        message = pickle.dumps(list(trials))
        if len(message) < _NOTED - _HEADER.size:
            return message
    return pickle.dumps([])


def can_isolate() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork") and sys.platform != "emscripten"


def isolated(work: Callable[[Callable[[Any], None]], None], note: Note, patience: float, limit: float) -> Iterator[Any]:
    """What `work` sends from a forked child, one by one; a `Lost` at the end if the child did not come back.

    Args:
        work: called in the child with a function that sends a picklable thing.
        note: what the child is scoring.
        patience: seconds that scoring one completion may take; a batch of 32 may take twice that.
        limit: seconds for all of it.
    """
    reading, writing = os.pipe()
    ending, living = os.pipe()  # closed by the kernel where this process has no time for last words
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: the child uses none of theirs
        process = os.fork()
    if process == 0:
        os.close(reading)
        os.close(living)
        _be_the_child(work, writing, ending)
    child = _Child(process)
    try:
        os.close(writing)
        os.close(ending)
        yield from _received(reading, child, note, patience, time.monotonic() + limit)
    finally:
        child.end()
        os.close(reading)
        os.close(living)


class _Child:
    """A forked process and what it has started, until it has been waited for."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._status: int | None = None

    def status(self) -> int | None:
        """How it ended; None while it runs."""
        if self._status is None:
            ended, status = os.waitpid(self._process, os.WNOHANG)
            if ended:
                self._status = status
                self._end_session()
        return self._status

    def end(self) -> None:
        if self.status() is None:
            self._end_session()
            os.kill(self._process, signal.SIGKILL)  # it may not have come to lead a session yet
            _, self._status = os.waitpid(self._process, 0)

    def _end_session(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS counts those that have ended
            os.killpg(self._process, signal.SIGKILL)


def _be_the_child(work: Callable[[Callable[[Any], None]], None], writing: int, ending: int) -> None:
    """Runs `work` and ends this process, whatever happens."""
    try:
        os.setsid()
        _end_with_parent(ending)
        limit_memory(_MEMORY)

        def send(thing: Any) -> None:
            message = pickle.dumps(thing)
            data = _LENGTH.pack(len(message)) + message
            while data:
                data = data[os.write(writing, data) :]

        work(send)
        send(_CAME_BACK)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(0)


def _end_with_parent(ending: int) -> None:
    """Has the kernel kill this session when the pipe is closed; a busy child would never see that."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(ending, fcntl.F_SETOWN, -os.getpid())
            fcntl.fcntl(ending, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(ending, fcntl.F_SETFL, os.O_ASYNC)


def _received(reading: int, child: _Child, note: Note, patience: float, deadline: float) -> Iterator[Any]:
    buffer = b""
    while True:
        ready, _, _ = select.select([reading], [], [], 0.05)
        if ready:
            data = os.read(reading, 1 << 16)
            if not data:
                break
            buffer += data
            while len(buffer) >= _LENGTH.size:
                (length,) = _LENGTH.unpack(buffer[: _LENGTH.size])
                if len(buffer) < _LENGTH.size + length:
                    break
                message, buffer = buffer[_LENGTH.size : _LENGTH.size + length], buffer[_LENGTH.size + length :]
                said = pickle.loads(message)
                if said == _CAME_BACK:
                    return
                yield said
            continue
        if child.status() is not None:  # a process that it has left behind may hold the pipe open
            break
        since, trials = note.read()
        now = time.monotonic()
        if since and now - since > patience * (1 + len(trials) / 32):
            yield Lost(trials, f"took more than {patience:g} s")
            return
        if now > deadline + patience:
            yield Lost((), "the time was over")
            return
    while (status := child.status()) is None:  # it has closed the pipe, so it is about to end
        time.sleep(0.01)
    yield Lost(note.read()[1], f"ended the whole process ({_ending(status)})")


def _ending(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return "an exit"
    number = os.WTERMSIG(status)
    return f"signal {signal.Signals(number).name if number in set(signal.Signals) else number}"
