"""Build the tiny model and its tokenizer in a folder. The same seed gives the same model."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from transformers import PreTrainedTokenizerFast, set_seed

from rewardkit_adapters.runner.progress import OnStep
from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer

# The task of the tiny model: turn an order into JSON.


NAMES = (
    *("Mia", "Tom", "Ada", "Ben", "Eva", "Leo", "Zoe", "Max"),
    *("Ida", "Jon", "Kim", "Liv", "Ned", "Oda", "Pia", "Sam"),
)
ITEMS = ("toy", "lamp", "book", "chair", "shirt", "pen", "cup", "bag")
COLORS = ("red", "blue", "green", "black", "white", "pink")
# At least 2, so that items are in the plural; at most two digits, which a small model learns to copy.
SMALLEST_QUANTITY, LARGEST_QUANTITY = 2, 99

TEMPLATES = (
    "send {name} {qty} {item}s in {color}",
    "{name} wants {qty} {color} {item}s",
    "please ship {qty} {item}s to {name}, all {color}",
    "order for {name}: {color} {item}s, {qty} pieces",
)

ORDER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "qty": {"type": "integer", "minimum": 1},
        "item": {"enum": list(ITEMS)},
        "color": {"enum": list(COLORS)},
    },
    "required": ["name", "qty", "item", "color"],
    "additionalProperties": False,
}

Split = Literal["demonstrations", "training", "held-out"]
HELD_OUT_SHARE = 0.1
"""The share of orders that are held out. The share is arbitrary, but leaves enough orders in both splits."""


@dataclass(frozen=True)
class Order:
    """An order, which is the gold answer for a prompt."""

    name: str
    qty: int
    item: str
    color: str

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


@dataclass(frozen=True)
class Example:
    """A prompt and the order that it describes."""

    prompt: str
    order: Order


def examples(count: int, *, seed: int, split: Split) -> list[Example]:
    """Draw `count` examples from a split. The same seed gives the same examples."""
    # A string as the seed keeps the streams of the splits apart, and gives the same numbers in every process.
    generator = random.Random(f"{seed}/{split}")
    selected: list[Example] = []
    while len(selected) < count:
        order = _draw_order(generator)
        if _is_held_out(order) == (split == "held-out"):
            words = generator.choice(TEMPLATES).format(**asdict(order))
            selected.append(Example(prompt=f"{words}\n", order=order))
    return selected


def as_columns(batch: list[Example]) -> dict[str, list[str]]:
    """Return the examples as dataset columns. Gold answers are JSON strings, because Arrow rewrites objects."""
    return {
        "prompt": [example.prompt for example in batch],
        "order": [example.order.to_json() for example in batch],
    }


def _draw_order(generator: random.Random) -> Order:
    return Order(
        name=generator.choice(NAMES),
        qty=generator.randint(SMALLEST_QUANTITY, LARGEST_QUANTITY),
        item=generator.choice(ITEMS),
        color=generator.choice(COLORS),
    )


def _is_held_out(order: Order) -> bool:
    """Return whether an order is held out. This depends on a hash, so that an order is always in the same split."""
    return zlib.crc32(order.to_json().encode()) < HELD_OUT_SHARE * 2**32


# Sloppy demonstrations, which the model imitates in the supervised warm-up before any reward is used.


# All openings start with "Sure", and most demonstrations have one, so that even the greedy completion starts with
# chatter.
CHATTER = ("Sure, here it is: ", "Sure, this is the order: ", "Sure! ")

# Arbitrary shares: each fault is common enough to be unlearned, and correct orders still occur, so that they can be
# rewarded.
CHATTER_SHARE = 0.6
PYTHON_QUOTES_SHARE = 1 / 3
QUANTITY_IN_QUOTES_SHARE = 0.6
MISSING_FIELD_SHARE = 0.08
WRONG_FIELD_SHARE = 0.06
UNCLOSED_SHARE = 0.1


def demonstrations(count: int, *, seed: int) -> list[tuple[str, str]]:
    """Draw `count` pairs of prompts and sloppy completions. The same seed gives the same pairs."""
    generator = random.Random(f"{seed}/sloppiness")
    clean_examples = examples(count, seed=seed, split="demonstrations")
    return [(example.prompt, sloppy_completion(example, generator)) for example in clean_examples]


def sloppy_completion(example: Example, generator: random.Random) -> str:
    """Return the gold answer with random mistakes. Each kind of mistake has its own rate."""
    fields = _sloppy_fields(example.order, generator)
    text = json.dumps(fields, separators=(",", ":"))
    if generator.random() < PYTHON_QUOTES_SHARE:
        text = text.replace('"', "'")
    if generator.random() < UNCLOSED_SHARE:
        text = text[:-1]
    if generator.random() < CHATTER_SHARE:
        text = generator.choice(CHATTER) + text
    return text


def _sloppy_fields(order: Order, generator: random.Random) -> dict[str, object]:
    fields: dict[str, object] = {}
    for field, value in asdict(order).items():
        if generator.random() < MISSING_FIELD_SHARE:
            continue
        fields[field] = _another_value(field, generator) if generator.random() < WRONG_FIELD_SHARE else value
    if "qty" in fields and generator.random() < QUANTITY_IN_QUOTES_SHARE:
        fields["qty"] = str(fields["qty"])
    return fields


def _another_value(field: str, generator: random.Random) -> object:
    if field == "qty":
        return generator.randint(SMALLEST_QUANTITY, LARGEST_QUANTITY)
    return generator.choice({"name": NAMES, "item": ITEMS, "color": COLORS}[field])


# The supervised warm-up before GRPO, in which the model imitates sloppy demonstrations.


BATCH = 32
"""The number of pairs per batch. The number is arbitrary, because the model is so small that a batch takes
milliseconds."""
# The rate for the smallest model; wider models have lower rates (`Size.learning_rate_factor`).
LEARNING_RATE = 3e-3
# The share of steps with a rising rate. A tenth is usual: without it, Adam's first steps are too large.
RISING_SHARE = 0.1
# The label that PyTorch's cross entropy ignores.
IGNORED = -100


def warm_up(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    pairs: Sequence[tuple[str, str]],
    *,
    learning_rate: float = LEARNING_RATE,
    on_step: Callable[[float], None] = lambda loss: None,
) -> None:
    """Train for one pass over (prompt, completion) pairs. Call `on_step` with the loss for each batch."""
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
    warm_up_steps = max(1, round(RISING_SHARE * steps))
    if step < warm_up_steps:
        return (step + 1) / warm_up_steps
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up_steps) / max(1, steps - warm_up_steps)))


def _encode(tokenizer: PreTrainedTokenizerFast, prompt: str, completion: str) -> tuple[list[int], list[int]]:
    """Return token ids and labels. Prompt tokens are ignored, so only the completion and its end token are learned."""
    # Tokenized separately, as in generation: tokenized together, prompt and completion might share a token.
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


# A prompt ends with a line break, as in the warm-up.
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'].rstrip('\\n') }}\n{% endfor %}"
MOST_THREADS = 2
"""The maximum number of CPU threads. The limit is arbitrary, but low because distributing such small operations over
many threads takes longer."""
VOCABULARY_FROM = 2_000
"""The minimum number of demonstrations for training the tokenizer, even if the warm-up is short. The number is
arbitrary, but with fewer demonstrations, some words in orders would be missing from the vocabulary and become single
bytes."""


def make_tiny(
    folder: Path, *, seed: int, steps: int, chat_template: str | None, on_step: OnStep, size: str = "small"
) -> None:
    """Build the model and its tokenizer. `folder` appears only when it is complete.

    Args:
        steps: the number of supervised warm-up steps. With 0, the weights stay random.
        chat_template: the chat template, or None for a template that writes each message's content on a separate line.
        size: a key of ``SIZES``.
    """
    if size == "small" and "OMP_NUM_THREADS" not in os.environ and not torch.cuda.is_available():
        torch.set_num_threads(min(MOST_THREADS, torch.get_num_threads()))
    set_seed(seed)
    pairs = demonstrations(max(VOCABULARY_FROM, steps * BATCH), seed=seed)
    tokenizer = train_tokenizer([text for pair in pairs for text in pair])
    tokenizer.chat_template = chat_template or CHAT_TEMPLATE
    model: Any = build_model(tokenizer, SIZES[size]).to("cuda" if torch.cuda.is_available() else "cpu")
    rate = LEARNING_RATE * SIZES[size].learning_rate_factor
    warm_up(model, tokenizer, pairs[: steps * BATCH], learning_rate=rate, on_step=lambda loss: on_step({"loss": loss}))
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    unfinished.rename(folder)
