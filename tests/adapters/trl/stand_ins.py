"""Rewards to test with, and a trainer in which only the part that calls reward functions is real."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rewardkit as rk
from rewardkit.batch.column import Floats

if TYPE_CHECKING:
    import torch


without_trainer = pytest.mark.filterwarnings("ignore:this call does not come from a known trainer")
"""For tests that call functions of a scheduled reward by hand."""


@rk.reward
def short(completion: str) -> float:
    """1 for the empty text, less for every character."""
    return 1.0 / (1.0 + len(completion))


@rk.reward(bounds=(-1.0, 1.0))
def polite(completion: str) -> float:
    return 1.0 if "please" in completion else -1.0


@rk.reward
def close(completion: str, answer: float) -> float:
    return 1.0 / (1.0 + abs(len(completion) - answer))


@rk.reward
async def slow(completion: str) -> float:
    return float(len(completion) % 2)


@rk.reward
def unjudged(completion: str) -> float:
    """Fails on every text that asks for it, like a judge that is down."""
    if "down" in completion:
        raise rk.RewardFailure("the judge is down")
    return 0.5


def plain(completions: list[str], **kwargs: Any) -> list[float]:
    """A TRL reward function."""
    return [float(len(text)) for text in completions]


def call(functions: Sequence[Any], completions: list[Any], **columns: Any) -> dict[str, Floats]:
    """Call each function with the same lists, as a trainer does; return float64 with NaN for None."""
    columns.setdefault("prompts", ["p"] * len(completions))
    columns.setdefault("completion_ids", [[1]] * len(completions))
    return {
        function.__name__: np.array(function(completions=completions, **columns), dtype=np.float64)
        for function in functions
    }


def called_elsewhere(functions: Sequence[Any]) -> None:
    """Call the functions as a spawned process does, in a module that does not import TRL."""
    call(functions, ["a", "b"])


def trl_total(columns: Sequence[Floats], weights: Sequence[float]) -> Floats:
    """Return the sum as in TRL: float32, nansum, and NaN if every function returned None."""
    import torch

    rewards_per_func = torch.tensor(np.array(columns).T, dtype=torch.float32).reshape(-1, len(columns))
    return aggregated(rewards_per_func, torch.tensor(weights, dtype=torch.float32))


def aggregated(rewards_per_func: torch.Tensor, reward_weights: torch.Tensor) -> Floats:
    """The lines of GRPOTrainer that follow `_calculate_rewards`."""
    import torch

    unscorable_mask = torch.isnan(rewards_per_func).all(dim=1)
    rewards = (rewards_per_func * reward_weights.unsqueeze(0)).nansum(dim=1)
    rewards[unscorable_mask] = torch.nan
    return np.asarray(rewards.tolist(), dtype=np.float64)


@cache
def _event_loop() -> Any:
    from trl.trainer.utils import start_event_loop_in_daemon

    _, loop, started = start_event_loop_in_daemon()
    started.wait()
    return loop


class StandInTrainer:
    """Calls reward functions with the code of GRPOTrainer, without a model."""

    def __init__(
        self,
        reward_funcs: list[Any],
        *,
        reward_weights: Sequence[float] | None = None,
        training: bool = True,
        step: int = 0,
        max_steps: int = 10,
        num_generations: int | None = 2,
        num_generations_eval: int | None = None,
        aggregation: str = "sum_then_normalize",
    ) -> None:
        import torch
        from trl.trainer.utils import get_callable_name

        pytest.importorskip("accelerate").PartialState()  # TRL's logger asks it for the rank
        self.reward_funcs = reward_funcs
        self.reward_func_names = [get_callable_name(function) for function in reward_funcs]
        self.reward_processing_classes = [None] * len(reward_funcs)
        self.reward_weights = torch.tensor(reward_weights or [1.0] * len(reward_funcs), dtype=torch.float32)
        self.model = SimpleNamespace(training=training)
        self.state = SimpleNamespace(global_step=step, max_steps=max_steps)
        self.num_generations = num_generations
        self.num_generations_eval = num_generations_eval or num_generations
        self.multi_objective_aggregation = aggregation
        self.log_completions = True
        self.environments = None
        self.tools: Any = None
        self.args = SimpleNamespace(report_to=[])
        self.accelerator = SimpleNamespace(device=torch.device("cpu"), is_main_process=True, num_processes=1)
        self.async_loop = _event_loop()
        self.callbacks: list[Any] = []
        self._pending_extra_logs: dict[str, list[Any]] = defaultdict(list)
        self._pending_metrics: dict[str, list[float]] = defaultdict(list)

    def _log_completion_extra(self, column: str, values: list[Any]) -> None:
        self._pending_extra_logs[column].extend(values)

    def _log_metric(self, name: str, value: float) -> None:
        self._pending_metrics[name].append(value)

    def add_callback(self, callback: Any) -> None:
        self.callbacks.append(callback)

    def rewards_per_function(
        self, completions: list[Any], prompts: list[Any] | None = None, **columns: list[Any]
    ) -> torch.Tensor:
        """(n, functions) by the real `_calculate_rewards`."""
        from trl import GRPOTrainer

        prompts = prompts or ["p"] * len(completions)
        inputs = [
            {"prompt": prompt, **{name: values[row] for name, values in columns.items()}}
            for row, prompt in enumerate(prompts)
        ]
        ids = [[1, 2, 3]] * len(completions)
        rewards: torch.Tensor = GRPOTrainer._calculate_rewards(self, inputs, prompts, completions, ids)
        return rewards

    def rewards(self, completions: list[Any], prompts: list[Any] | None = None, **columns: list[Any]) -> Floats:
        """(n,) the reward of each completion, NaN where it is unscorable."""
        return aggregated(self.rewards_per_function(completions, prompts, **columns), self.reward_weights)

    def metrics(self) -> dict[str, float]:
        """What was logged since the last time, averaged as TRL does it."""
        logged = {name: sum(values) / len(values) for name, values in self._pending_metrics.items()}
        self._pending_metrics.clear()
        return logged

    def extras(self) -> dict[str, list[Any]]:
        """The columns of the completions log since the last time."""
        logged = dict(self._pending_extra_logs)
        self._pending_extra_logs.clear()
        return logged
