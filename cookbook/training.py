"""What the recipes that train share: a task, the tiny model or a real one, GRPO by TRL, and tables of what happened.

The tiny model is the one of ``rewardkit demo``: half a million weights, made on the spot, warmed up on sloppy
demonstrations. Any other model comes from a path or a hub, and is told in words what the tiny one was shown.
"""

from __future__ import annotations

import argparse
import copy
import functools
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rewardkit_runner.demo import demonstrations, surroundings
from rewardkit_runner.demo.task import Split, examples
from rewardkit_runner.display.metrics import Metrics

Row = dict[str, Any]
HELD_OUT_PROMPTS = 64
PARTS = 5
ORDER = (
    'Turn the order into JSON with the fields "name", "qty" (a number), "item" (singular) and "color". '
    "Answer with the JSON object alone.\n\n"
)


@dataclass(frozen=True)
class Task:
    """Where rows come from, and what the tiny model's warm start imitates.

    Args:
        rows: ``(count, seed, split)`` -> dataset rows: ``prompt``, gold columns, and ``instruction``, what stands
            before the prompt for a model that has not been warmed up.
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
    """A training: what was logged at each step, and on held-out prompts before and after."""

    history: list[Metrics]
    before: Metrics
    after: Metrics

    def course(self, metric: str) -> list[float]:
        """The mean of a metric over each fifth of the training; NaN where nothing was logged."""
        logged = [[row[metric] for row in self.history[a:b] if metric in row] for a, b in self._spans]
        return [sum(values) / len(values) if values else math.nan for values in logged]

    def over_time(self, *metrics: str) -> dict[str, Sequence[Any]]:
        """A table: the courses of metrics, under the names by which TRL logs them."""
        steps = [f"{first + 1}-{last}" for first, last in self._spans]
        return {"steps": steps, **{metric: self.course(metric) for metric in metrics}}

    def held_out(self, *metrics: str) -> dict[str, Sequence[Any]]:
        """A table: before and after, on prompts that are not trained on, sampled at temperature 1."""
        before = [self.before.get(f"eval_{metric}", math.nan) for metric in metrics]
        after = [self.after.get(f"eval_{metric}", math.nan) for metric in metrics]
        return {"held out": metrics, "before": before, "after": after}

    @property
    def _spans(self) -> list[tuple[int, int]]:
        steps = len(self.history)
        return list(pairwise(round(part * steps / min(PARTS, steps)) for part in range(min(PARTS, steps) + 1)))


def options(description: str | None, arguments: Sequence[str] | None = None, *, steps: int = 100) -> argparse.Namespace:
    """What every recipe can be told on the command line."""
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
        for name, value in surroundings.VARIABLES.items():
            os.environ.setdefault(name, value)
    return found


def train(reward_funcs: Any, task: Task, chosen: argparse.Namespace, **settings: Any) -> Run:
    """GRPO on `task`; `settings` go to GRPOConfig, and `reward_funcs` is what ``rk.to_trl`` returns."""
    from datasets import Dataset
    from transformers import AutoTokenizer, PrinterCallback
    from trl import GRPOTrainer

    from rewardkit_runner.demo import training

    tiny = chosen.model == "tiny"
    if tiny:
        model, tokenizer = copy.deepcopy(_warm(task, chosen.warm_up, chosen.seed))
    else:
        model, tokenizer = chosen.model, AutoTokenizer.from_pretrained(chosen.model, padding_side="left")

    def dataset(count: int, split: Split) -> Any:
        rows = task.rows(count, chosen.seed, split)
        return Dataset.from_list(rows if tiny else [_asked(row, tokenizer) for row in rows])

    own = {} if tiny else {"max_completion_length": 64, "gradient_checkpointing": True}
    rate = training.LEARNING_RATE if tiny else 2e-6
    own |= {"per_device_eval_batch_size": training.COMPLETIONS_PER_STEP, **settings}
    with surroundings.quiet():
        reader = training.LogReader(lambda row: _tell(f"{row['step']:.0f}/{chosen.steps}  reward {row['reward']:.2f}"))
        trainer = GRPOTrainer(
            model,
            reward_funcs,
            args=training.configuration(
                training.Settings(chosen.steps, chosen.seed, learning_rate=rate), chosen.out, **own
            ),
            train_dataset=dataset((chosen.steps + 1) * training.PROMPTS_PER_STEP, "training"),
            eval_dataset=dataset(HELD_OUT_PROMPTS, "held-out"),
            processing_class=tokenizer,
            callbacks=[reward_funcs.callback(), reader],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.evaluate()
        before = dict(trainer.state.log_history[-1])
        trainer.train()
        trainer.evaluate()
    _tell("")
    return Run(reader.history, before, dict(trainer.state.log_history[-1]))


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
    """The tiny model that has seen the demonstrations, and its tokenizer."""
    import torch
    from transformers import set_seed

    from rewardkit_runner.demo import model as tiny, warmup

    torch.set_num_threads(surroundings.free_threads("small"))
    set_seed(seed)
    pairs = task.demonstrations(steps * warmup.BATCH, seed)
    tokenizer = tiny.train_tokenizer([text for pair in pairs for text in pair])
    model = tiny.build_model(tokenizer, tiny.SIZES["small"])
    warmup.warm_up(model, tokenizer, pairs, on_step=lambda loss: _tell(f"warm start, loss {loss:.2f}"))
    return model, tokenizer


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.2f}"
    return str(value)


def _asked(row: Row, tokenizer: Any) -> Row:
    """The row with its instruction in the prompt: a chat where the model knows chats, else plain text."""
    words = row["instruction"] + row["prompt"]
    chat = [{"role": "user", "content": words.strip()}]
    return {**row, "prompt": chat if tokenizer.chat_template else words}


def _tell(words: str) -> None:
    """One line that overwrites itself, where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r{words:<60}", end="" if words else "\r", file=sys.stderr, flush=True)
