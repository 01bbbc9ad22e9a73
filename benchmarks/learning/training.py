"""GRPO on the tiny model, with TRL's own trainer: one setup for all arms; greedy completions to compare them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerFast, PrinterCallback, ProgressCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from benchmarks.learning.sampling import Awake, Rests
from benchmarks.learning.weights import Following
from rewardkit.analyze.signal import EPSILON
from rewardkit_adapters.runner.metrics import Metrics, history

COMPLETIONS_PER_STEP = 64
GENERATIONS_PER_PROMPT = 8
PROMPTS_PER_STEP = COMPLETIONS_PER_STEP // GENERATIONS_PER_PROMPT
LONGEST_COMPLETION = 32
LEARNING_RATE = 3e-4
SHARE = "advantage_share/"


@dataclass(frozen=True)
class Settings:
    """What differs between two trainings."""

    steps: int
    seed: int
    learning_rate: float = LEARNING_RATE


class Trainer(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer; if it is given `rests`, they choose the prompts, which must all differ."""

    rests: Rests | None = None

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        if self.rests is None:
            return super()._get_train_sampler(dataset)
        ahead = self.args.max_steps + 1  # the loader reads one batch ahead
        return Awake(self.rests, steps=ahead, prompts_per_step=PROMPTS_PER_STEP, generations=GENERATIONS_PER_PROMPT)

    def _calculate_rewards(self, inputs: Any, prompts: Any, completions: Any, completion_ids_list: Any) -> Any:
        rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        if self.rests is not None:
            places = {prompt: place for place, prompt in enumerate(self.train_dataset["prompt"])}
            totals = (rewards * self.reward_weights).nansum(dim=1).view(-1, GENERATIONS_PER_PROMPT)
            for example, spread in zip(inputs[::GENERATIONS_PER_PROMPT], totals.std(dim=1).tolist(), strict=True):
                self.rests.tell(places[example["prompt"]], varied=spread > EPSILON)
        return rewards


class FollowShares(TrainerCallback):  # type: ignore[misc]
    """Read the shares of the advantages in the trainer's log, and set its weights for the next step."""

    def __init__(self, following: Following, trainer: GRPOTrainer) -> None:
        self.following, self.trainer = following, trainer

    def on_log(self, *_: Any, logs: Mapping[str, float], **__: Any) -> None:
        shares = {name: logs[SHARE + name] for name in self.following.start if SHARE + name in logs}
        weights = self.following.update(shares)
        self.trainer.reward_weights[:] = torch.tensor([weights[name] for name in self.trainer.reward_func_names])


def train(
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    reward_funcs: Any,
    columns: dict[str, list[str]],
    settings: Settings,
    *,
    out: Path,
    rests: Rests | None = None,
    following: Following | None = None,
    callbacks: Sequence[TrainerCallback] = (),
) -> list[Metrics]:
    """Train `model` in place; return the metrics of every step. `reward_funcs` is what ``rk.to_trl`` returns."""
    arguments = configuration(settings, out)
    if following is not None:
        arguments.reward_weights = list(following.weights.values())
    trainer = Trainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=reward_funcs,
        args=arguments,
        train_dataset=Dataset.from_dict(columns),
        callbacks=[reward_funcs.callback(), *callbacks],
    )
    trainer.rests = rests
    if following is not None:
        trainer.add_callback(FollowShares(following, trainer))
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
    model: Any, tokenizer: PreTrainedTokenizerFast, prompts: Sequence[str], *, max_new_tokens: int, sample: bool = False
) -> list[str]:
    """Return the greedy completion of each prompt, or one sampled at temperature 1."""
    was_training = model.training
    model.eval()
    encoded = tokenizer(list(prompts), return_tensors="pt", padding=True).to(model.device)
    with torch.inference_mode():
        generated = model.generate(
            input_ids=encoded["input_ids"],
            attention_mask=encoded["attention_mask"],
            max_new_tokens=max_new_tokens,
            do_sample=sample,
            **({"temperature": 1.0, "top_k": 0, "top_p": 1.0} if sample else {}),
        )
    model.train(was_training)
    completions = generated[:, encoded["input_ids"].shape[1] :]
    return list(tokenizer.batch_decode(completions, skip_special_tokens=True))
