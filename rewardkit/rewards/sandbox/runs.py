"""A launcher for sandboxes: ``runs(Job(program, trials), isolation.command)`` yields a ``Run`` when each trial ends.

``dialogues`` launches two sandboxes with trials that run in pairs.

A sandbox receives its job through a file in memory and responds through a pipe, which is read with limits on time and
size. If a sandbox does not start, or exits before it has reported its trials, a `SandboxFailure` is raised. A program
cannot cause this failure, so the failure does not affect any score.
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

# Arbitrary: a start takes a fraction of a second, and longer on a busy machine. The supervisor ends programs itself, so
# the grace period is only for its report. Longer messages from a program are truncated.
_START_SECONDS = 30.0
_GRACE_SECONDS = 10.0
_PROBLEM_BYTES = 4096
_QUESTION_BYTES = 256_000_000
"""The maximum size in bytes of the inputs that one test passes to a program. The limit is arbitrary: contest inputs
take tens of megabytes.
"""

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
    """One program run.

    Attributes:
        given: the program's standard input.
        epilogue: Python source code that runs after the program in the same process; "" for none. If there is an
            epilogue, the program's output is not reported. The code can use the names in the job's library, ``program``
            (the program's namespace), ``shared`` (see `Job`), and the file descriptors ``out`` (for the report),
            ``said`` (for the way in which the program ended), and ``heard`` (for messages in a dialogue).
    """

    given: bytes = b""
    epilogue: str = ""


@final
@dataclass(frozen=True)
class Job:
    """A program and its trials.

    Attributes:
        program: the program's source code.
        trials: the program's runs.
        limits: the limits on each run.
        path: directories to add to ``sys.path``.
        modules: modules to import once, before the first trial.
        setup: source code that runs before the program, in the same process and namespace.
        library: compiled code that runs once and defines names for the epilogues. It requires a local sandbox, which
            has the same Python version.
        shared: data for all epilogues, with types that `marshal` supports.
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
        """Return the sandbox's input: the compiled supervisor, followed by the job.

        Args:
            channel: the file descriptor for a dialogue; -1 for none.
            wall: the maximum total seconds per trial for both sides of a dialogue.
            asks: whether this side of the dialogue is the tester, which waits for the first message.
        """
        described = self.described(output=_QUESTION_BYTES if asks else OUTPUT_BYTES)
        described |= {"filter": kernel_filter(), "channel": channel, "whole": wall, "asks": asks}
        return marshal.dumps(compiled("supervisor")) + marshal.dumps(described)

    def described(self, *, output: int = OUTPUT_BYTES, room: int = 0) -> dict[str, Any]:
        """Return the job in the supervisor's format.

        Args:
            output: the maximum size of one report in bytes.
            room: the maximum total size of all text reports, or 0 if the reports are binary and have no such limit.
        """
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
        output: the bytes that the program wrote.
        problem: the reason why the program did not end cleanly; "" if it did.
        finished: whether the process reported that it ran to completion. A program can forge this report.
    """

    output: bytes
    problem: str = ""
    finished: bool = True


def runs(job: Job, isolation: Sequence[str] = ()) -> Generator[Run, None, None]:
    """Yield the trials' results, without trials that are skipped at the end. Close the generator to stop early.

    Raises:
        SandboxFailure: the sandbox does not start, or another process terminates it.
    """
    if not job.trials:
        return
    with ExitStack() as opened:
        yield from _frames(_launched(opened, job.encoded(), isolation)(), job.limits.wall)


def dialogues(program: Job, tester: Job, isolation: Sequence[str] = ()) -> Generator[tuple[Run, Run], None, None]:
    """Yield pairs of results from two sandboxes with trials that run in pairs and communicate with each other.

    The processes in `tester` send requests, and the processes in `program` answer them; see `dialogue`.

    Raises:
        SandboxFailure: a sandbox does not start, or another process terminates it.
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
    """Launch a sandbox, and return a function that waits until the sandbox is ready."""
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
    """Kill a sandbox and all its processes; safe to call twice."""
    if process.returncode is None:  # not yet waited for, so the process id is still valid
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_line(words: bytes) -> str:
    return shorten(words.decode(errors="replace").strip().rpartition("\n")[2]) if words.strip() else ""


def _frames(reader: _Reader, wall: float) -> Iterator[Run]:
    """Yield the supervisor's reports, waiting at most `wall` seconds, plus a grace period, for each."""
    more = True
    while more:
        header = reader.read(FRAME.size, wall + _GRACE_SECONDS)
        if len(header) < FRAME.size:
            raise SandboxFailure("the sandbox ended or stopped responding while a program ran")
        problem, output, finished, more = FRAME.unpack(header)
        body = reader.read(min(problem + output, OUTPUT_BYTES + _PROBLEM_BYTES), _GRACE_SECONDS)
        if len(body) < problem + output:
            raise SandboxFailure("the sandbox's report is incomplete")
        yield reported(body[:problem], body[problem:], finished)


def reported(problem: bytes, output: bytes, finished: bool) -> Run:
    """Return a frame's content as a `Run`. The problem is escaped, because the program may have written it."""
    return Run(output, repr(problem.decode(errors="replace"))[1:-1].replace("\\'", "'"), finished)


@final
class _Reader:
    """A reader that returns a given number of bytes from a pipe, or fewer at the end of the pipe or after a timeout."""

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
    """Return the source code of a module in this package, because code in a sandbox cannot import the module."""
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")


@cache
def compiled(name: str) -> CodeType:
    return compile(source(name), f"<{name}>", "exec", dont_inherit=True)
