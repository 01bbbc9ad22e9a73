"""A worker process's main loop: read a call, report its start, run it, and send the answer. See `worker`."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from contextlib import suppress
from typing import Any

from rewardkit.errors import shorten
from rewardkit.workers.effects import start_in_worker
from rewardkit.workers.frames import receive, send
from rewardkit.workers.limits import end_with_parent, held_bytes, limit_memory

_TOKEN_BYTES = 16
"""The length of the token that `worker` sends before each call."""


def connected() -> socket.socket:
    """Return the socket connected to the parent (see `worker.command`), and exit when the parent exits."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.set_inheritable(False)
    sys.argv[1:] = []
    end_with_parent()
    return connection


def serve(connection: socket.socket) -> None:
    """Run calls until the parent is gone or this process uses too much memory."""
    start_in_worker()
    with suppress(EOFError, OSError):  # the parent is gone, or has closed the socket
        _serve(connection, pickle.loads(receive(connection)))


def _serve(connection: socket.socket, memory: int | None) -> None:
    process = os.getpid()
    baseline = 0
    is_last = False
    while not is_last:
        message = receive(connection)
        token, call = message[:_TOKEN_BYTES], message[_TOKEN_BYTES:]
        succeeded, result = _load_call(call)
        if succeeded and memory is not None:
            baseline = baseline or held_bytes()
            limit_memory(memory)
        send(connection, token)
        if succeeded:
            succeeded, result = _run_call(*result)
        if os.getpid() != process:
            os._exit(0)  # the function has forked and returned in both processes
        if memory is not None:
            limit_memory(None)
            is_last = held_bytes() > baseline + memory
        send(connection, token + _pickle_result(succeeded, is_last, result))


def _load_call(call: bytes) -> tuple[bool, Any]:
    try:
        return True, pickle.loads(call)
    except BaseException as error:
        return False, error


def _run_call(function: Any, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    try:
        return True, function(*arguments)
    except KeyboardInterrupt as error:  # raised by the function; in the parent it would look like Ctrl-C
        return False, RuntimeError(f"raised {error!r}")
    except BaseException as error:
        return False, error


def _pickle_result(succeeded: bool, last: bool, result: Any) -> bytes:
    try:
        packed = pickle.dumps((succeeded, last, result))
        pickle.loads(packed)  # an exception whose constructor takes other arguments may not unpickle
    except Exception as error:
        reason = RuntimeError(f"{shorten(result)} cannot be returned from its worker process: {shorten(error)}")
        return pickle.dumps((False, last, reason))
    return packed
