"""Launch sandboxes: ``runs(Job(program, trials), isolation.command)`` yields one ``Run`` per trial as they end.

``dialogues`` launches two, whose trials run in pairs.

The sandbox gets its job through a file in memory and answers through one pipe, which is read with limits on time and
size. If a sandbox does not start, or ends before it has reported its trials, that is a `SandboxFailure`: a program
cannot cause it, so no program is scored for it.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import IO, Any, final

from rewardkit.errors import SandboxFailure, shorten
from rewardkit.rewards.sandbox.interpreter import interpreter
from rewardkit.rewards.sandbox.limits import MEGABYTE, OUTPUT_BYTES, USUAL, Limits, kernel_filter
from rewardkit.rewards.sandbox.supervisor import FRAME, READY

# Any limits: a start takes a fraction of a second, and more on a busy machine. The supervisor ends programs itself: the
# grace is for its report. A message of a program is cut.
_START_SECONDS = 30.0
_GRACE_SECONDS = 10.0
_PROBLEM_BYTES = 4096
_QUESTION_BYTES = 256_000_000
"""The limit of the inputs that one test passes to a program: those of contests are tens of megabytes."""

_BOOT = """
import marshal
stream = open(0, "rb", closefd=False)
scope = {"__name__": "supervisor"}
exec(marshal.load(stream), scope)
scope["serve"](stream)
"""


@final
@dataclass(frozen=True)
class Trial:
    """One run of a program.

    Attributes:
        given: its standard input.
        epilogue: Python source that runs after it in the same process, with the names of the job's library, ``program``
            (the program's names), ``shared`` (see `Job`) and the file descriptors ``out`` (for the report), ``said``
            (for how it ends) and ``heard`` (in a dialogue). The program's output is then not reported. Empty: it is.
    """

    given: bytes = b""
    epilogue: str = ""


@final
@dataclass(frozen=True)
class Job:
    """A program and its trials.

    Attributes:
        modules: imported once, before the first trial.
        setup: source that runs before the program, in its process and with its names.
        library: code that runs once, for the epilogues; only a local sandbox has the same version of Python.
        shared: the data for all epilogues, of types that `marshal` knows.
    """

    program: str
    trials: tuple[Trial, ...]
    limits: Limits = USUAL
    path: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    setup: str = ""
    library: tuple[CodeType, ...] = ()
    shared: Any = None

    def encoded(self, channel: int = -1, wall: float = 0.0, *, asks: bool = False) -> bytes:
        """Return the input of the sandbox: the compiled supervisor, then the job.

        `channel` is the descriptor of a dialogue, `wall` the seconds of a trial on both sides, and `asks` says that
        this side waits for the first message.
        """
        described = self.described(output=_QUESTION_BYTES if asks else OUTPUT_BYTES)
        described |= {"filter": kernel_filter(), "channel": channel, "whole": wall, "asks": asks}
        return marshal.dumps(compiled("supervisor")) + marshal.dumps(described)

    def described(self, *, output: int = OUTPUT_BYTES, room: int = 0) -> dict[str, Any]:
        """Return the job as the supervisor reads it; `output` and `room` limit its reports."""
        return {
            "program": self.program.encode("utf-8", "surrogatepass"),
            "trials": [(trial.given, trial.epilogue) for trial in self.trials],
            "path": list(self.path),
            "modules": list(self.modules),
            "setup": self.setup.encode("utf-8", "surrogatepass"),
            "library": self.library,
            "shared": self.shared,
            "timeout": self.limits.timeout,
            "wall": self.limits.wall,
            "memory": self.limits.memory * MEGABYTE,
            "output": output,
            "room": room,
            "patience": self.limits.patience,
            "filter": b"",
            "channel": -1,
            "asks": False,
        }


@final
@dataclass(frozen=True)
class Run:
    """The result of one trial.

    Attributes:
        output: the bytes it wrote.
        problem: why it did not end cleanly; empty if it did.
        finished: whether it reports that it ran to its end. A program can forge this, as it can end at any time.
    """

    output: bytes
    problem: str = ""
    finished: bool = True


def runs(job: Job, isolation: Sequence[str] = ()) -> Generator[Run, None, None]:
    """Yield the results of the trials; fewer than there are trials if the rest is skipped. Close it to end early.

    Raises:
        SandboxFailure: the sandbox does not start, or is ended from outside.
    """
    if not job.trials:
        return
    with ExitStack() as opened:
        yield from _frames(_launched(opened, job.encoded(), isolation)(), job.limits.wall)


def dialogues(program: Job, tester: Job, isolation: Sequence[str] = ()) -> Generator[tuple[Run, Run], None, None]:
    """Yield the results of trials that run in pairs, in two sandboxes whose children talk with each other.

    The children of `tester` ask, and those of `program` answer; see `dialogue`.

    Raises:
        SandboxFailure: as for `runs`.
    """
    if not program.trials:
        return
    with ExitStack() as opened:
        with ExitStack() as ends:
            program_end, tester_end = (ends.enter_context(end) for end in socket.socketpair())
            wall = program.limits.wall + tester.limits.wall
            jobs = program.encoded(program_end.fileno(), wall), tester.encoded(tester_end.fileno(), wall, asks=True)
            waits = [
                _launched(opened, jobs[0], isolation, program_end.fileno()),
                _launched(opened, jobs[1], isolation, tester_end.fileno()),
            ]
        answers, verdicts = (_frames(wait(), wall) for wait in waits)
        yield from zip(answers, verdicts, strict=False)


def _launched(
    opened: ExitStack, job: bytes, isolation: Sequence[str], channel: int | None = None
) -> Callable[[], _Reader]:
    """Launch a sandbox; return a function that waits until it is ready."""
    try:
        stdin, stderr = (opened.enter_context(_memory_file()) for _ in range(2))
        stdin.write(job)
        stdin.seek(0)
        process = subprocess.Popen(
            [*isolation, interpreter(), "-s", "-S", "-B", "-X", "utf8", "-c", _BOOT],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={"PYTHONHASHSEED": "0"},  # sets print in the same order every time
            cwd="/",
            start_new_session=True,
            pass_fds=() if channel is None else (channel,),
        )
    except OSError as error:
        raise SandboxFailure(f"cannot launch it: {error}") from error
    opened.callback(_end, process)
    assert process.stdout is not None
    reader = _Reader(process.stdout)

    def ready() -> _Reader:
        if reader.read(len(READY), _START_SECONDS) != READY:
            _end(process)
            stderr.seek(0)
            raise SandboxFailure(_last_line(stderr.read(10_000)) or f"it did not start ({process.returncode})")
        return reader

    return ready


def _memory_file() -> IO[bytes]:
    return os.fdopen(os.memfd_create("rewardkit"), "w+b")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a launch and all its processes; safe to call twice."""
    if process.returncode is None:  # not waited for yet, so its process id is still valid
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_line(words: bytes) -> str:
    return shorten(words.decode(errors="replace").strip().rpartition("\n")[2]) if words.strip() else ""


def _frames(reader: _Reader, wall: float) -> Iterator[Run]:
    """Yield the supervisor's reports until the last one; each takes at most `wall` seconds."""
    more = True
    while more:
        header = reader.read(FRAME.size, wall + _GRACE_SECONDS)
        if len(header) < FRAME.size:
            raise SandboxFailure("the sandbox ended or stopped responding while a program ran")
        problem, output, finished, more = FRAME.unpack(header)
        body = reader.read(min(problem + output, OUTPUT_BYTES + _PROBLEM_BYTES), _GRACE_SECONDS)
        if len(body) < problem + output:
            raise SandboxFailure("the report of the sandbox is incomplete")
        yield reported(body[:problem], body[problem:], finished)


def reported(problem: bytes, output: bytes, finished: bool) -> Run:
    """Return the content of a frame. The text of an exception is the program's: escape it, as in a repr."""
    return Run(output, repr(problem.decode(errors="replace"))[1:-1].replace("\\'", "'"), finished)


@final
class _Reader:
    """Read a given number of bytes from a pipe; fewer at its end or after a timeout."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe.fileno()
        self._poll = select.poll()  # select does not support file descriptors from 1,024 up
        self._poll.register(self._pipe, select.POLLIN)

    def read(self, size: int, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        parts: list[bytes] = []
        while size > 0:
            if not self._poll.poll(1_000 * max(0.0, deadline - time.monotonic())):
                break
            part = os.read(self._pipe, min(size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


@cache
def source(name: str) -> str:
    """Return the source of a module of this package: code in a sandbox cannot import it."""
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")


@cache
def compiled(name: str) -> CodeType:
    return compile(source(name), f"<{name}>", "exec", dont_inherit=True)
