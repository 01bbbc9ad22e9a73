"""Completions of a model outside of training: greedy or sampled as in training, a batch at a time.

``generate(model, tokenizer, ["6*7?"], Sampling.greedy(max_new_tokens=8))`` is ``[Completion("42", [17, 2])]``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Prompt = Any
"""A text, or a list of messages."""


@dataclass(frozen=True)
class Completion:
    """What a model answered: its text without special tokens, and its token ids with the one that ends it."""

    text: str
    ids: list[int]


@dataclass(frozen=True)
class Sampling:
    """How completions are drawn.

    Attributes:
        arguments: of transformers' GenerationConfig.
        batch: rows that are generated together.
        template: keywords of the chat template.
        half: whether the model computes in bfloat16.
    """

    arguments: dict[str, Any]
    batch: int = 16
    template: dict[str, Any] | None = None
    half: bool = False

    @classmethod
    def of(cls, args: Any, *, greedy: bool) -> Sampling:
        """As a GRPOConfig has it, or the likeliest completion instead."""
        arguments: dict[str, Any] = {"max_new_tokens": args.max_completion_length}
        if greedy:
            arguments["do_sample"] = False
        else:
            names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
            arguments |= {"do_sample": True, **{name: getattr(args, name) for name in names}}
            arguments |= args.generation_kwargs or {}
        # As many rows as the training generates at once are known to fit.
        batch = args.per_device_train_batch_size * args.steps_per_generation
        return cls(arguments, batch, args.chat_template_kwargs, bool(args.bf16))


def generate(
    model: Any,
    tokenizer: Any,
    prompts: Sequence[Prompt],
    sampling: Sampling,
    *,
    on_batch: Callable[[int], None] = lambda done: None,
) -> list[Completion]:
    """One completion of each prompt, in their order. The model is left in the mode that it was in.

    Args:
        tokenizer: pads on the left.
        on_batch: told after every batch how many are done.
    """
    was_training = model.training
    model.eval()
    found: list[Completion] = []
    try:
        with torch.inference_mode(), _computing(model, sampling):
            for start in range(0, len(prompts), sampling.batch):
                found += _batch(model, tokenizer, prompts[start : start + sampling.batch], sampling)
                on_batch(len(found))
    finally:
        model.train(was_training)
    return found


def _batch(model: Any, tokenizer: Any, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
    from transformers import GenerationConfig

    inner = getattr(tokenizer, "tokenizer", tokenizer)
    texts = [_text(inner, prompt, sampling.template or {}) for prompt in prompts]
    # A chat template writes the special tokens itself.
    special = isinstance(prompts[0], str)
    encoded = inner(texts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=special).to(
        model.device
    )
    ends = _ends(model, inner)
    config = GenerationConfig(
        **sampling.arguments, pad_token_id=inner.pad_token_id, eos_token_id=ends, disable_compile=True
    )
    generated = model.generate(
        input_ids=encoded["input_ids"], attention_mask=encoded["attention_mask"], generation_config=config
    )
    rows = generated[:, encoded["input_ids"].shape[1] :].tolist()
    ids = [_until_end(row, ends) for row in rows]
    return [
        Completion(text, own) for text, own in zip(inner.batch_decode(ids, skip_special_tokens=True), ids, strict=True)
    ]


def _text(tokenizer: Any, prompt: Prompt, template: dict[str, Any]) -> str:
    if isinstance(prompt, str):
        return prompt
    goes_on = bool(prompt) and prompt[-1]["role"] == "assistant"
    return str(
        tokenizer.apply_chat_template(
            prompt, tokenize=False, add_generation_prompt=not goes_on, continue_final_message=goes_on, **template
        )
    )


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """Every token that ends a completion: those that the model declares, and the tokenizer's."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    known = [] if declared is None else [declared] if isinstance(declared, int) else list(declared)
    return list(dict.fromkeys([*known, tokenizer.eos_token_id]))


def _until_end(row: list[int], ends: Sequence[int]) -> list[int]:
    """The tokens up to the first that ends it, with it; the rest is padding."""
    end = next((place for place, token in enumerate(row) if token in ends), len(row) - 1)
    return row[: end + 1]


def _computing(model: Any, sampling: Sampling) -> Any:
    kind = model.device.type
    return torch.autocast(kind, dtype=torch.bfloat16, enabled=sampling.half and kind != "cpu")


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """What is drawn meanwhile follows from `seed`, and leaves no trace in what is drawn afterwards."""
    python, legacy = random.getstate(), np.random.get_state()
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(legacy)
