"""Scoring the model on the held-out prompts, greedily: the numbers before and after."""

from __future__ import annotations

from typing import Any

from transformers import PreTrainedTokenizerFast

from rewardkit_runner.demo.model import complete
from rewardkit_runner.display.evaluation import Evaluation, scored


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
    return scored(reward, completions, prompts=prompts, columns=others)
