"""TRL's reward functions (trl.rewards), with completions as chat messages: all of them, see peers/cases.py."""

from __future__ import annotations

from collections.abc import Iterator

from peer_cases import of_peer
from subject import Subject


def subjects() -> Iterator[Subject]:
    yield from of_peer("trl")
