"""GRPO on the demo's task, with TRL's own trainer; everything it logs goes to the caller, nothing to the screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerFast, PrinterCallback, ProgressCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from rewardkit_runner.display.metrics import Metrics, numbers

COMPLETIONS_PER_STEP = 64
GENERATIONS_PER_PROMPT = 8
PROMPTS_PER_STEP = COMPLETIONS_PER_STEP // GENERATIONS_PER_PROMPT
LONGEST_COMPLETION = 32
LEARNING_RATE = 3e-4


@dataclass(frozen=True)
class Settings:
    """What the user can choose about the training."""

    steps: int
    seed: int
    learning_rate: float = LEARNING_RATE


class LogReader(TrainerCallback):
    """Keeps the numbers of every step and hands them on as they come."""

    def __init__(self, on_step: Callable[[Metrics], None]) -> None:
        self.history: list[Metrics] = []
        self._on_step = on_step

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        # The trainer's closing summary comes through here as well; only steps have a reward.
        if not logs or "reward" not in logs:
            return
        self.history.append({"step": float(state.global_step), **numbers(logs)})
        self._on_step(self.history[-1])


def train(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    reward_funcs: Any,
    columns: dict[str, list[str]],
    settings: Settings,
    *,
    out: Path,
    on_step: Callable[[Metrics], None] = lambda metrics: None,
) -> list[Metrics]:
    """Train `model` in place; the metrics of every step. `reward_funcs` is what ``rk.to_trl`` returns."""
    reader = LogReader(on_step)
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=reward_funcs,
        args=configuration(settings, out),
        train_dataset=Dataset.from_dict(columns),
        callbacks=[reward_funcs.callback(), reader],
    )
    for noisy in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(noisy)
    trainer.train()
    return reader.history


def configuration(settings: Settings, out: Path, **others: Any) -> GRPOConfig:
    """One generation per step; no reference model, no checkpoints, no reports. `others` win over what stands here."""
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
    return GRPOConfig(**own | others)
