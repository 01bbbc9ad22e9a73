"""Scoring the model on the held-out prompts, greedily: the numbers before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

import rewardkit as rk
from rewardkit_trl.demo.model import complete


@dataclass(frozen=True)
class Evaluation:
    """Each prompt's completion and total, and the mean of the total and of every component."""

    completions: list[str]
    totals: list[float]
    means: dict[str, float]
    total: float


def evaluate(
    reward: Any,
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    columns: dict[str, list[str]],
    *,
    max_new_tokens: int,
) -> Evaluation:
    """Greedy completions of ``columns["prompt"]``, scored with the schedules at their end."""
    prompts = columns["prompt"]
    completions = complete(model, tokenizer, prompts, max_new_tokens=max_new_tokens)
    others: dict[str, Any] = {name: values for name, values in columns.items() if name != "prompt"}
    table = rk.score(reward, completions, prompts=prompts, **others)
    return Evaluation(
        completions=completions,
        totals=[float(total) for total in table.total],
        means={name: mean_over_all(table[name]) for name in table.terms},
        total=float(np.mean(table.total)),
    )


def mean_over_all(values: NDArray[np.float64]) -> float:
    """The mean over all rows, where a component that was not reached counts as 0.

    Over the scored rows alone, a component would look best when only the easiest completion got through to it.
    """
    return float(np.nan_to_num(values, nan=0.0).mean())
