"""The supervised warm start before GRPO: the model imitates sloppy demonstrations.

GRPO reinforces what a model already does now and then; it cannot add behavior that never occurs. So the warm start
teaches the task, including bad habits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

BATCH = 32
LEARNING_RATE = 3e-3
RISING_SHARE = 0.1
IGNORED = -100


def warm_up(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    pairs: Sequence[tuple[str, str]],
    *,
    learning_rate: float = LEARNING_RATE,
    on_step: Callable[[float], None] = lambda loss: None,
) -> None:
    """Train for one pass over pairs of prompt and completion; `on_step` gets the loss of each batch."""
    encoded = [_encode(tokenizer, prompt, completion) for prompt, completion in pairs]
    batches = [encoded[first : first + BATCH] for first in range(0, len(encoded), BATCH)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
    model.train()
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * rate_factor(step, len(batches))
        inputs = _pad(batch, tokenizer.pad_token_id, model.device)
        loss = model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        on_step(float(loss.detach()))


def rate_factor(step: int, steps: int) -> float:
    """Return a factor that rises linearly over the first tenth of the steps, then falls along a cosine."""
    rising = max(1, round(RISING_SHARE * steps))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))


def _encode(tokenizer: PreTrainedTokenizerFast, prompt: str, completion: str) -> tuple[list[int], list[int]]:
    """Return token ids and labels: only the completion and its end are learned."""
    # Separately, as in generation: tokenized together, prompt and completion might share a token.
    prompt_ids = list(tokenizer(prompt)["input_ids"])
    completion_ids = [*tokenizer(completion)["input_ids"], tokenizer.eos_token_id]
    return prompt_ids + completion_ids, [IGNORED] * len(prompt_ids) + completion_ids


def _pad(batch: Sequence[tuple[list[int], list[int]]], padding: int, device: torch.device) -> dict[str, torch.Tensor]:
    longest = max(len(ids) for ids, _ in batch)

    def rows(lists: list[list[int]], fill: int) -> torch.Tensor:
        return torch.tensor([row + [fill] * (longest - len(row)) for row in lists], device=device)

    return {
        "input_ids": rows([ids for ids, _ in batch], padding),
        "attention_mask": rows([[1] * len(ids) for ids, _ in batch], 0),
        "labels": rows([labels for _, labels in batch], IGNORED),
    }
