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
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from multiprocessing import current_process
from multiprocessing.spawn import get_preparation_data
from queue import SimpleQueue
from typing import Any, NamedTuple

from rewardkit.core.errors import RewardFailure
from rewardkit.core.processes.frames import receive, send

MAX_PROCESSES = 4
START_SECONDS = 120.0
"""For the child to start and to import the function's module, before the clock of the call starts."""

_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from rewardkit.core.processes.worker_child import serve
serve()
"""


class WorkerDied(RewardFailure):
    """The process ended before its function did: killed for its memory, say, or by ``os._exit``."""


class Call(Future[Any]):
    """A call under way, which can be stopped even while it runs."""

    def __init__(self, stop: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self._stop = stop
        self.child: _Child | None = None
        self.stopped = False

    def stop(self) -> None:
        """Takes it back: what waits is canceled, what runs is killed with its process."""
        self.stopped = True
        if self._stop is not None:
            self._stop()
        elif not self.cancel() and not self.done() and self.child is not None:
            self.child.kill_while(self)


class _Job(NamedTuple):
    call: Call
    message: bytes
    timeout: float


def submit(function: Callable[..., Any], arguments: tuple[Any, ...], timeout: float, memory: int | None = None) -> Call:
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
    call = Call()
    _pool(os.getpid(), memory).take(_Job(call, pickle.dumps((function, arguments)), timeout))
    return call


def then(call: Call, function: Callable[[Future[Any]], Any]) -> Call:
    """A call of ``function(call)``, once `call` is done."""
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
    """Up to MAX_PROCESSES children with one thread each, which feeds it and kills it."""

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
    """One process, started when there is something to do."""

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
        if not answer.startswith(token):  # from a process that its function has left behind, say
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
                    start_new_session=True,  # Ctrl-C is for the parent, and what it starts ends with it
                )
            self._socket = ours
            send(ours, pickle.dumps((_main_module(), self._memory)))
        return self._socket

    def kill_while(self, call: Call | None) -> None:
        """Kills the process, from any thread, if it still runs `call`; whoever reads from it then sees its end."""
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
    if process.returncode is None:  # not waited for, so that its number still belongs to it
        os.killpg(process.pid, signal.SIGKILL)


def _main_module() -> dict[str, Any]:
    """How the child finds the script's own functions, should it need one."""
    prepared = get_preparation_data("rewardkit worker")
    return {key: prepared[key] for key in ("init_main_from_name", "init_main_from_path") if key in prepared}


def renew() -> None:
    """Ends all worker processes; the next call starts others, which import modules as they are then."""
    with _lock:
        own = [_pools.pop(key) for key in list(_pools) if key[0] == os.getpid()]
    for pool in own:
        pool.stop()


_lock = threading.Lock()
_pools: dict[tuple[int, int | None], _Pool] = {}
"""By process and memory limit: after a fork the parent's are of no use."""


def _pool(process: int, memory: int | None) -> _Pool:
    with _lock:
        if (process, memory) not in _pools:
            _pools[process, memory] = _Pool(memory)
            atexit.register(_stop_own, _pools[process, memory], process)
        return _pools[process, memory]


def _stop_own(pool: _Pool, process: int) -> None:
    if os.getpid() == process:  # a fork inherits this, but not the processes
        pool.stop()
