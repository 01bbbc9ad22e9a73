"""Gated: the addends behind the gates of a tree, each as a subject. The total hides what a gate never lets earn."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.core.errors import shorten
from rewardkit.core.progress.schedule import weight_bounds
from rewardkit.core.tree.algebra import summands
from rewardkit.core.tree.reward import Reward
from rewardkit.testing.subject import Subject, is_foreign


def gated(subject: Subject) -> Iterator[tuple[str, Subject]]:
    """Yield the name and the subject of each addend of a sum behind a gate."""
    for reward in _behind_gates(subject.reward):
        whole, foreign = subject.whole or subject, is_foreign(reward)
        own = Subject(reward, subject.examples, plain=foreign, seed=subject.seed, whole=whole, stage=subject.stage)
        yield reward.name or shorten(reward), own


def _behind_gates(tree: Reward, inside: bool = False) -> Iterator[Reward]:
    added = [reward for weight, reward in summands(tree) if weight_bounds(weight)[0] > 0]
    for reward in added:
        opened = (reward.facts.addends or ())[:1] if reward.facts.condition is not None else ()
        for then in opened:
            yield from _behind_gates(then, inside=True)
        if inside and len(added) > 1 and not opened:
            yield reward
