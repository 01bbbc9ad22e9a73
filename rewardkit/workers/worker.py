"""Worker processes that can be killed, for functions that may hang: ``submit(abs, (-3,), timeout=2.0).result()`` is 3.

The processes start on first use, all rewards share them, and a killed process is replaced. `alone` runs one call in a
separate process, and a `Pool` has a configurable number of processes. This module does not use ``multiprocessing``, so
it works from any thread, from a daemonic process, and from a script without ``if __name__ == "__main__":``. Functions
and classes in your script are pickled by value.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, NamedTuple, final

from rewardkit.errors import WorkerDied, shorten
from rewardkit.workers.frames import receive, send
from rewardkit.workers.pickled_by_value import packed

MAX_PROCESSES = 4
"""The default limit for the number of processes in a pool. The limit is arbitrary: each process loads its own imports,
such as sympy, and the trainer also needs cores."""
START_SECONDS = 120.0
"""The seconds for starting the process and importing the function's module; the call's timeout starts after that. The
limit is arbitrary: importing sympy or torch takes seconds, or minutes from a busy network disk."""

_END_SECONDS = 1.0
"""The seconds to wait for a process to end after it has closed its socket, so that its exit code and last output are
known."""
_KEPT_BYTES = 4_000
"""The number of bytes to keep from the end of a process's output: enough for the last line of a traceback."""


@final
@dataclass(frozen=True)
class Launch:
    """Settings for starting a process.

    Attributes:
        memory: the number of bytes that one call may add to the process's memory. A call that needs more gets a
            ``MemoryError``.
        path: the new process's ``sys.path``. The default is this process's path.
        folder: the working directory. The default is this process's working directory.
        environment: changes to this process's environment variables; None removes a variable.
        quiet: whether to hide the output. If the process dies, the error contains the exit code and the last line of
            output.
    """

    memory: int | None = None
    path: Sequence[str] | None = None
    folder: str | Path | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    quiet: bool = False


def command(entry: str, descriptor: int, path: Sequence[str] | None = None) -> list[str]:
    """Return the command line for a process that calls `entry` ("module:function") with the socket to this process."""
    module, _, function = entry.partition(":")
    code = (
        "import json, sys\nsys.path[:] = json.loads(sys.argv[2])\n"
        f"from {module} import {function}\nfrom rewardkit.workers.worker_child import connected\n"
        f"{function}(connected())"
    )
    return [sys.executable, "-c", code, str(descriptor), json.dumps([*map(str, sys.path if path is None else path)])]


class Call(Future[Any]):
    """A future for a call in a worker process; `stop` works even while the call is running."""

    def __init__(self, stop: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self._stop = stop
        self.child: _Child | None = None
        self.stopped = False

    def stop(self) -> None:
        """If the call is waiting, cancel it; if it is running, kill its process."""
        self.stopped = True
        if self._stop is not None:
            self._stop()
        elif not self.cancel() and not self.done() and self.child is not None:
            self.child.kill_while(self)


class _Job(NamedTuple):
    call: Call
    message: bytes
    timeout: float | None


def submit(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    timeout: float,
    memory: int | None = None,
) -> Call:
    """Run ``function(*arguments)`` in a worker that is killed after `timeout` seconds.

    The future raises ``TimeoutError`` after a timeout, `WorkerDied` if the worker died, or the function's exception.

    Args:
        function: a function that the worker imports by module and name, as pickle does.
        timeout: the time limit in seconds, which starts after the worker has imported the function.
        memory: the number of bytes that one call may add to its process's memory. A call that needs more gets a
            ``MemoryError``.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: the function or its arguments cannot be pickled.
    """
    return _shared(os.getpid(), memory).submit(function, arguments, timeout)


def run_in_process(
    function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float | None = None, launch: Launch | None = None
) -> Call:
    """Run ``function(*arguments)`` in a new process, which is killed afterward along with everything that it started.

    The future, the timeout, and the errors are the same as for `submit`. Without a timeout, the call has no time limit.
    """
    return Pool(1, launch or Launch(), once=True).submit(function, arguments, timeout)


def chain(call: Call, function: Callable[[Future[Any]], Any]) -> Call:
    """Call ``function(call)`` when `call` is done, and return a second call that contains the result."""
    following = Call(stop=call.stop)

    def finish(future: Future[Any]) -> None:
        if future.cancelled() or not following.set_running_or_notify_cancel():
            following.cancel()
            return
        _fulfill(following, partial(function, future))

    call.add_done_callback(finish)
    return following


def _fulfill(future: Future[Any], function: Callable[[], Any]) -> None:
    try:
        result = function()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


@final
class Pool:
    """A pool of child processes, which are started on demand. Each process has a thread that sends calls to it and
    kills it.

    Args:
        processes: the maximum number of processes. The default is the number of cores, up to MAX_PROCESSES.
        launch: the settings for starting a process.
        once: whether the pool runs only a single call, whose process ends before the result is available.
    """

    def __init__(self, processes: int | None = None, launch: Launch | None = None, *, once: bool = False) -> None:
        self._processes = processes
        self._launch = launch or Launch()
        self._once = once
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._children: list[_Child] = []
        self._waiting = 0
        self._stopped = False

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float | None = None) -> Call:
        """Run ``function(*arguments)`` in one of the processes, like `rewardkit.workers.worker.submit`."""
        job = _Job(Call(), packed((function, arguments)), timeout)
        with self._lock:
            self._waiting += 1
            if len(self._children) < min(self._waiting, self._processes or min(MAX_PROCESSES, os.cpu_count() or 1)):
                child = _Child(self._launch, once=self._once)
                self._children.append(child)
                threading.Thread(target=self._feed, args=(child,), name="rewardkit worker", daemon=True).start()
        self._jobs.put(job)
        return job.call

    def _feed(self, child: _Child) -> None:
        while not self._stopped:
            job = self._jobs.get()
            if job is None:
                return
            job.call.child = child
            if not self._stopped and job.call.set_running_or_notify_cancel():
                _fulfill(job.call, partial(child.run, job))
            with self._lock:
                self._waiting -= 1
            if self._once:
                return

    def stop(self) -> None:
        """End all processes. Running calls fail."""
        self._stopped = True
        for child in self._children:
            self._jobs.put(None)
            child.end()


