"""The description of a reward in the record of a run."""

from __future__ import annotations

from rewardkit.core.evaluation.omission import binding_of, counted
from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.reward import Reward
from rewardkit.online.packing import packed
from rewardkit.store.records import ComponentDescription, Version

_DATA = ("prompt", "example")
"""What a function may read of the data besides columns."""


def version_of(scorer: Scorer) -> Version:
    """Return the version of a reward for the record: its fingerprint, components, terms and code."""
    reward = scorer.reward
    code = packed(reward)
    return Version(
        reward.fingerprint,
        repr(reward),
        described_components(scorer),
        tuple(scorer.terms),
        sources=code.sources,
        packed=code.data,
        unpacked=code.why_not,
    )


def described_components(scorer: Scorer) -> tuple[ComponentDescription, ...]:
    """Describe each component; its kind is ``"reward"``, or ``"monitored"`` if it earns nothing."""
    trained = set(counted(scorer.reward))
    return tuple(
        ComponentDescription(name, node.bounds, "reward" if node in trained else "monitored", _read_by(node))
        for name, node in scorer.names.components
    )


def _read_by(component: Reward) -> tuple[str, ...]:
    """Return the example columns that its function reads, and ``"prompt"`` or ``"example"`` if it reads these."""
    binding = binding_of(component)
    read = [one for one in (() if binding is None else binding.parameters) if one.is_column or one.source in _DATA]
    return tuple(dict.fromkeys(one.source for one in read))
