"""``model: tiny``: the small model of ``rewardkit demo``, made on the spot, the same for the same seed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import torch
from transformers import set_seed

from rewardkit_runner.demo.demonstrations import demonstrations
from rewardkit_runner.demo.model import SIZES, build_model, train_tokenizer
from rewardkit_runner.demo.warmup import BATCH, warm_up
from rewardkit_runner.display.progress import OnStep

# What is said to it ends with a line break, as in its warm start.
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'].rstrip('\\n') }}\n{% endfor %}"
SIZE = "small"
MOST_THREADS = 2
VOCABULARY_FROM = 2_000
"""Demonstrations that the tokenizer is made of at least, however short the warm start is."""


def make(folder: Path, *, seed: int, steps: int, chat_template: str | None, on_step: OnStep) -> None:
    """Makes the model and its tokenizer in `folder`, all at once: what is there is complete.

    Args:
        steps: of the supervised warm start; 0 leaves random weights.
        chat_template: None for the content of the messages, a line each.
    """
    if "OMP_NUM_THREADS" not in os.environ and not torch.cuda.is_available():
        torch.set_num_threads(min(MOST_THREADS, torch.get_num_threads()))
    set_seed(seed)
    pairs = demonstrations(max(VOCABULARY_FROM, steps * BATCH), seed=seed)
    tokenizer = train_tokenizer([text for pair in pairs for text in pair])
    tokenizer.chat_template = chat_template or CHAT_TEMPLATE
    model: Any = build_model(tokenizer, SIZES[SIZE]).to("cuda" if torch.cuda.is_available() else "cpu")
    warm_up(model, tokenizer, pairs[: steps * BATCH], on_step=lambda loss: on_step({"loss": loss}))
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    unfinished.rename(folder)
