"""Subjects made of the cases in peers/cases.py: the reward functions of TRL, verifiers and eval-protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Without this, importing litellm tries to download a price list.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from subject import Subject
from texts import chats

from benchmarks.peers.cases import CASES, Peer
from benchmarks.peers.reward_functions import as_reward


def of_peer(peer: Peer) -> Iterator[Subject]:
    """Yield a subject per case. TRL's functions get chat messages; the others go through rewardkit's adapters."""
    for case in CASES:
        if case.peer == peer:
            made = case.make()
            rows = chats(case.examples) if peer == "trl" else case.examples
            yield Subject(case.name, made if peer == "trl" else as_reward(case, made), rows, case.good, case.bad)
