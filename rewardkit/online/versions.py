"""The description of a reward in the record of a run."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.reward import Reward
from rewardkit.online.packing import packed
from rewardkit.store.records import ComponentDescription, Version


def version_of(scorer: Scorer) -> Version:
    """Return the version of a reward for the record: its fingerprint, components, terms and code."""
    reward = scorer.reward
    trained = set(_trained(reward))
    components = tuple(
        ComponentDescription(name, node.bounds, "reward" if node in trained else "monitored")
        for name, node in scorer.names.components
    )
    code = packed(reward)
    return Version(
        reward.fingerprint,
        repr(reward),
        components,
        tuple(scorer.terms),
        sources=code.sources,
        packed=code.data,
        unpacked=code.why_not,
    )


def _trained(reward: Reward) -> Iterator[Reward]:
    """Yield all nodes that count in the total."""
    facts = reward.facts
    if facts.addends != ():  # as those of a monitor are
        yield reward
        for child in (*facts.children, *(facts.addends or ())):
            yield from _trained(child)
