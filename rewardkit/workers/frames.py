"""Whole messages over a socket: after ``send(ours, b"call")``, ``receive(theirs)`` returns ``b"call"``."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable

_LENGTH_BYTES = 8
"""The size of the length prefix. Four bytes would limit a message to 4 GiB."""
_LONGEST_WAIT = 1e6
"""The seconds to wait if there is no time limit, because a socket timeout cannot be infinite."""
_POLL_SECONDS = 0.2
"""The seconds between checks of whether the other process has ended, because its socket stays open while one of its
forks is still running. The value is arbitrary and only delays the detection."""


def send(to: socket.socket, message: bytes) -> None:
    """Send `message`; raise OSError if the other side has closed the connection."""
    to.settimeout(None)
    to.sendall(len(message).to_bytes(_LENGTH_BYTES, "big") + message)


def receive(
    source: socket.socket, seconds: float | None = None, exit_code: Callable[[], int | None] | None = None
) -> bytes:
    """Return the next message.

    Args:
        seconds: the time limit for the whole message; None to wait forever.
        exit_code: a function that returns the exit code of the process on the other side, or None while it is running.

    Raises:
        TimeoutError: the message did not arrive completely within `seconds`.
        EOFError: the other side closed the connection or ended.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    length = int.from_bytes(_exactly(source, _LENGTH_BYTES, deadline, exit_code), "big")
    return _exactly(source, length, deadline, exit_code)


def _exactly(source: socket.socket, size: int, deadline: float, exit_code: Callable[[], int | None] | None) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        remaining_seconds = deadline - time.monotonic()
        if remaining_seconds <= 0.0:
            raise TimeoutError
        source.settimeout(min(remaining_seconds, _LONGEST_WAIT if exit_code is None else _POLL_SECONDS))
        try:
            part = source.recv(min(size, 1 << 20))
        except TimeoutError:  # also ``socket.timeout``, since Python 3.10
            if exit_code is not None and exit_code() is not None:
                raise EOFError from None
            continue
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
