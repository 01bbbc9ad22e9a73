"""Send and receive whole messages through a socket: ``send(ours, b"call")``, then ``receive(theirs)`` is it."""

from __future__ import annotations

import socket
import time

_LENGTH_BYTES = 8
_LONGEST_WAIT = 1e6


def send(to: socket.socket, message: bytes) -> None:
    """Send `message`; OSError if the other side is gone."""
    to.settimeout(None)
    to.sendall(len(message).to_bytes(_LENGTH_BYTES, "big") + message)


def receive(source: socket.socket, seconds: float | None = None) -> bytes:
    """Return the next message.

    Raises:
        TimeoutError: it did not arrive completely within `seconds`.
        EOFError: the other side is gone.
    """
    deadline = None if seconds is None else time.monotonic() + min(seconds, _LONGEST_WAIT)
    length = int.from_bytes(_exactly(source, _LENGTH_BYTES, deadline), "big")
    return _exactly(source, length, deadline)


def _exactly(source: socket.socket, size: int, deadline: float | None) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0.0:
            raise TimeoutError
        source.settimeout(left)
        part = source.recv(min(size, 1 << 20))  # its timeout is a TimeoutError from Python 3.10 on
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
