"""GRPO on the tiny model, with TRL's own trainer: one setup for all arms; greedy completions to compare them by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerFast, PrinterCallback, ProgressCallback
from trl import GRPOConfig, GRPOTrainer

from rewardkit_runner.display.metrics import Metrics, history

COMPLETIONS_PER_STEP = 64
GENERATIONS_PER_PROMPT = 8
PROMPTS_PER_STEP = COMPLETIONS_PER_STEP // GENERATIONS_PER_PROMPT
LONGEST_COMPLETION = 32
LEARNING_RATE = 3e-4


@dataclass(frozen=True)
class Settings:
    """What differs between two trainings."""

    steps: int
    seed: int
    learning_rate: float = LEARNING_RATE


def train(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    reward_funcs: Any,
    columns: dict[str, list[str]],
    settings: Settings,
    *,
    out: Path,
) -> list[Metrics]:
    """Train `model` in place; return the metrics of every step. `reward_funcs` is what ``rk.to_trl`` returns."""
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=reward_funcs,
        args=configuration(settings, out),
        train_dataset=Dataset.from_dict(columns),
        callbacks=[reward_funcs.callback()],
    )
    for noisy in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(noisy)
    trainer.train()
    return history(trainer.state.log_history)


def configuration(settings: Settings, out: Path) -> GRPOConfig:
    """One generation per step; no reference model, no checkpoints, no reports."""
    gpu = torch.cuda.is_available()
    own = {
        "output_dir": str(out),
        "max_steps": settings.steps,
        "seed": settings.seed,
        "per_device_train_batch_size": COMPLETIONS_PER_STEP,
        "num_generations": GENERATIONS_PER_PROMPT,
        "max_completion_length": LONGEST_COMPLETION,
        "temperature": 1.0,
        "beta": 0.0,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": "constant_with_warmup",
        "warmup_steps": 5,
        # GRPOConfig turns bf16 on by itself and then refuses to run without a GPU.
        "bf16": gpu and torch.cuda.is_bf16_supported(),
        "use_cpu": not gpu,
        "dataloader_pin_memory": gpu,
        # The model is small: recomputing activations would cost a quarter of the time and save nothing.
        "gradient_checkpointing": False,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }
    return GRPOConfig(**own)


def complete(
    model: Any, tokenizer: PreTrainedTokenizerFast, prompts: Sequence[str], *, max_new_tokens: int
) -> list[str]:
    """The greedy completion of each prompt."""
    was_training = model.training
    model.eval()
    encoded = tokenizer(list(prompts), return_tensors="pt", padding=True).to(model.device)
    with torch.inference_mode():
        generated = model.generate(
            input_ids=encoded["input_ids"],
            attention_mask=encoded["attention_mask"],
            max_new_tokens=max_new_tokens,
            do_sample=False,
        )
    model.train(was_training)
    completions = generated[:, encoded["input_ids"].shape[1] :]
    return list(tokenizer.batch_decode(completions, skip_special_tokens=True))
