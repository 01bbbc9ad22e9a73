"""TRL with five plain reward functions, run in its trainer's own loop.

``GRPOTrainer._calculate_rewards`` is TRL's own code. The trainer is never initialized and has only the attributes that
this method reads. There are three versions of the functions: one on fast libraries, and the two of `rubric_slow`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from accelerate import PartialState
from transformers import TrainerState
from trl import GRPOTrainer

from benchmarks.speed import rubric_components as fast
from benchmarks.speed.rubric_measurement import Columns, Contestant
from benchmarks.speed.rubric_workload import COMPONENTS, GENERATIONS, WEIGHTS, Workload

FAST = "TRL, fast libraries"
VALIDATE = "TRL, jsonschema.validate"
PREPARED = "TRL, jsonschema prepared"

RewardFunction = Callable[..., list[float]]
Call = tuple[GRPOTrainer, list[dict[str, Any]], list[str], list[str], list[list[int]]]


def make_trainer(functions: Sequence[Callable[..., Any]], weights: Sequence[float]) -> GRPOTrainer:
    """Make a trainer that can only calculate rewards."""
    trainer = object.__new__(GRPOTrainer)
    trainer.accelerator = PartialState(cpu=True)
    trainer.args = SimpleNamespace(report_to=[], num_generations=GENERATIONS)
    trainer.model = SimpleNamespace(training=True)
    trainer.state = TrainerState(global_step=10, max_steps=100)
    trainer.num_generations = trainer.num_generations_eval = GENERATIONS
    trainer.environments = None
    trainer.log_completions = False  # GRPOConfig's default
    trainer.reward_funcs = list(functions)
    trainer.reward_processing_classes = [None] * len(functions)
    trainer.reward_func_names = [function.__name__ for function in functions]
    trainer.reward_weights = torch.tensor(weights)
    trainer._pending_metrics = defaultdict(list)
    trainer._pending_extra_logs = defaultdict(list)
    return trainer


def prepare_call(trainer: GRPOTrainer, workload: Workload) -> Call:
    """Return the trainer and its arguments to ``_calculate_rewards`` for one generation batch."""
    inputs = [
        {"prompt": prompt, "total": total} for prompt, total in zip(workload.prompts, workload.totals, strict=True)
    ]
    return trainer, inputs, workload.prompts, workload.completions, workload.completion_ids()


def calculate_rewards(call: Call) -> torch.Tensor:
    """Run TRL's loop over the reward functions; return (n, functions). Logs are cleared, as after each batch."""
    trainer, inputs, prompts, completions, completion_ids = call
    rewards: torch.Tensor = trainer._calculate_rewards(inputs, prompts, completions, completion_ids)
    trainer._pending_metrics.clear()
    trainer._pending_extra_logs.clear()
    return rewards


def trl_contestant(name: str, make_functions: Callable[[tuple[int, int]], list[RewardFunction]]) -> Contestant:
    """Return a contestant that runs five functions, in the order of COMPONENTS, in TRL's loop."""

    def prepare(workload: Workload) -> Call:
        trainer = make_trainer(make_functions(workload.lengths), [WEIGHTS[component] for component in COMPONENTS])
        return prepare_call(trainer, workload)

    def columns(rewards: torch.Tensor) -> Columns:
        return dict(zip(COMPONENTS, rewards.T.tolist(), strict=True))

    return Contestant(name, prepare, calculate_rewards, columns)


def fast_functions(lengths: tuple[int, int]) -> list[RewardFunction]:
    """Return the functions on re, jiter and jsonschema-rs."""

    def tags(completions: list[str], **kwargs: Any) -> list[float]:
        return [fast.tags(completion) for completion in completions]

    def json_valid(completions: list[str], **kwargs: Any) -> list[float]:
        return [fast.json_valid(completion) for completion in completions]

    def schema(completions: list[str], **kwargs: Any) -> list[float]:
        return [fast.schema(completion) for completion in completions]

    def closeness(completions: list[str], total: list[str], **kwargs: Any) -> list[float]:
        return [fast.closeness(completion, gold) for completion, gold in zip(completions, total, strict=True)]

    def length(completions: list[str], **kwargs: Any) -> list[float]:
        return [fast.length(completion, *lengths) for completion in completions]

    return [tags, json_valid, schema, closeness, length]


def contestants() -> list[Contestant]:
    """Return TRL on fast libraries, and the two versions on jsonschema."""
    from benchmarks.speed.rubric_slow import slow_functions  # needs jsonschema; the other contestants do not

    return [
        trl_contestant(FAST, fast_functions),
        trl_contestant(VALIDATE, lambda lengths: slow_functions(lengths, prepared=False)),
        trl_contestant(PREPARED, lambda lengths: slow_functions(lengths, prepared=True)),
    ]


def _constant(completions: list[str], **kwargs: Any) -> list[float]:
    return [1.0 for _ in completions]


def empty_contestants() -> list[Contestant]:
    """Return five rewards that do nothing, in TRL's loop."""
    trainer = make_trainer([_constant] * 5, [1.0] * 5)
    return [Contestant(FAST, lambda workload: prepare_call(trainer, workload), calculate_rewards)]
