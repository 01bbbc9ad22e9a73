"""Shared code of the recipes that train: a task, a model, GRPO with TRL, and tables of the results.

The tiny model is the one of ``rewardkit demo``: half a million weights, made on the spot, warmed up on sloppy
demonstrations. Any other model comes from a path or a hub; its prompts start with an instruction.
"""

from __future__ import annotations

import argparse
import copy
import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rewardkit_adapters.runner.environment import VARIABLES, quiet
from rewardkit_adapters.runner.metrics import Metrics, history
from rewardkit_adapters.runner.tiny import make as demonstrations
from rewardkit_adapters.runner.tiny.make import Split, examples

Row = dict[str, Any]
HELD_OUT_PROMPTS = 64
PARTS = 5
COMPLETIONS_PER_STEP = 64
GENERATIONS_PER_PROMPT = 8
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
ORDER = (
    'Turn the order into JSON with the fields "name", "qty" (a number), "item" (singular) and "color". '
    "Answer with the JSON object alone.\n\n"
)


@dataclass(frozen=True)
class Task:
    """Where rows come from, and the demonstrations for the tiny model's warm start.

    Args:
        rows: ``(count, seed, split)`` -> dataset rows: ``prompt``, gold columns, and ``instruction``, the text
            before the prompt for a model without a warm start.
        demonstrations: ``(count, seed)`` -> pairs of a prompt and a completion.
    """

    rows: Callable[[int, int, Split], list[Row]]
    demonstrations: Callable[[int, int], list[tuple[str, str]]]


def _orders(count: int, seed: int, split: Split) -> list[Row]:
    drawn = examples(count, seed=seed, split=split)
    return [{"instruction": ORDER, "prompt": one.prompt, "order": one.order.to_json()} for one in drawn]


ORDERS = Task(_orders, lambda count, seed: demonstrations.demonstrations(count, seed=seed))
"""``send Mia 31 toys in red`` becomes ``{"name":"Mia","qty":31,"item":"toy","color":"red"}``, column ``order``."""


@dataclass(frozen=True)
class Run:
    """One training: the metrics of each step, and of the held-out prompts before and after."""

    history: list[Metrics]
    before: Metrics
    after: Metrics

    def course(self, metric: str) -> list[float]:
        """Return the mean of a metric over each fifth of the training; NaN if nothing was logged."""
        logged = [[row[metric] for row in self.history[a:b] if metric in row] for a, b in self._spans]
        return [sum(values) / len(values) if values else math.nan for values in logged]

    def over_time(self, *metrics: str) -> dict[str, Sequence[Any]]:
        """Return a table of metrics over time, under the names that TRL logs them by."""
        steps = [f"{first + 1}-{last}" for first, last in self._spans]
        return {"steps": steps, **{metric: self.course(metric) for metric in metrics}}

    def held_out(self, *metrics: str) -> dict[str, Sequence[Any]]:
        """Return a table: before and after, on held-out prompts, sampled at temperature 1."""
        before = [self.before.get(f"eval_{metric}", math.nan) for metric in metrics]
        after = [self.after.get(f"eval_{metric}", math.nan) for metric in metrics]
        return {"held out": metrics, "before": before, "after": after}

    @property
    def _spans(self) -> list[tuple[int, int]]:
        steps = len(self.history)
        return list(pairwise(round(part * steps / min(PARTS, steps)) for part in range(min(PARTS, steps) + 1)))