class _Child:
    """A child process, which is started by its first call."""

    def __init__(self, launch: Launch, *, once: bool) -> None:
        self._launch = launch
        self._once = once
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._tail: _Tail | None = None
        self.running: Call | None = None

    def run(self, job: _Job) -> Any:
        self.running = job.call
        try:
            succeeded, last, result = self._answer(job)
        except (EOFError, ConnectionError, pickle.UnpicklingError):
            raise WorkerDied(self._death()) from None
        except BaseException:
            self.end()
            raise
        finally:
            with self._lock:
                self.running = None
        if last or self._once:
            self.end()
        if not succeeded:
            raise result
        return result

    def _answer(self, job: _Job) -> tuple[bool, bool, Any]:
        process, parent_end = self._ready()
        if job.call.stopped:  # while the process was being started
            self.end()
            raise EOFError
        # A program in the worker cannot guess the token, so it cannot forge an answer.
        token = secrets.token_bytes(16)
        send(parent_end, token + job.message)
        try:
            started = receive(parent_end, START_SECONDS, process.poll)
        except TimeoutError:
            raise WorkerDied(f"its worker process did not start within {START_SECONDS:g} s") from None
        try:
            answer = receive(parent_end, job.timeout, process.poll) if started == token else b""
        except TimeoutError:
            raise TimeoutError(f"no result within {job.timeout:g} s. The worker was killed") from None
        if not answer.startswith(token):  # such as from a process that the function left behind
            raise EOFError
        unpacked: tuple[bool, bool, Any] = pickle.loads(answer[len(token) :])
        return unpacked

    def _ready(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        if self._process is None or self._socket is None:
            launch = self._launch
            environment = {**os.environ, **launch.environment}
            parent_end, child_end = socket.socketpair()
            with child_end:
                self._process = subprocess.Popen(
                    command("rewardkit.workers.worker_child:serve", child_end.fileno(), launch.path),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE if launch.quiet else None,
                    stderr=subprocess.STDOUT if launch.quiet else None,
                    pass_fds=[child_end.fileno()],
                    cwd=launch.folder,
                    env={name: value for name, value in environment.items() if value is not None},
                    start_new_session=True,  # Ctrl-C goes only to the parent; killing the group kills all descendants
                )
            self._tail = None if self._process.stdout is None else _Tail(self._process.stdout)
            self._socket = parent_end
            send(parent_end, pickle.dumps(launch.memory))
        return self._process, self._socket

    def _death(self) -> str:
        """End a process that did not answer, and return its exit code and last line of output, if known."""
        process, tail = self._process, self._tail
        if process is None or tail is None:
            self.end()
            return "its worker process crashed"
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
        self.end()
        line = tail.last_line()
        return f"ended with exit code {process.returncode}{f': {line}' if line else ''}"

    def kill_while(self, call: Call | None) -> None:
        """From any thread, kill the process if it is still running `call`; its waiting thread then gets an EOFError."""
        with self._lock:
            if self.running is call and self._process is not None and self._process.returncode is None:
                _kill_all(self._process)

    def end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            parent_end, self._socket = self._socket, None
        if parent_end is not None:
            parent_end.close()
        if process is not None:
            _kill_all(process)  # also processes left behind by a process that has ended
            process.wait()


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):  # no process is left; macOS raises PermissionError for zombies
        os.killpg(process.pid, signal.SIGKILL)


@final
class _Tail:
    """The end of a process's output, which a thread reads, so that the process never blocks on a full pipe."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._end = b""
        self._thread = threading.Thread(target=self._read, args=(pipe,), name="rewardkit output", daemon=True)
        self._thread.start()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while data := os.read(pipe.fileno(), 1 << 16):
                self._end = (self._end + data)[-_KEPT_BYTES:]

    def last_line(self) -> str:
        """Return the last line of output, truncated, or "" if there is no output."""
        self._thread.join(_END_SECONDS)  # with a time limit: a process of another session may hold the pipe open
        lines = self._end.decode(errors="replace").strip().splitlines()
        return shorten(lines[-1]) if lines else ""


def renew() -> None:
    """End all worker processes. The next call starts new processes, which import modules again."""
    with _lock:
        pools = [_pools.pop(key) for key in list(_pools) if key[0] == os.getpid()]
    for pool in pools:
        pool.stop()


_lock = threading.Lock()
_pools: dict[tuple[int, int | None], Pool] = {}
"""The shared pools by process id and memory limit, because a fork cannot use its parent's pools."""


def _shared(process: int, memory: int | None) -> Pool:
    with _lock:
        if (process, memory) not in _pools:
            _pools[process, memory] = Pool(launch=Launch(memory))
            atexit.register(_stop_own, _pools[process, memory], process)
        return _pools[process, memory]


def _stop_own(pool: Pool, process: int) -> None:
    if os.getpid() == process:  # a fork inherits this exit handler, but not the worker processes
        pool.stop()
