"""Omission of components from a reward.

``without(0.5 * rk.exact("answer") + 0.5 * rk.judge(...), ["judge"])`` is the same tree, but its judge is never called.
The judge abstains on every completion, so sums skip it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from rewardkit.tree.algebra import changed, weighted_sum_of
from rewardkit.tree.binding import Binding
from rewardkit.tree.evaluation.scorer import Scorer
from rewardkit.tree.leaf import primitive
from rewardkit.tree.names import Names
from rewardkit.tree.reward import Reward, walk

EXPENSIVE = "expensive"
"""The name that stands for all components declared expensive: judges, reward models, and code."""


@dataclass(frozen=True)
class _Absent:
    """A scoring function that always abstains."""

    def __call__(self, completion: str) -> None:
        return None


def omit_components(reward: Reward, names: Collection[str]) -> tuple[Reward, tuple[str, ...], tuple[str, ...]]:
    """Return `reward` with the named components abstaining, the `names` that were found, and all omitted components.

    Args:
        names: component names; ``"expensive"`` stands for all judges, reward models, and tested programs.
    """
    if not names:
        return reward, (), ()
    left, removed = omitted(reward, lambda name, node: name in names)
    if EXPENSIVE not in names:
        return left, removed, removed
    left, costly = omitted(left, lambda name, node: _is_costly(node))
    return left, (EXPENSIVE, *removed), (*removed, *costly)


def omitted(reward: Reward, is_omitted: Callable[[str, Reward], bool]) -> tuple[Reward, tuple[str, ...]]:
    """Replace the components for which `is_omitted` is true with abstaining ones; return the reward and their names."""
    removed = {node: name for name, node in Scorer(reward).names.components if is_omitted(name, node)}
    left: Reward = changed(reward, lambda node: _absent(node, removed[node]) if node in removed else node)
    return left, tuple(removed.values())


def excluded(reward: Reward, parts: Collection[Reward]) -> Reward:
    """Return `reward` with the given parts of its tree abstaining, together with the components inside them."""
    left = reward
    # The largest part comes first, because a part is no longer recognized after one of its own parts was replaced.
    for number, part in enumerate(sorted(parts, key=lambda part: -sum(1 for _ in walk(part))), 1):
        left = changed(left, partial(_with_absent, part, _absent(part, f"excluded {number}")))
    # A schedule may follow a component inside a part by its name, so the component must still exist.
    names = {name for name, _ in Names.of(left).components}
    lost = [_absent(node, name) for name, node in Names.of(reward).components if name not in names]
    return weighted_sum_of([(1.0, left), *((1.0, node) for node in lost)]) if lost else left


def _with_absent(part: Reward, absent: Reward, node: Reward) -> Reward:
    return absent if node == part else node


def _is_costly(reward: Reward) -> bool:
    binding = binding_of(reward)
    return binding is not None and binding.expensive


def binding_of(reward: Reward) -> Binding | None:
    """Return the binding of a leaf or a renamed leaf, or None for other rewards."""
    facts = reward.facts
    return binding_of(facts.stands_for) if facts.stands_for is not None else facts.binding


def _absent(reward: Reward, name: str) -> Reward:
    return primitive(_Absent(), name, f"{name} excluded", bounds=reward.bounds, may_abstain=True)
