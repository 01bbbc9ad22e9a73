"""What clients do to connections: half requests, lost connections, other encodings."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from tests.serve.served import Served, serving
from tests.serve.test_serving import meter

BODY = b'{"rows": [{"completion": "42", "columns": {"answer": "42"}}]}'
HEAD = b"POST /score HTTP/1.1\r\nHost: x\r\n"
CHUNKS = b"".join(b"1\r\n%c\r\n" % one for one in BODY)
LENGTH = b"Content-Length: %d\r\n\r\n" % len(BODY)


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving(REWARDKIT_TOKEN="") as running:
        yield running


def connected(server: Served) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


@pytest.mark.parametrize("lines", [b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n5\r\n{"])
def test_a_client_that_hangs_up_is_no_error_of_the_server(server: Served, lines: bytes) -> None:
    before = meter(server, 'rewardkit_requests_total{path="/score",status="499"}')
    with connected(server) as half:
        half.sendall(HEAD + lines)
    until = time.monotonic() + 5
    while (now := meter(server, 'rewardkit_requests_total{path="/score",status="499"}')) == before:
        assert time.monotonic() < until
        time.sleep(0.02)
    assert now == before + 1
    assert meter(server, 'rewardkit_requests_total{path="/score",status="500"}') == 0


@pytest.mark.parametrize(
    ("sent", "status", "answers"),
    [
        ((HEAD + LENGTH + BODY) * 3, 200, 3),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS + b"0\r\n\r\n", 200, 1),
        (b"POST /score HTTP/1.0\r\n" + LENGTH + BODY, 200, 1),
        (HEAD + b"Content-Length: -5\r\n\r\n" + BODY, 400, 1),
        (HEAD + b"Transfer-Encoding: chunked\r\n" + LENGTH + BODY, 400, 1),
        (b"\x16\x03\x01\x00\xa5", 400, 1),
        (b"GET /score HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 405, 1),
    ],
)  # fmt: skip
def test_requests_as_they_come(server: Served, sent: bytes, status: int, answers: int) -> None:
    with connected(server) as connection:
        connection.sendall(sent)
        got = b""
        while got.count(b"HTTP/1.1 ") < answers:
            part = connection.recv(1 << 16)
            assert part, got
            got += part
    assert got.startswith(b"HTTP/1.1 %d " % status)
    assert server.score("42")[0]["total"] > 0.75


def test_a_thousand_idle_connections_hold_up_nobody(server: Served) -> None:
    idle = [connected(server) for _ in range(1_000)]
    for place, one in enumerate(idle):
        one.sendall([b"", b"POST /sc", HEAD + b"Content-Length: 9\r\n\r\n{"][place % 3])
    assert server.score("42")[0]["total"] > 0.75
    for one in idle:
        one.close()
