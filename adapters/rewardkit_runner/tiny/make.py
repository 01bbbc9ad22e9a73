"""Make the tiny model and its tokenizer in a folder; the same seed gives the same model."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import set_seed

from rewardkit_runner.display.progress import OnStep
from rewardkit_runner.tiny.demonstrations import demonstrations
from rewardkit_runner.tiny.model import SIZES, build_model, train_tokenizer
from rewardkit_runner.tiny.warmup import BATCH, LEARNING_RATE, warm_up

# A prompt ends with a line break, as in the warm start.
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'].rstrip('\\n') }}\n{% endfor %}"
MOST_THREADS = 2
VOCABULARY_FROM = 2_000
"""The tokenizer is trained on at least this many demonstrations, however short the warm start is."""


def make_tiny(
    folder: Path, *, seed: int, steps: int, chat_template: str | None, on_step: OnStep, size: str = "small"
) -> None:
    """Make the model and its tokenizer. `folder` appears only once it is complete.

    Args:
        steps: of the supervised warm start; 0 leaves the weights random.
        chat_template: None: the content of the messages, one line each.
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
