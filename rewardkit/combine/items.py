"""The items of an aggregator, such as a sum or a product, in every supported notation.

``(a, b)``, ``[(0.2, a), (b, 0.8)]``, ``{a: 0.2, b: 0.8}`` and ``{"form": 0.2 * a}`` all become (weight, reward) pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from rewardkit.errors import RewardDefinitionError, RewardTypeError, shorten
from rewardkit.progress.schedule import Schedule, Weight, as_weight
from rewardkit.tree.algebra import is_sum, summands, weighted_sum_of
from rewardkit.tree.conversion import is_plain, reward_of
from rewardkit.tree.reward import Reward


def listed_rewards(where: str, rewards: tuple[Any, ...], *, least: int) -> tuple[Reward, ...]:
    """Return the rewards that were passed to the aggregator `where`, either separately or as one list.

    Raises:
        RewardDefinitionError: there are fewer than `least` rewards (1 or 2).
        RewardTypeError: an item is not a reward, or `rewards` contains a mapping.
    """
    collection = rewards[0] if len(rewards) == 1 and not _is_item(rewards[0]) else rewards
    if isinstance(collection, Mapping):
        raise RewardTypeError(
            f"{where} expects rewards without weights or names, but got the mapping {shorten(collection)}. Pass the "
            "rewards one by one, or as one list"
        )
    items = tuple(collection) if isinstance(collection, Iterable) else (collection,)
    if len(items) < least:
        raise RewardDefinitionError(f"{where} needs at least {'one reward' if least == 1 else 'two rewards'}")
    return tuple(reward_of(item, f"{where}: an item") for item in items)


def weighted_items(items: tuple[Any, ...], where: str) -> list[tuple[Weight, Reward]]:
    """Return the items that were passed to the aggregator `where` as (weight, reward) pairs.

    Raises:
        RewardDefinitionError: there are no items, or a weight is not finite.
        RewardTypeError: an item is neither a weight nor a reward.
    """
    collection: Any = items[0] if len(items) == 1 and not (_is_item(items[0]) or isinstance(items[0], tuple)) else items
    if isinstance(collection, Mapping):
        pairs = [_mapped(key, value, where) for key, value in collection.items()]
    elif isinstance(collection, Iterable) and not isinstance(collection, str):
        pairs = [_pair(item, where) for item in collection]
    else:
        raise RewardTypeError(
            f"{where} expects rewards, (weight, reward) pairs, or one list or mapping of these, got "
            f"{shorten(collection)}"
        )
    flat: list[tuple[Weight, Reward]] = []
    for weight, reward in pairs:
        # A plain sum is split into its parts, so that factors written with `*` count as weights.
        split = is_sum(reward) and (weight == 1.0 or len(reward.children) == 1)
        flat += summands(weighted_sum_of([(weight, reward)])) if split else [(weight, reward)]
    if not flat:
        raise RewardDefinitionError(f"{where} needs at least one reward")
    return flat


def _mapped(key: Any, value: Any, where: str) -> tuple[Weight, Reward]:
    if _is_item(key):
        reward = reward_of(key, f"{where}: an item")
        return as_weight(value, f"{where}: the weight of {reward!r}"), reward
    weight, reward = _pair(value, where)
    if is_sum(reward) and len(reward.children) == 1:
        ((inner, child),) = summands(reward)
        return as_weight(inner * weight if weight != 1.0 else inner), child.named(key)
    return weight, reward.named(key)


def _pair(item: Any, where: str) -> tuple[Weight, Reward]:
    if isinstance(item, tuple) and len(item) == 2:
        first, second = item
        if _is_item(first) and isinstance(second, (Real, Schedule)):
            first, second = second, first
        return as_weight(first, f"{where}: a weight"), reward_of(second, f"{where}: an item")
    return 1.0, reward_of(item, f"{where}: an item")


def _is_item(value: Any) -> bool:
    return isinstance(value, Reward) or is_plain(value)
