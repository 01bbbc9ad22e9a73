"""The supervisor inside a sandbox: it forks once per trial, runs the program in the child, and reports the result.

Two sandboxes may run their trials in pairs. In this case, each child communicates with the child in the other sandbox
through both supervisors. The time in which a child waits for the other child does not count.

This module is not imported in the sandbox. `runs` sends its compiled code before the job, so neither the host's files
nor the rest of rewardkit needs to be visible. Therefore, the supervisor sets resource limits itself instead of calling
`rewardkit.workers.limits`. It is the first process in its namespace, so the programs that it starts cannot kill it.

A sandbox behind HTTP runs the same code but reports in lines of text, because the service reads output as text.

The supervisor does not need other protection, because it has access to a program's input but never to the expected
result. Therefore, a program that took control of the supervisor could only report answers that it found itself.
"""

from __future__ import annotations

import atexit
import binascii
import builtins
import ctypes
import fcntl
import importlib
import io
import marshal
import math
import os
import resource
import select
import struct
import sys
import time
import zlib
from types import ModuleType

TYPE_CHECKING = False  # typing takes longer to import than all other modules together
if TYPE_CHECKING:
    from typing import Any, BinaryIO, NoReturn

READY = b"ready"
FRAME = struct.Struct("<II??")
"""The length of the problem, the length of the output, whether the program ran to completion, and whether more frames
follow."""

OUT, SAID, IN = 3, 4, 5
"""File descriptors in a program's process: for an epilogue's report, for the way in which the program ended and, in a
dialogue, for messages from the other process. Answers to these messages are sent through `OUT`."""

_LARGEST_SHARE = 0.75
"""The maximum fraction of ``room`` for one line. The number is arbitrary: it leaves room for other lines."""

# Arbitrary: the number of bytes read at a time.
_CHUNK = 1 << 16
_LENGTH = struct.Struct("<I")
_KILLED_FOR_TIME = (-9, -24)  # SIGKILL and SIGXCPU: the kernel sends one of them when the processor time runs out
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


def serve(stream: BinaryIO) -> None:
    """Read the job, report `READY`, and write one frame per trial, followed by the problem and the output.

    If the job sets ``room``, reports are lines of text, and the supervisor exits early if another line may not fit into
    this number of bytes.
    """
    report = os.dup(1)
    job = marshal.load(stream)
    room = job["room"]
    for module in job["modules"]:
        importlib.import_module(module)
    null = os.open("/dev/null", os.O_RDWR)
    libc = ctypes.CDLL(None)
    channel = _Channel(job["channel"]) if job["channel"] >= 0 else None
    scope = {"__name__": "test", "shared": job["shared"], "out": OUT, "said": SAID, "heard": IN}
    for part in job["library"]:
        exec(part, scope)
    left_over = room - _written(report, READY, room)
    os.dup2(null, 1)
    os.dup2(null, 2)
    expired = 0
    for left, (input_bytes, epilogue) in zip(reversed(range(len(job["trials"]))), job["trials"], strict=True):
        problem, end_message, output, timed_out = _tried(job, input_bytes, epilogue, scope, channel, libc)
        expired += timed_out
        more = left > 0 and expired < job["patience"] and not end_message.startswith(b"!")
        frame = FRAME.pack(len(problem), len(output), end_message == b"+", more) + problem + output
        left_over -= _written(report, frame, room)
        if not more or (room and left_over < _LARGEST_SHARE * room):
            return


def _written(report: int, data: bytes, room: int) -> int:
    """Write `data`, as a line of text if `room` is not 0, and return the number of bytes written."""
    if room:
        data = binascii.b2a_base64(zlib.compress(data, 1))
    size = len(data)
    while data:
        data = data[os.write(report, data) :]
    return size


