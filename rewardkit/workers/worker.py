"""Worker processes that can be killed, for functions that may hang: ``submit(abs, (-3,), timeout=2.0).result()`` is 3.

They start on first use, all rewards share them, and a killed one is replaced. They do not use ``multiprocessing``, so
they work from any thread, from a daemonic process, and from a script without ``if __name__ == "__main__":``. Functions
and classes of the script are sent as they are.
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
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from rewardkit.errors import WorkerDied
from rewardkit.workers.carried import packed
from rewardkit.workers.frames import receive, send

MAX_PROCESSES = 4
START_SECONDS = 120.0
"""Time limit to start the process and import the function's module; the timeout of the call starts after that."""

_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from rewardkit.workers.worker_child import serve
serve()
"""


class Call(Future[Any]):
    """A call in progress, which can be stopped even while it runs."""

    def __init__(self, stop: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self._stop = stop
        self.child: _Child | None = None
        self.stopped = False

    def stop(self) -> None:
        """Cancel the call if it is waiting; kill its process if it is running."""
        self.stopped = True
        if self._stop is not None:
            self._stop()
        elif not self.cancel() and not self.done() and self.child is not None:
            self.child.kill_while(self)


class _Job(NamedTuple):
    call: Call
    message: bytes
    timeout: float


def submit(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    timeout: float,
    memory: int | None = None,
) -> Call:
    """Run ``function(*arguments)`` in a worker that is killed after `timeout` seconds.

    The future raises ``TimeoutError`` after a timeout, `WorkerDied` if the worker died, else what the function raised.

    Args:
        function: imported by its module and name in the worker, as pickle does.
        timeout: seconds, counted after the worker has imported the function.
        memory: bytes that one call may add to the memory of its process; beyond that, it gets a ``MemoryError``.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: function or arguments cannot be pickled.
    """
    call = Call()
    _pool(os.getpid(), memory).take(_Job(call, packed((function, arguments)), timeout))
    return call


def then(call: Call, function: Callable[[Future[Any]], Any]) -> Call:
    """Call ``function(call)`` once `call` is done; return that as a call, too."""
    following = Call(stop=call.stop)

    def finish(done: Future[Any]) -> None:
        if done.cancelled() or not following.set_running_or_notify_cancel():
            following.cancel()
            return
        _fulfill(following, partial(function, done))

    call.add_done_callback(finish)
    return following


def _fulfill(future: Future[Any], function: Callable[[], Any]) -> None:
    try:
        result = function()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class _Pool:
    """Up to MAX_PROCESSES children, each with a thread that sends it calls and kills it."""

    def __init__(self, memory: int | None) -> None:
        self._memory = memory
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._children: list[_Child] = []
        self._waiting = 0
        self._stopped = False

    def take(self, job: _Job) -> None:
        with self._lock:
            self._waiting += 1
            if len(self._children) < min(self._waiting, MAX_PROCESSES, os.cpu_count() or 1):
                child = _Child(self._memory)
                self._children.append(child)
                threading.Thread(target=self._feed, args=(child,), name="rewardkit worker", daemon=True).start()
        self._jobs.put(job)

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

    def stop(self) -> None:
        self._stopped = True
        for child in self._children:
            self._jobs.put(None)
            child.end()


class _Child:
    """One process, started with its first call."""

    def __init__(self, memory: int | None) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self.running: Call | None = None

    def run(self, job: _Job) -> Any:
        self.running = job.call
        try:
            succeeded, last, result = self._answer(job)
        except (EOFError, ConnectionError, pickle.UnpicklingError):
            self.end()
            raise WorkerDied("its worker process died") from None
        except BaseException:
            self.end()
            raise
        finally:
            with self._lock:
                self.running = None
        if last:
            self.end()
        if not succeeded:
            raise result
        return result

    def _answer(self, job: _Job) -> tuple[bool, bool, Any]:
        ours = self._ready()
        if job.call.stopped:  # while the process was being started
            raise EOFError
        token = secrets.token_bytes(16)
        send(ours, token + job.message)
        try:
            started = receive(ours, START_SECONDS)
        except TimeoutError:
            raise WorkerDied(f"its worker process did not start within {START_SECONDS:g} s") from None
        try:
            answer = receive(ours, job.timeout) if started == token else b""
        except TimeoutError:
            raise TimeoutError(f"no result within {job.timeout:g} s; its worker was killed") from None
        if not answer.startswith(token):  # such as from a process that the function left behind
            raise EOFError
        unpacked: tuple[bool, bool, Any] = pickle.loads(answer[len(token) :])
        return unpacked

    def _ready(self) -> socket.socket:
        if self._socket is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _CHILD, str(theirs.fileno()), json.dumps(sys.path)],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C goes only to the parent; killing the group kills all descendants
                )
            self._socket = ours
            send(ours, pickle.dumps(self._memory))
        return self._socket

    def kill_while(self, call: Call | None) -> None:
        """Kill the process, from any thread, if it still runs `call`; its reader then gets an EOFError."""
        with self._lock:
            if self.running is call and self._process is not None:
                _kill(self._process)

    def end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            ours, self._socket = self._socket, None
        if ours is not None:
            ours.close()
        if process is not None:
            _kill(process)
            process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:  # not waited for, so the system cannot have reused its id
        os.killpg(process.pid, signal.SIGKILL)


def renew() -> None:
    """End all worker processes; the next call starts new ones, which import modules again."""
    with _lock:
        own = [_pools.pop(key) for key in list(_pools) if key[0] == os.getpid()]
    for pool in own:
        pool.stop()


_lock = threading.Lock()
_pools: dict[tuple[int, int | None], _Pool] = {}
"""By process and memory limit: a fork cannot use the pools of its parent."""


def _pool(process: int, memory: int | None) -> _Pool:
    with _lock:
        if (process, memory) not in _pools:
            _pools[process, memory] = _Pool(memory)
            atexit.register(_stop_own, _pools[process, memory], process)
        return _pools[process, memory]


def _stop_own(pool: _Pool, process: int) -> None:
    if os.getpid() == process:  # a fork inherits this, but not the processes
        pool.stop()
