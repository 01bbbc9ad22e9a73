"""Generate completions outside of training: greedy, or sampled as in training, in batches.

``generate(model, tokenizer, ["6*7?"], Sampling.of(args, greedy=True))`` returns ``[Completion("42", [17, 2])]``.
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
    """A completion: its text without special tokens, and its token ids including the end token."""

    text: str
    ids: list[int]


@dataclass(frozen=True)
class Sampling:
    """How to generate completions.

    Attributes:
        arguments: of transformers' GenerationConfig.
        batch: rows per batch.
        template: keywords of the chat template.
        half: whether to compute in bfloat16.
    """

    arguments: dict[str, Any]
    batch: int = 16
    template: dict[str, Any] | None = None
    half: bool = False

    @classmethod
    def of(cls, args: Any, *, greedy: bool) -> Sampling:
        """Return the sampling of a GRPOConfig, or greedy decoding."""
        arguments: dict[str, Any] = {"max_new_tokens": args.max_completion_length}
        if greedy:
            arguments["do_sample"] = False
        else:
            names = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
            arguments |= {"do_sample": True, **{name: getattr(args, name) for name in names}}
            arguments |= args.generation_kwargs or {}
        # The training generates this many rows at once, so they fit into memory.
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
    """Return one completion per prompt, in order. The mode of the model (train, eval) is restored.

    Args:
        tokenizer: padding is on the left.
        on_batch: called after every batch with the number of completions so far.
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
    # A chat template adds the special tokens itself.
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
    """Return all tokens that end a completion: those of the model and of the tokenizer."""
    declared = getattr(model.generation_config, "eos_token_id", None)
    known = [] if declared is None else [declared] if isinstance(declared, int) else list(declared)
    return list(dict.fromkeys([*known, tokenizer.eos_token_id]))


def _until_end(row: list[int], ends: Sequence[int]) -> list[int]:
    """Return the tokens up to the first end token, including it; the rest is padding."""
    end = next((place for place, token in enumerate(row) if token in ends), len(row) - 1)
    return row[: end + 1]


def _computing(model: Any, sampling: Sampling) -> Any:
    kind = model.device.type
    return torch.autocast(kind, dtype=torch.bfloat16, enabled=sampling.half and kind != "cpu")


@contextmanager
def own_randomness(seed: int) -> Iterator[None]:
    """Seed all random generators inside the `with` block; restore their state afterwards."""
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
