"""Rewards relative to their group, as slime computes them, without the samples that have no score.

Of the rewards 1, ?, 0, 0 the second is left out: 1.155, 0.0, -0.577, -0.577.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rewardkit.core.errors import RewardFailure
from rewardkit_slime.samples import unscored

_NORMALIZED = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
_DIVIDED = ("grpo", "gspo", "cispo")
"""The estimators for which slime subtracts the mean of the group, and divides by its standard deviation."""


def normalized(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Return the rewards for logs and the rewards for training.

    A sample without a score is masked. For logs it has the mean of its group, and for training 0.0 after normalization.

    Raises:
        RewardFailure: a sample has no reward, but nothing says why.
    """
    rewards = [_reward(args, sample) for sample in samples]
    raw = [0.0] * len(samples)
    trained = [0.0] * len(samples)
    normalizes = args.advantage_estimator in _NORMALIZED and args.rewards_normalization
    divides = args.advantage_estimator in _DIVIDED and args.grpo_std_normalization
    everything = _mean([reward for reward in rewards if reward is not None])
    for places in _groups(args, samples):
        scored = {place: reward for place in places if (reward := rewards[place]) is not None}
        relative = _relative(scored, divides) if normalizes else scored
        mean = _mean(list(scored.values())) if scored else everything
        for place in places:
            raw[place] = scored.get(place, mean)
            trained[place] = relative.get(place, 0.0 if normalizes else mean)
    for sample, reward in zip(samples, rewards, strict=True):
        if reward is None:
            sample.remove_sample = True
    return raw, trained


def _reward(args: Any, sample: Any) -> float | None:
    if unscored(sample):
        return None
    reward = sample.get_reward_value(args) if sample.reward is not None else None
    if not isinstance(reward, (int, float)) or not math.isfinite(reward):
        raise RewardFailure(
            f"slime: sample {sample.index} (status {sample.status}) has the reward {reward!r}, which is not a number. "
            "Fix the function that sets it, or score it with --custom-rm-path"
        )
    return float(reward)


def _groups(args: Any, samples: Sequence[Any]) -> list[list[int]]:
    """Return the places of the samples of each prompt."""
    if all(sample.group_index is not None for sample in samples):
        found: dict[int, list[int]] = {}
        for place, sample in enumerate(samples):
            found.setdefault(sample.group_index, []).append(place)
        return list(found.values())
    size = args.n_samples_per_prompt
    if len(samples) % size:
        raise RewardFailure(
            f"slime: {len(samples)} samples without group_index are no groups of {size}. Set group_index in the data "
            "source or in the custom generate function"
        )
    return [list(range(start, start + size)) for start in range(0, len(samples), size)]


def _relative(scored: dict[int, float], divides: bool) -> dict[int, float]:
    mean = _mean(list(scored.values()))
    centered = {place: reward - mean for place, reward in scored.items()}
    if not divides or len(centered) < 2:
        return centered
    deviation = math.sqrt(math.fsum(value * value for value in centered.values()) / (len(centered) - 1))
    return {place: value / (deviation + 1e-6) for place, value in centered.items()}


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
