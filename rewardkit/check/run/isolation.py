"""Isolation: run laws in a child process, so that a reward that hangs or crashes the process becomes a finding.

The child is a fork, so it has the reward with all closures. Before the child scores completions, it writes them to
shared memory, so that the parent can find out where it hung. The child's output goes to a pipe that the parent reads.
The child leads a separate session, which is killed as a whole, including all processes that the reward started. Ctrl-C
reaches only the parent, which then terminates the child.
"""

from __future__ import annotations

import gc
import math
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

from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.run.output import Heard, speak_to
from rewardkit.check.run.scratch import enter_scratch
from rewardkit.workers.limits import end_with_parent, limit_memory

_NOTED = 1 << 20
"""The maximum size of a note, in bytes. Arbitrary: a note only holds the completions being scored."""
_HEADER = struct.Struct("dI")
_LENGTH = struct.Struct("Q")
_CAME_BACK = "the child has sent everything"
_MOST_AT_THE_END = 1 << 24
"""The maximum number of bytes of output to read after the child has ended, since a process that it started may still
print. Arbitrary."""
_MEMORY = 3 << 30
"""The memory that the child may allocate in addition to that of this process, in bytes. Arbitrary: it protects the
machine, but rewards with models need gigabytes."""


@dataclass(frozen=True)
class Lost:
    """A message that the child was lost: it hung or crashed.

    Attributes:
        trials: the trials that the child was scoring. Empty if it was doing something else.
        reason: why the child was lost, in words.
    """

    trials: tuple[Trial, ...]
    reason: str

    @property
    def hung(self) -> bool:
        """Whether scoring took too long. If not, the process ended."""
        return self.reason.startswith("took")


class Note:
    """The trials that the child is scoring and their start time, in memory shared by child and parent."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _NOTED)
        self.write(None)

    def write(self, trials: Sequence[Trial] | None) -> None:
        message = b"" if not trials else _packed(trials)
        self._shared[_HEADER.size : _HEADER.size + len(message)] = message
        self._shared[: _HEADER.size] = _HEADER.pack(time.monotonic() if trials else 0.0, len(message))

    @property
    def since(self) -> float:
        """The time at which scoring started, or 0.0 if nothing is being scored."""
        started: float = _HEADER.unpack(self._shared[: _HEADER.size])[0]
        return started

    def read(self) -> tuple[float, tuple[Trial, ...]]:
        """Return the start time and the trials being scored."""
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
    """Return whether this system can fork."""
    return hasattr(os, "fork") and sys.platform != "emscripten"


def run_in_child(
    work: Callable[[Callable[[Any], None]], None],
    note: Note,
    patience: float,
    limit: float,
    on_output: Heard = lambda data: None,
    quiet: float = math.inf,
) -> Iterator[Any]:
    """Run `work` in a forked child. Yield the messages it sends, and then a `Lost` if the child hung or crashed.

    Args:
        work: the function to call in the child. Its argument is a function that sends a picklable object to the parent.
        note: the shared record of the trials that the child is scoring.
        patience: the time limit for one completion, in seconds. A batch of 32 may take twice as long.
        limit: the time limit for all work, in seconds.
        on_output: a function that is called with all output of the child.
        quiet: the time limit between two messages, in seconds.
    """
    reading, writing = os.pipe()
    hearing, speaking = os.pipe()
    ending, living = os.pipe()  # the kernel closes this pipe even if the parent is killed
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads, none of which the child uses
        process = os.fork()
    if process == 0:
        for descriptor in (reading, hearing, living):
            os.close(descriptor)
        _run_child(work, writing, ending, speaking)
    child = _Child(process)
    try:
        for descriptor in (writing, speaking, ending):
            os.close(descriptor)
        yield from _receive_messages(
            reading, hearing, child, note, patience, time.monotonic() + limit, on_output, quiet
        )
    finally:
        child.end()
        _hear_the_rest(hearing, on_output)
        for descriptor in (reading, hearing, living):
            os.close(descriptor)


class _Child:
    """A forked child process and its session, until the child is reaped."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._status: int | None = None

    def status(self) -> int | None:
        """Return the child's exit status, or None while it is running."""
        if self._status is None:
            ended, status = os.waitpid(self._process, os.WNOHANG)
            if ended:
                self._status = status
                self._end_session()
        return self._status

    def end(self) -> None:
        if self.status() is None:
            self._end_session()
            os.kill(self._process, signal.SIGKILL)  # the child may not lead a session yet
            _, self._status = os.waitpid(self._process, 0)

    def _end_session(self) -> None:
        with suppress(ProcessLookupError, PermissionError):  # no process may be left; macOS counts zombies
            os.killpg(self._process, signal.SIGKILL)


