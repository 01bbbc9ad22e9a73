"""Send and receive whole messages through a socket: ``send(ours, b"call")``, then ``receive(theirs)`` is it."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable

_LENGTH_BYTES = 8
"""Four would limit a message to 4 GiB."""
_LONGEST_WAIT = 1e6
"""Seconds: a timeout of a socket cannot be infinite."""
_POLL_SECONDS = 0.2
"""Between two looks whether the other side has ended, which its socket does not show if a fork of it still lives."""


def send(to: socket.socket, message: bytes) -> None:
    """Send `message`; OSError if the other side is gone."""
    to.settimeout(None)
    to.sendall(len(message).to_bytes(_LENGTH_BYTES, "big") + message)


def receive(
    source: socket.socket, seconds: float | None = None, exit_code: Callable[[], int | None] | None = None
) -> bytes:
    """Return the next message.

    Args:
        seconds: the seconds to wait for the whole message; by default without end.
        exit_code: the exit code of the process at the other side; None while it runs.

    Raises:
        TimeoutError: it did not arrive completely within `seconds`.
        EOFError: the other side is gone.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    length = int.from_bytes(_exactly(source, _LENGTH_BYTES, deadline, exit_code), "big")
    return _exactly(source, length, deadline, exit_code)


def _exactly(source: socket.socket, size: int, deadline: float, exit_code: Callable[[], int | None] | None) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        left = deadline - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        source.settimeout(min(left, _LONGEST_WAIT if exit_code is None else _POLL_SECONDS))
        try:
            part = source.recv(min(size, 1 << 20))
        except TimeoutError:  # that of a socket, from Python 3.10 on
            if exit_code is not None and exit_code() is not None:
                raise EOFError from None
            continue
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
