"""Processes that can be killed, for what may hang: ``submit(abs, (-3,), timeout=2.0).result()`` is 3.

The processes start on first use, are shared by all rewards, and are replaced when one has been killed. Each is a plain
child with a socket, not one of ``multiprocessing``: so it can be had from any thread, from a daemonic process, and
from a script without ``if __name__ == "__main__":`` (which only a function defined in that very script needs).
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from multiprocessing import current_process
from multiprocessing.connection import Connection, Pipe
from multiprocessing.spawn import get_preparation_data
from queue import SimpleQueue
from typing import Any, NamedTuple

from rewardkit.core.errors import RewardFailure

MAX_PROCESSES = 4
START_SECONDS = 120.0
"""For the child to start and to import the function's module, before the clock of the call starts."""

_CHILD = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[2]); from rewardkit.core.worker_child import serve; serve()"
)


class WorkerDied(RewardFailure):
    """The process ended before its function did: killed for its memory, say, or by ``os._exit``."""


class _Job(NamedTuple):
    future: Future[Any]
    call: bytes
    timeout: float


def submit(
    function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float, memory: int | None = None
) -> Future[Any]:
    """Runs ``function(*arguments)`` in a worker that is killed after `timeout` seconds.

    The future raises ``TimeoutError`` then, `WorkerDied` if the worker died, and else what the function raised.

    Args:
        function: found by its module and name in the worker, as pickle does.
        timeout: from the moment the worker has imported the function.
        memory: bytes that one call may add to what its process holds; more is a ``MemoryError`` (or a death).

    Raises:
        pickle.PicklingError, TypeError, AttributeError: function or arguments cannot be pickled.
        RewardFailure: a script without ``if __name__ == "__main__":`` starts itself anew.
    """
    if getattr(current_process(), "_inheriting", False):
        raise RewardFailure(
            "a worker process imports the script for a function that it defines, and the script scores at once: put "
            'what the script does under `if __name__ == "__main__":`, or the function into a module of its own'
        )
    future: Future[Any] = Future()
    call = pickle.dumps((function, arguments))
    _pool(os.getpid(), memory).take(_Job(future, call, timeout))
    return future


def then(future: Future[Any], function: Callable[[Future[Any]], Any]) -> Future[Any]:
    """A future of ``function(future)``, which is called once `future` is done."""
    following: Future[Any] = Future()

    def finish(done: Future[Any]) -> None:
        if done.cancelled() or not following.set_running_or_notify_cancel():
            following.cancel()
            return
        _fulfil(following, partial(function, done))

    future.add_done_callback(finish)
    return following


def _fulfil(future: Future[Any], function: Callable[[], Any]) -> None:
    try:
        result = function()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class _Pool:
    """Up to MAX_PROCESSES children with one thread each, which feeds it and kills it."""

    def __init__(self, memory: int | None) -> None:
        self._memory = memory
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._children: list[_Child] = []
        self._waiting = 0

    def take(self, job: _Job) -> None:
        with self._lock:
            self._waiting += 1
            if len(self._children) < min(self._waiting, MAX_PROCESSES, os.cpu_count() or 1):
                child = _Child(self._memory)
                self._children.append(child)
                threading.Thread(target=self._feed, args=(child,), name="rewardkit worker", daemon=True).start()
        self._jobs.put(job)

    def _feed(self, child: _Child) -> None:
        while True:
            job = self._jobs.get()
            if job.future.set_running_or_notify_cancel():
                _fulfil(job.future, partial(child.run, job))
            with self._lock:
                self._waiting -= 1

    def stop(self) -> None:
        for child in self._children:
            child.kill()


class _Child:
    """One process, started when there is something to do."""

    def __init__(self, memory: int | None) -> None:
        self._memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: Connection[Any, Any] | None = None

    def run(self, job: _Job) -> Any:
        try:
            succeeded, last, result = self._answer(job)
        except (EOFError, ConnectionError):
            self.kill()
            raise WorkerDied("its worker process died") from None
        except BaseException:
            self.kill()
            raise
        if last:
            self.kill()
        if not succeeded:
            raise result
        return result

    def _answer(self, job: _Job) -> tuple[bool, bool, Any]:
        socket = self._ready()
        socket.send_bytes(job.call)
        if not socket.poll(START_SECONDS):
            raise WorkerDied(f"its worker process did not start within {START_SECONDS:g} s")
        if socket.recv_bytes() == b"started" and not socket.poll(job.timeout):
            raise TimeoutError(f"no result within {job.timeout:g} s; its worker was killed")
        answer: tuple[bool, bool, Any] = pickle.loads(socket.recv_bytes())
        return answer

    def _ready(self) -> Connection[Any, Any]:
        if self._socket is None:
            self._socket, theirs = Pipe()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _CHILD, str(theirs.fileno()), json.dumps(sys.path)],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
            self._socket.send((_main_module(), self._memory))
        return self._socket

    def kill(self) -> None:
        process, self._process = self._process, None
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()
        if process is not None:
            process.kill()
            process.wait()


def _main_module() -> dict[str, Any]:
    """How the child finds the script's own functions, should it need one."""
    prepared = get_preparation_data("rewardkit worker")
    return {key: prepared[key] for key in ("init_main_from_name", "init_main_from_path") if key in prepared}


_pools = threading.Lock()


def _pool(process: int, memory: int | None) -> _Pool:
    with _pools:
        return _started_pool(process, memory)


@cache
def _started_pool(process: int, memory: int | None) -> _Pool:
    """One pool per process: after a fork the parent's is of no use."""
    pool = _Pool(memory)
    atexit.register(pool.stop)
    return pool