def _tried(
    job: dict[str, Any], input_bytes: bytes, epilogue: str, scope: dict[str, Any], channel: _Channel | None, libc: Any
) -> tuple[bytes, bytes, bytes, bool]:
    """Run the program once; return the problem ("" if none), the end message, the output, and whether it timed out."""
    out, out_end = os.pipe()
    outcome, outcome_end = os.pipe()
    inbox_end, inbox = os.pipe() if channel else (-1, -1)
    child = os.fork()
    if child == 0:
        _become_program(job, input_bytes, epilogue, scope, (out_end, outcome_end, inbox_end), libc)
    os.close(out_end)
    os.close(outcome_end)
    deadline = time.monotonic() + job["wall"]
    if channel is None:
        output = _collected(out, deadline, job["output"])
    else:
        os.close(inbox_end)
        output, seconds = channel.relay(out, inbox, job, owing=not job["asks"])
        deadline = time.monotonic() + seconds
    status, processor = _ended(child, 0.0 if output is None else deadline)
    os.set_blocking(outcome, False)
    try:
        message = os.read(outcome, 4096)
    except BlockingIOError:  # without the filter, the program's children may still hold the other end
        message = b""
    os.close(out)
    os.close(outcome)
    if output is None:
        return f"wrote more than {job['output']:,} bytes".encode(), message, b"", False
    if processor > job["timeout"] or status in _KILLED_FOR_TIME:
        return f"took more than {job['timeout']:g} s".encode(), message, output, True
    if status is None:
        return f"did not end within {job['wall']:g} s".encode(), message, output, True
    if message[:1] in (b"-", b"!"):
        problem = message[1:]
    elif status < 0:
        problem = f"was killed by signal {-status}".encode()
    else:
        problem = f"ended with exit code {status}".encode() if status else b""
    return problem, message, output, False


