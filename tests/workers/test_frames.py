"""Frames: messages arrive whole, or not at all."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from rewardkit.workers.frames import receive, send

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_messages_arrive_in_order_and_whole(pair: Pair) -> None:
    for message in (b"", b"call", b"\x00" * 10_000):
        send(pair[0], message)
    assert [receive(pair[1], 5.0) for _ in range(3)] == [b"", b"call", b"\x00" * 10_000]


def test_half_a_message_is_a_timeout(pair: Pair) -> None:
    pair[0].sendall(b"\x00\x00")
    with pytest.raises(TimeoutError):
        receive(pair[1], 0.05)


def test_a_closed_socket_is_the_end(pair: Pair) -> None:
    pair[0].close()
    with pytest.raises(EOFError):
        receive(pair[1])