def options(description: str | None, arguments: Sequence[str] | None = None, *, steps: int = 100) -> argparse.Namespace:
    """Parse the options that all recipes share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="tiny", help="tiny (made on the spot), or a path or hub id: %(default)s")
    parser.add_argument("--steps", type=int, default=steps, help="of GRPO, 64 completions each: %(default)s")
    parser.add_argument("--warm-up", type=int, default=350, help="supervised steps of the tiny model: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--out", type=Path, default=Path("runs/cookbook"), help="for records and checkpoints: %(default)s"
    )
    found = parser.parse_args(arguments)
    if found.model == "tiny":  # before torch and the hub's library load
        for name, value in {**VARIABLES, **OFFLINE, "CUDA_VISIBLE_DEVICES": "0"}.items():
            os.environ.setdefault(name, value)
    return found


def train(reward_funcs: Any, task: Task, chosen: argparse.Namespace, **settings: Any) -> Run:
    """Train on `task` with GRPO. `settings` go to GRPOConfig; `reward_funcs` is what ``rk.to_trl`` returns."""
    from datasets import Dataset
    from rich.console import Console
    from transformers import PrinterCallback, ProgressCallback
    from trl import GRPOTrainer

    from rewardkit_adapters.runner.live_display import ShowProgress

    model, tokenizer = model_of(task, chosen)

    def dataset(count: int, split: Split) -> Any:
        return Dataset.from_list(rows_of(task, chosen, tokenizer, count, split))

    # One generation more than the steps need: the trainer drops an incomplete last one.
    prompts = (chosen.steps + 1) * COMPLETIONS_PER_STEP // GENERATIONS_PER_PROMPT
    with quiet():
        trainer = GRPOTrainer(
            model,
            reward_funcs,
            args=_arguments(chosen, **settings),
            train_dataset=dataset(prompts, "training"),
            eval_dataset=dataset(HELD_OUT_PROMPTS, "held-out"),
            processing_class=tokenizer,
            callbacks=[reward_funcs.callback(), ShowProgress(Console(stderr=True))],
        )
        for noisy in (PrinterCallback, ProgressCallback):
            trainer.remove_callback(noisy)
        trainer.evaluate()
        before = dict(trainer.state.log_history[-1])
        trainer.train()
        trainer.evaluate()
    return Run(history(trainer.state.log_history), before, dict(trainer.state.log_history[-1]))


def model_of(task: Task, chosen: argparse.Namespace) -> tuple[Any, Any]:
    """Return the model to train and its tokenizer: the tiny one after its warm start, or the name of another one."""
    from transformers import AutoTokenizer

    if chosen.model == "tiny":
        return copy.deepcopy(_warm(task, chosen.warm_up, chosen.seed))
    return chosen.model, AutoTokenizer.from_pretrained(chosen.model, padding_side="left")


def rows_of(task: Task, chosen: argparse.Namespace, tokenizer: Any, count: int, split: Split) -> list[Row]:
    """Return rows of the task; a model without a warm start gets an instruction in front of each prompt."""
    rows = task.rows(count, chosen.seed, split)
    return rows if chosen.model == "tiny" else [_with_instruction(row, tokenizer) for row in rows]


def _arguments(chosen: argparse.Namespace, **settings: Any) -> Any:
    """Return a GRPOConfig with one generation per step and without checkpoints; `settings` replace its fields."""
    import torch
    from trl import GRPOConfig

    is_tiny, gpu = chosen.model == "tiny", torch.cuda.is_available()
    own = {
        "output_dir": str(chosen.out),
        "max_steps": chosen.steps,
        "seed": chosen.seed,
        "per_device_train_batch_size": COMPLETIONS_PER_STEP,
        "per_device_eval_batch_size": COMPLETIONS_PER_STEP,
        "num_generations": GENERATIONS_PER_PROMPT,
        "max_completion_length": 32 if is_tiny else 64,
        "temperature": 1.0,
        "beta": 0.0,
        "learning_rate": 3e-4 if is_tiny else 2e-6,
        "lr_scheduler_type": "constant_with_warmup",
        "warmup_steps": 5,
        # GRPOConfig turns bf16 on by default, and then needs a GPU.
        "bf16": gpu and torch.cuda.is_bf16_supported(),
        "use_cpu": not gpu,
        "dataloader_pin_memory": gpu,
        "gradient_checkpointing": not is_tiny,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }
    return GRPOConfig(**own | settings)


def table(columns: Mapping[str, Sequence[Any]]) -> None:
    """Print columns of numbers and words, aligned."""
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    cells = [[_shown(value) for value in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
    print()


@functools.cache
def _warm(task: Task, steps: int, seed: int) -> tuple[Any, Any]:
    """Return the tiny model after its warm start, and its tokenizer."""
    import torch
    from rich.console import Console
    from transformers import set_seed

    from rewardkit_adapters.runner.progress import shown_progress
    from rewardkit_adapters.runner.tiny import make as warmup, model as tiny

    torch.set_num_threads(min(2, torch.get_num_threads()))  # the tiny model has no work for more
    set_seed(seed)
    pairs = task.demonstrations(steps * warmup.BATCH, seed)
    tokenizer = tiny.train_tokenizer([text for pair in pairs for text in pair])
    model = tiny.build_model(tokenizer, tiny.SIZES["small"])
    with shown_progress(Console(stderr=True), "warm start", steps) as on_step:
        warmup.warm_up(model, tokenizer, pairs, on_step=lambda loss: on_step({"loss": loss}))
    return model, tokenizer


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.2f}"
    return str(value)


def _with_instruction(row: Row, tokenizer: Any) -> Row:
    """Put the instruction into the prompt: a chat if the model has a chat template, else plain text."""
    words = row["instruction"] + row["prompt"]
    chat = [{"role": "user", "content": words.strip()}]
    return {**row, "prompt": chat if tokenizer.chat_template else words}