class _Channel:
    """A connection to the other sandbox's supervisor.

    It transmits chunks with length prefixes. An empty chunk ends a trial.

    Programs have no access to the connection, so they can neither break the protocol nor send messages after a trial.
    """

    def __init__(self, descriptor: int) -> None:
        self.end = os.dup(descriptor)  # a low number, which is closed in children
        os.close(descriptor)
        os.set_blocking(self.end, False)
        self.incoming, self.outgoing = bytearray(), bytearray()
        self.is_open = True

    def relay(self, out: int, inbox: int, job: dict[str, Any], *, owing: bool) -> tuple[bytes | None, float]:
        """Relay messages between a child and its counterpart until both have ended.

        A message ends with a newline. The clock runs while the child is `owing` a message: at the start if the
        counterpart is waiting for a message, and after each message to the child.

        Return (output, the child's remaining seconds). The output is ``b""``, or None if the child wrote too much.
        """
        size, child_writes, counterpart_writes, waiting = 0, True, True, bytearray()
        seconds, deadline, limit = job["wall"], time.monotonic() + job["whole"], job["output"]
        os.set_blocking(inbox, False)
        while child_writes or counterpart_writes or self.outgoing:
            received, ended = self._chunks() if counterpart_writes else (b"", False)
            waiting += received if child_writes else b""
            counterpart_writes = counterpart_writes and not ended and (self.is_open or bool(self.incoming))
            owing = owing or bool(received) or not counterpart_writes
            if inbox >= 0 and not (counterpart_writes or waiting):
                os.close(inbox)
                inbox = -1
            reading = [self.end] * (counterpart_writes and self.is_open) + [out] * child_writes
            writing = [self.end] * bool(self.outgoing) + [inbox] * bool(waiting)
            if not (reading or writing):
                break
            timed, began = owing and child_writes, time.monotonic()
            left = min(seconds, deadline - began) if timed else deadline - began
            ready, free, _ = select.select(reading, writing, [], max(0.0, left) if child_writes else None)
            seconds -= time.monotonic() - began if timed else 0.0
            chunk = os.read(out, _CHUNK) if out in ready else None
            if self.end in ready or self.end in free:
                self._exchange()
            if inbox in free:
                try:
                    del waiting[: os.write(inbox, waiting[:_CHUNK])]
                except BrokenPipeError:
                    waiting.clear()
            if chunk:
                size += len(chunk)
                owing = owing and not chunk.endswith(b"\n")
                self._add(chunk)
            expired = (
                seconds <= 0.0 or time.monotonic() >= deadline
            )  # a child that answers in advance may never be owing
            if child_writes and (chunk == b"" or size > limit or expired):
                seconds = 0.0 if expired else seconds
                child_writes = False
                waiting.clear()
                self._add(b"")
        if inbox >= 0:
            os.close(inbox)
        return (b"" if size <= limit else None), seconds

    def _add(self, chunk: bytes) -> None:
        if self.is_open:
            self.outgoing += _LENGTH.pack(len(chunk)) + chunk

    def _chunks(self) -> tuple[bytes, bool]:
        """Remove and return the bytes received for this trial, with a flag for whether the trial has ended."""
        received = bytearray()
        while len(self.incoming) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self.incoming)
            if len(self.incoming) < _LENGTH.size + size:
                break
            received += self.incoming[_LENGTH.size : _LENGTH.size + size]
            del self.incoming[: _LENGTH.size + size]
            if size == 0:
                return bytes(received), True
        return bytes(received), False

    def _exchange(self) -> None:
        """Read and write as much as possible without blocking, up to one chunk each."""
        try:
            data = os.read(self.end, _CHUNK)
            self.is_open = bool(data)
            self.incoming += data
        except BlockingIOError:
            pass
        except OSError:
            self.is_open = False
        try:
            if self.outgoing and self.is_open:
                del self.outgoing[: os.write(self.end, self.outgoing[:_CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            self.is_open = False
        if not self.is_open:
            self.outgoing.clear()


def _collected(out: int, deadline: float, limit: int) -> bytes | None:
    """Return the bytes from `out` until it is closed or the deadline passes; None if they exceed `limit`."""
    chunks: list[bytes] = []
    size = 0
    while size <= limit:
        if not select.select([out], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        chunk = os.read(out, _CHUNK)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks) if size <= limit else None


def _ended(child: int, deadline: float) -> tuple[int | None, float]:
    """Return the exit code of `child` (negative for a signal, None if it was killed here) and its processor seconds."""
    pause = 0.0
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        if time.monotonic() >= deadline:
            os.kill(child, 9)
            _, _, used = os.wait4(child, 0)
            return None, used.ru_utime + used.ru_stime
        time.sleep(pause)
        # Arbitrary: pauses are short at first, because most programs end within milliseconds, and at most 10 ms long.
        pause = min(0.01, pause + 0.0005)


def _become_program(
    job: dict[str, Any], input_bytes: bytes, epilogue: str, scope: dict[str, Any], ends: tuple[int, int, int], libc: Any
) -> NoReturn:
    """Run the program in this process, and exit when the program ends."""
    stdin = os.memfd_create("stdin")
    os.write(stdin, input_bytes)
    os.lseek(stdin, 0, os.SEEK_SET)
    # Move the descriptors to high numbers first, because one of them may already have one of the target numbers.
    in_dialogue = ends[2] >= 0
    stdin, out, outcome, inbox = (_moved(end) if end >= 0 else -1 for end in (stdin, *ends))
    os.dup2(stdin, 0)
    os.dup2(outcome, SAID)
    os.dup2(out, OUT if epilogue else 1)
    if in_dialogue:
        os.dup2(inbox, IN)
        sys.stdout = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)  # the tester may ask for it
    os.closerange(OUT + bool(epilogue), SAID)
    # 256 is enough, because the supervisor opens only a few descriptors.
    os.closerange(SAID + 1 + in_dialogue, 256)
    os.setsid()
    vars(builtins).update(exit=sys.exit, quit=sys.exit)  # the option -S leaves them out, but programs call them
    builtins.open = io.open = _open
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # contests may ask for more digits than Python's limit
    sys.argv[:] = ["program.py"]
    sys.path[:] = [*filter(None, sys.path), *job["path"]]
    os.environ["OMP_NUM_THREADS"] = "1"  # numerical libraries would reserve memory for every core
    module = ModuleType("program" if epilogue else "__main__")
    sys.modules[module.__name__] = module
    _limit(job, libc)
    try:
        code = compile(job["program"], "<program>", "exec", dont_inherit=True)
    except BaseException as error:
        _say(b"!", error)
    try:
        exec(compile(job["setup"], "<setup>", "exec", dont_inherit=True), module.__dict__)
        exec(code, module.__dict__)
        if epilogue:
            scope["program"] = module.__dict__
            exec(compile(epilogue, "<epilogue>", "exec", dont_inherit=True), scope)
    except SystemExit as ending:
        if ending.code not in (None, 0) or epilogue:
            os.write(SAID, f"-ended by SystemExit: {str(ending)[:100]}".encode(errors="replace"))
            _end(1)
    except BaseException as error:
        _say(b"-", error)
    os.write(SAID, b"+")
    _end(0)


def _end(code: int) -> NoReturn:
    """Exit without the interpreter's teardown, which takes longer than a short program."""
    try:
        if "threading" in sys.modules:
            # The interpreter calls this private function at exit to join threads; there is no public one.
            sys.modules["threading"]._shutdown()
        # Likewise, there is no public function that runs the exit handlers.
        atexit._run_exitfuncs()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        # The exit code that Python uses if flushing at exit fails.
        code = code or 120
    os._exit(code)


_opened = io.open
_STREAMS = {
    **{"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2},
    **{f"{folder}/fd/{number}": number for folder in ("/dev", "/proc/self") for number in range(3)},
}


def _open(file: Any, *arguments: Any, **options: Any) -> Any:
    """Open a file. Standard streams can also be opened by path, even though the sandbox has no ``/proc``."""
    path = os.fspath(file) if isinstance(file, (str, os.PathLike)) else ""
    if path in _STREAMS:
        file = os.dup(_STREAMS[path])
    return _opened(file, *arguments, **options)


def _moved(descriptor: int) -> int:
    # Descriptors from 100 up do not collide with those that are replaced.
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100)


def _limit(job: dict[str, Any], libc: Any) -> None:
    """Limit the program's resources and system calls. The program cannot undo these limits."""
    seconds = math.ceil(job["timeout"])
    memory = job["memory"]
    limits = (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        # Arbitrary: tested programs open few files.
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, most in limits:
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]  # allows deep recursion
    stack = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))
    if job["filter"] and not _filtered(job["filter"], libc):
        # No program runs without the filter. 70 is EX_SOFTWARE in sysexits.h.
        os._exit(70)


def _filtered(steps: bytes, libc: Any) -> bool:
    """Install the system call filter; return whether the kernel accepted it."""
    program = ctypes.create_string_buffer(steps, len(steps))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(steps) // 8, ctypes.addressof(program)))
    return not libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not libc.prctl(_SECCOMP, _FILTER, header, 0, 0)


def filters(steps: bytes) -> bool:
    """Return whether a process may install the filter. Containers can forbid this."""
    child = os.fork()
    if child == 0:
        os._exit(0 if _filtered(steps, ctypes.CDLL(None)) else 1)
    return os.waitpid(child, 0)[1] == 0


def _say(mark: bytes, error: BaseException) -> NoReturn:
    """Report an exception and the line in the program that raised it, and exit."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<program>":
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno or 0
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)[:200]
    except BaseException:  # __str__ may be the program's code, too
        message = ""
    kind = type(error).__name__[:100]
    description = f"{kind}{f': {message}' if message else ''}{f' (line {line})' if line else ''}"
    os.write(SAID, mark + description.encode(errors="replace"))
    _end(1)
