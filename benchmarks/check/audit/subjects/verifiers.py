"""The scoring helpers of verifiers 0.4, each as the reward of a task, see peers/cases.py."""

from __future__ import annotations

from collections.abc import Iterator

from peer_cases import of_peer
from subject import Subject


def subjects() -> Iterator[Subject]:
    yield from of_peer("verifiers")
