"""The advantages of GRPO and the causes of their variance, computed again in plain numpy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from rewardkit.batch.column import Floats

EPSILON = 1e-4
"""The number that TRL adds to every deviation."""


@dataclass
class Generation:
    """One generation batch of a real trainer.

    Attributes:
        advantages: (n,) that it trained on.
        held: name -> the weight that it held for a reward function.
        columns: name -> (n,) what the function returned.
        training: False for a batch of evaluation.
    """

    advantages: Floats
    held: dict[str, float]
    columns: dict[str, Floats]
    training: bool


def watched(trainer: Any) -> list[Generation]:
    """Collect the generation batches of `trainer`."""
    seen: list[Generation] = []
    generate, calculate = trainer._generate_and_score_completions, trainer._calculate_rewards
    returned: list[Any] = []

    def calculating(*arguments: Any) -> Any:
        returned[:] = [calculate(*arguments)]
        return returned[0]

    def generating(inputs: Any) -> Any:
        output = generate(inputs)
        advantages = np.array(output["advantages"].tolist())
        assert trainer._logs["advantages"][-1] == advantages[-1]
        names = trainer.reward_func_names
        held = dict(zip(names, trainer.reward_weights.tolist(), strict=True))
        columns = dict(zip(names, np.array(returned[0].tolist()).T, strict=True))
        seen.append(Generation(advantages, held, columns, trainer.model.training))
        return output

    trainer._calculate_rewards, trainer._generate_and_score_completions = calculating, generating
    return seen


def grouped(values: Floats, generations: int) -> Floats:
    """(groups, generations)"""
    return np.asarray(values).reshape(-1, generations)


def centered(values: Floats, generations: int) -> Floats:
    """Return (n,) minus the mean of the group; NaN rows are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a group without any number
        groups = grouped(values, generations)
        return np.asarray(groups - np.nanmean(groups, axis=1, keepdims=True)).ravel()


def deviations(values: Floats, generations: int) -> Floats:
    """Return (n,) the sample deviation in the group; 0 for a single row, as in TRL."""
    groups = grouped(values, generations)
    counts = (~np.isnan(groups)).sum(axis=1)
    sums = np.nansum(grouped(centered(values, generations), generations) ** 2, axis=1)
    return np.repeat(np.sqrt(sums / np.maximum(counts - 1, 1)), generations)


def normalized(values: Floats, generations: int) -> Floats:
    """Return (n,) normalized within the group; NaN stays NaN."""
    return centered(values, generations) / (deviations(values, generations) + EPSILON)


def advantages(total: Floats, generations: int, scale: str = "group") -> Floats:
    """Return (n,) the advantages of GRPO for totals; 0 for NaN."""
    found = centered(total, generations)
    if scale == "group":
        found = normalized(total, generations)
    elif scale == "batch":
        found = found / (np.nanstd(total, ddof=1) + EPSILON)
    return np.nan_to_num(found)


def gdpo_parts(columns: dict[str, Floats], weights: dict[str, float], generations: int) -> dict[str, Floats]:
    """Return name -> (n,) what each reward function adds under ``normalize_then_sum``."""
    return {name: weights[name] * normalized(values, generations) for name, values in columns.items()}


def gdpo_advantages(parts: dict[str, Floats]) -> Floats:
    """Return (n,) the advantages for `gdpo_parts`: their sum, normalized over the batch."""
    stacked = np.array(list(parts.values()))
    total = np.where(np.isnan(stacked).all(axis=0), np.nan, np.nansum(stacked, axis=0))
    found: Floats = np.nan_to_num((total - np.nanmean(total)) / (np.nanstd(total, ddof=1) + EPSILON))
    return found


def shares(parts: dict[str, Floats], generations: int, scale: str = "group") -> dict[str, float]:
    """name -> the covariance of a part with the total within groups, over the variance of the total.

    With ``scale="group"`` the totals of each group are divided by its deviation, as advantages are.
    """
    terms = {name: np.nan_to_num(centered(np.nan_to_num(values), generations)) for name, values in parts.items()}
    total = sum(terms.values(), np.zeros(len(next(iter(terms.values())))))
    if scale != "group":
        return {name: float(term @ total / (total @ total)) for name, term in terms.items()}
    totals = grouped(total, generations)
    scorable = grouped((~np.isnan(np.array(list(parts.values()))).all(axis=0)).astype(float), generations).sum(axis=1)
    deviations = np.sqrt((totals**2).sum(axis=1) / np.maximum(scorable - 1, 1)) + EPSILON
    squares = (totals**2).sum(axis=1) / deviations**2
    return {
        name: float(((grouped(term, generations) * totals).sum(axis=1) / deviations**2).sum() / squares.sum())
        for name, term in terms.items()
    }
