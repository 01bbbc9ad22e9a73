"""Launching: ``runs(Job(program, trials), isolation.command)`` gives one ``Run`` per trial as they end.

The sandbox is told its job through a file in memory and answers through one pipe, read with a limit on time and size.
A sandbox that does not come up, or ends before it has told how its trials went, is a `SandboxFailure`: no program can
bring that about, so none is scored for it.
"""

from __future__ import annotations

import marshal
import os
import select
import signal
import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import IO, final

from rewardkit.core.errors import RewardFailure, shorten
from rewardkit.primitives.sandbox.interpreter import interpreter
from rewardkit.primitives.sandbox.limits import MEGABYTE, OUTPUT_BYTES, USUAL, Limits, kernel_filter
from rewardkit.primitives.sandbox.supervisor import FRAME, READY

_START_SECONDS = 30.0
_GRACE_SECONDS = 10.0
_PROBLEM_BYTES = 4096
_BOOT = """
import marshal
stream = open(0, "rb", closefd=False)
scope = {"__name__": "supervisor"}
exec(marshal.load(stream), scope)
scope["serve"](stream)
"""


@final
class SandboxFailure(RewardFailure):
    """The sandbox did not come up, or was ended from outside: no program is to blame, so none gets a score."""


@final
@dataclass(frozen=True)
class Trial:
    """One run of a program.

    Attributes:
        given: its standard input.
        epilogue: Python source that runs after it in the same process, with ``program`` (its names) and ``out`` (where
            to report to); what the program prints is thrown away then. Empty: what it prints is its output.
    """

    given: bytes = b""
    epilogue: str = ""


@final
@dataclass(frozen=True)
class Job:
    """A program and its trials; `modules` are imported once, before the first of them."""

    program: str
    trials: tuple[Trial, ...]
    limits: Limits = USUAL
    path: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def encoded(self) -> bytes:
        """For the supervisor, behind the supervisor itself."""
        job = {
            "program": self.program.encode("utf-8", "surrogatepass"),
            "trials": [(trial.given, trial.epilogue) for trial in self.trials],
            "path": list(self.path),
            "modules": list(self.modules),
            "timeout": self.limits.timeout,
            "wall": self.limits.wall,
            "memory": self.limits.memory * MEGABYTE,
            "output": OUTPUT_BYTES,
            "patience": self.limits.patience,
            "filter": kernel_filter(),
        }
        return marshal.dumps(_supervisor()) + marshal.dumps(job)


@final
@dataclass(frozen=True)
class Run:
    """How one trial went.

    Attributes:
        output: what it wrote.
        problem: why it did not end cleanly, empty where it did.
        finished: whether it says that it ran to its end. A program can forge this one, as it can end at once.
    """

    output: bytes
    problem: str = ""
    finished: bool = True


def runs(job: Job, isolation: Sequence[str] = ()) -> Generator[Run, None, None]:
    """The trials one by one; fewer than there are where the rest need not be tried. Close it to end early.

    Raises:
        SandboxFailure: the sandbox does not come up, or is ended from outside.
    """
    if not job.trials:
        return
    with ExitStack() as opened:
        try:
            stdin, stderr = (opened.enter_context(_memory_file()) for _ in range(2))
            stdin.write(job.encoded())
            stdin.seek(0)
            process = subprocess.Popen(
                [*isolation, interpreter(), "-s", "-S", "-B", "-X", "utf8", "-c", _BOOT],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={"PYTHONHASHSEED": "0"},  # sets print in the same order every time
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxFailure(f"it cannot be launched: {error}") from error
        opened.callback(_end, process)
        assert process.stdout is not None
        reader = _Reader(process.stdout)
        if reader.read(len(READY), _START_SECONDS) != READY:
            _end(process)
            stderr.seek(0)
            raise SandboxFailure(_last_line(stderr.read(10_000)) or f"it did not start ({process.returncode})")
        yield from _frames(reader, job)


def _memory_file() -> IO[bytes]:
    return os.fdopen(os.memfd_create("rewardkit"), "w+b")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a launch and all its processes; safe to say twice."""
    if process.returncode is None:  # not waited for, so that its number still belongs to it
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_line(words: bytes) -> str:
    return shorten(words.decode(errors="replace").strip().rpartition("\n")[2]) if words.strip() else ""


def _frames(reader: _Reader, job: Job) -> Iterator[Run]:
    """What the supervisor reports, until it says that there is no more."""
    more = True
    while more:
        header = reader.read(FRAME.size, job.limits.wall + _GRACE_SECONDS)
        if len(header) < FRAME.size:
            raise SandboxFailure("the sandbox ended, or stood still, while a program ran")
        problem, output, finished, more = FRAME.unpack(header)
        body = reader.read(min(problem + output, OUTPUT_BYTES + _PROBLEM_BYTES), _GRACE_SECONDS)
        if len(body) < problem + output:
            raise SandboxFailure("the sandbox did not end its report")
        # What was raised is the program's text: no control characters, as in a repr.
        yield Run(body[problem:], repr(body[:problem].decode(errors="replace"))[1:-1], finished)


@final
class _Reader:
    """Reads exactly so many bytes from a pipe within so many seconds; fewer at its end or when time is up."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe.fileno()
        self._poll = select.poll()  # not select, which takes no descriptor from 1,024 on
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
def _supervisor() -> CodeType:
    source = Path(__file__).with_name("supervisor.py")
    return compile(source.read_text(encoding="utf-8"), "<supervisor>", "exec", dont_inherit=True)
