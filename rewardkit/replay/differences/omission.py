"""Omission: the same reward without some of its components.

``without(0.5 * rk.exact("answer") + 0.5 * rk.judge(...), ["judge"])`` is the tree with a judge that abstains on every
completion, so it drops out of sums and is never asked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rewardkit.core.evaluation.scorer import Scorer
from rewardkit.core.tree.algebra import changed
from rewardkit.core.tree.leaf import primitive
from rewardkit.core.tree.reward import Reward, leaves

EXPENSIVE = "expensive"
"""Stands for all components that are declared expensive: judges, reward models, code."""


@dataclass(frozen=True)
class _Absent:
    """Abstain."""

    def __call__(self, completion: str) -> None:
        return None


def without(reward: Reward, names: Collection[str]) -> tuple[Reward, tuple[str, ...]]:
    """Return `reward` with components that abstain on every completion, and which of `names` it has.

    Args:
        names: names of components; ``"expensive"`` for all judges, reward models and tested programs.
    """
    if not names:
        return reward, ()
    gone = {node: name for name, node in Scorer(reward).names.components if name in names}
    left: Reward = changed(reward, lambda node: _absent(node, gone[node]) if node in gone else node)
    found = dict.fromkeys(gone.values())
    if EXPENSIVE in names:
        found[EXPENSIVE] = None
        costly = {leaf for leaf in leaves(left) if leaf.facts.binding is not None and leaf.facts.binding.expensive}
        left = changed(left, lambda node: _absent(node, node.name) if node in costly else node)
    return left, tuple(found)


def _absent(reward: Reward, name: str) -> Reward:
    return primitive(_Absent(), name, f"{name} left out", bounds=reward.bounds, may_abstain=True)
