"""HTTP requests to a sandbox service: ``post("http://localhost:8080/run_code", body, 30.0)`` returns the response.

A request has one deadline and at most two attempts. While a service is down, one request is sent every few seconds, and
all other requests fail immediately. Redirects are not followed, and proxies in the environment are ignored.
"""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
from contextlib import ExitStack
from functools import cache
from typing import final
from urllib.parse import urlsplit

from rewardkit.errors import RewardDefinitionError, SandboxFailure, shorten

PATH = "/run_code"

# Arbitrary: a service in the same network accepts connections immediately, and all outputs together are smaller than
# the limit. Four consecutive failures are not a coincidence, and five seconds between attempts do not add load.
_CONNECT_SECONDS = 10.0
_MOST_BYTES = 4_000_000
_PIECE = 1 << 16
_FAILURES_UNTIL_DOWN = 4
_PAUSE = 5.0
# Timeout, too early, too many requests: a later attempt may succeed.
_PASSING = (408, 425, 429)


class _Outage(Exception):
    """The service did not respond, or requested a later attempt."""


def address(sandbox: object, whose: str) -> str:
    """Return the ``/run_code`` URL of the service at `sandbox`, an address such as ``http://localhost:8080``.

    Raises:
        RewardDefinitionError: `sandbox` is not an HTTP address.
    """
    expected = (
        f"{whose}: sandbox must be the address of a service, such as 'http://localhost:8080', got {shorten(sandbox)}"
    )
    try:
        parts = urlsplit(sandbox if isinstance(sandbox, str) else "")
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or parts.query or parts.fragment or any(map(str.isspace, str(sandbox))):
        raise RewardDefinitionError(expected)
    if "@" in parts.netloc:
        raise RewardDefinitionError(
            f"{whose}: remove the user name and password from sandbox=, because logs would show them"
        )
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path.removesuffix(PATH)}{PATH}"


def post(url: str, body: bytes, seconds: float) -> bytes:
    """Send JSON, and return the response body.

    Raises:
        SandboxFailure: there is no response within `seconds`, or the response is an error.
    """
    deadline = time.monotonic() + seconds
    health = _health(url, os.getpid())
    health.admit()
    try:
        try:
            answer = _once(url, body, deadline)
        except _Outage:
            # Random, so that the threads do not all retry at the same time.
            pause = random.uniform(0.1, 1.0)
            if health.is_down or deadline - time.monotonic() < seconds / 2 + pause:
                raise
            time.sleep(pause)
            answer = _once(url, body, deadline)
    except _Outage as outage:
        health.failed()
        raise SandboxFailure(
            f"no answer from the sandbox at {url}: {outage}. Check that the service is running"
        ) from None
    health.answered()
    return answer


def _once(url: str, body: bytes, deadline: float) -> bytes:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=min(_CONNECT_SECONDS, _left(deadline)))
    opened = ExitStack()
    opened.callback(connection.close)
    try:
        connection.connect()
        socket = connection.sock  # the connection drops its reference when the answer starts
        socket.settimeout(_left(deadline))
        connection.request("POST", parts.path, body, {"Content-Type": "application/json", "Connection": "close"})
        response = opened.enter_context(connection.getresponse())
        answer = bytearray()
        while piece := response.read1(_PIECE):
            answer += piece
            if len(answer) > _MOST_BYTES:
                raise SandboxFailure(f"the response from {url} is larger than {_MOST_BYTES:,} bytes")
            socket.settimeout(_left(deadline))
        if response.length:
            raise _Outage("the answer is cut off")
    except TimeoutError:
        raise _Outage("it took too long") from None
    except (OSError, http.client.HTTPException) as error:
        raise _Outage(f"{type(error).__name__}: {shorten(str(error), 100)}") from None
    finally:
        opened.close()
    # A status of 500 or more is the service's own fault, and may be temporary.
    if response.status in _PASSING or response.status >= 500:
        raise _Outage(_said(response.status, answer))
    if response.status != 200:
        raise SandboxFailure(
            f"{url} rejects programs: {_said(response.status, answer)}. Pass the address of the service"
        )
    return bytes(answer)


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0.0:
        raise TimeoutError
    return seconds


def _said(status: int, answer: bytearray) -> str:
    text = bytes(answer[:1_000]).decode(errors="replace").strip()
    return f"status {status}{f', {shorten(text, 100)}' if text else ''}"


@final
class _Health:
    """A service's health, shared by all threads in a process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._failures = 0
        self._next_try = 0.0

    @property
    def is_down(self) -> bool:
        return self._failures >= _FAILURES_UNTIL_DOWN

    def admit(self) -> None:
        """Raise `SandboxFailure` while the service is down, except for one request every few seconds."""
        with self._lock:
            if self.is_down:
                if time.monotonic() < self._next_try:
                    raise SandboxFailure(
                        f"the sandbox at {self._url} is down: {self._failures} requests received no response"
                    )
                self._next_try = time.monotonic() + _PAUSE

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._next_try = time.monotonic() + _PAUSE

    def answered(self) -> None:
        with self._lock:
            self._failures = 0


@cache
def _health(url: str, process: int) -> _Health:
    # One per process, because a fork may copy a lock that is held.
    return _Health(url)