def _hear_the_rest(hearing: int, on_output: Heard) -> None:
    most = _MOST_AT_THE_END
    while most > 0 and select.select([hearing], [], [], 0)[0]:
        data = os.read(hearing, 1 << 16)
        if not data:
            return
        on_output(data)
        most -= len(data)


def _run_child(work: Callable[[Callable[[Any], None]], None], writing: int, ending: int, speaking: int) -> None:
    """Run `work` in the child, and end the child in any case."""
    stderr_copy, errors = os.dup(2), sys.stderr
    try:
        speak_to(speaking)
        os.close(speaking)
        nothing = os.open(os.devnull, os.O_RDONLY)  # a reward must not read the parent's input, or wait for it
        os.dup2(nothing, 0)
        os.close(nothing)
        os.setsid()
        end_with_parent(ending)
        limit_memory(_MEMORY)
        enter_scratch()
        gc.freeze()  # garbage of the parent may belong to threads (of torch, of DuckDB) that do not exist here

        def send(payload: Any) -> None:
            message = pickle.dumps(payload)
            data = _LENGTH.pack(len(message)) + message
            while data:
                data = data[os.write(writing, data) :]

        work(send)
        sys.stdout.flush()
        sys.stderr.flush()
        send(_CAME_BACK)
    except BaseException:
        import traceback

        os.dup2(stderr_copy, 2)
        traceback.print_exc(file=errors)
    finally:
        # Skip the cleanup at exit, which belongs to the parent.
        os._exit(0)


def _receive_messages(
    reading: int,
    hearing: int,
    child: _Child,
    note: Note,
    patience: float,
    deadline: float,
    on_output: Heard,
    quiet: float,
) -> Iterator[Any]:
    buffer = b""
    last = time.monotonic()
    opened = [reading, hearing]
    while True:
        # Check the clock and the pipes twenty times a second.
        ready, _, _ = select.select(opened, [], [], 0.05)
        if hearing in ready:
            printed = os.read(hearing, 1 << 16)
            on_output(printed)
            if not printed:
                opened.remove(hearing)
        if reading in ready:
            data = os.read(reading, 1 << 16)
            if not data:
                break
            buffer += data
            while len(buffer) >= _LENGTH.size:
                (length,) = _LENGTH.unpack(buffer[: _LENGTH.size])
                if len(buffer) < _LENGTH.size + length:
                    break
                message, buffer = buffer[_LENGTH.size : _LENGTH.size + length], buffer[_LENGTH.size + length :]
                payload = pickle.loads(message)
                if payload == _CAME_BACK:
                    return
                yield payload
            last = time.monotonic()
            continue
        if child.status() is not None:  # a process started by the child may still hold the pipe open
            if select.select([reading], [], [], 0)[0]:
                continue
            break
        since, now = note.since, time.monotonic()
        if since and now - since > patience:
            trials = note.read()[1]
            # Allow more time for large batches: up to 32 are scored at a time.
            if now - since > patience * (1 + len(trials) / 32):
                yield Lost(trials, f"took more than {patience:g} s")
                return
        if now > min(deadline, last + quiet) + patience:
            yield Lost((), "ran out of time")
            return
    while (status := child.status()) is None:  # the child closed the pipe, so it is about to end
        time.sleep(0.01)
    yield Lost(note.read()[1], f"ended the whole process ({_exit_reason(status)})")


def _exit_reason(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return "it exited"
    number = os.WTERMSIG(status)
    return f"signal {signal.Signals(number).name if number in set(signal.Signals) else number}"
