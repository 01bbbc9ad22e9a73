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
from rewardkit.core.tree.reward import Reward

EXPENSIVE = "expensive"
"""Stands for all components that are declared expensive: judges, reward models, code."""


@dataclass(frozen=True)
class _Absent:
    """Abstain."""

    def __call__(self, completion: str) -> None:
        return None


def without(reward: Reward, names: Collection[str]) -> tuple[Reward, tuple[str, ...], tuple[str, ...]]:
    """Return `reward` with components that abstain on every completion, which of `names` it has, and all left out.

    Args:
        names: names of components; ``"expensive"`` for all judges, reward models and tested programs.
    """
    if not names:
        return reward, (), ()
    gone = {node: name for name, node in Scorer(reward).names.components if name in names}
    left: Reward = changed(reward, lambda node: _absent(node, gone[node]) if node in gone else node)
    if EXPENSIVE not in names:
        return left, tuple(gone.values()), tuple(gone.values())
    costly = {node: name for name, node in Scorer(left).names.components if _is_costly(node)}
    left = changed(left, lambda node: _absent(node, costly[node]) if node in costly else node)
    return left, (EXPENSIVE, *gone.values()), (*gone.values(), *costly.values())


def _is_costly(reward: Reward) -> bool:
    """Whether it is one expensive leaf, maybe under another name."""
    facts = reward.facts
    if facts.stands_for is not None:
        return _is_costly(facts.stands_for)
    return facts.binding is not None and facts.binding.expensive


def _absent(reward: Reward, name: str) -> Reward:
    return primitive(_Absent(), name, f"{name} left out", bounds=reward.bounds, may_abstain=True)
