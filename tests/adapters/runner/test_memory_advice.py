"""Out of memory: recognized wherever it comes from, and answered in the numbers of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
import torch

from rewardkit_adapters.runner.memory_advice import advice, is_out_of_memory
from rewardkit_adapters.runner.settings import grpo_config
from tests.adapters.runner.projects import config


def advised(folder: Path, **changes: Any) -> str:
    run = config(folder, **changes)
    return "\n".join(advice(run, grpo_config(run, parameters=1, model_arguments={}, reward_weights=None)))


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory"),
        ValueError("No available memory for the cache blocks. Try increasing `gpu_memory_utilization`"),
        MemoryError(),
    ],
)
def test_it_is_recognized(error: Exception) -> None:
    assert is_out_of_memory(error)


@pytest.mark.parametrize("error", [ValueError("a row is missing"), KeyError("memory"), RuntimeError("shape mismatch")])
def test_nothing_else_is(error: Exception) -> None:
    assert not is_out_of_memory(error)


@pytest.mark.parametrize(("batch", "passes", "half", "more"), [(16, 2, 8, 4), (2, 1, 1, 2), (5, 3, 1, 15)])
def test_half_the_batch_over_twice_the_passes_is_the_same_training(
    batch: int, passes: int, half: int, more: int, tmp_path: Path
) -> None:
    settings = {"per_device_train_batch_size": batch, "gradient_accumulation_steps": passes}
    said = advised(tmp_path, grpo=settings | {"num_generations": batch * passes})
    assert f"{{per_device_train_batch_size: {half}, gradient_accumulation_steps: {more}}}" in said
    assert half * more == batch * passes


def test_only_what_would_help_is_said(tmp_path: Path) -> None:
    everything = advised(tmp_path, grpo={"max_completion_length": 512, "beta": 0.04})
    for part in ("max_completion_length: 256", "gradient_checkpointing: true", "lora: true", "beta: 0.0"):
        assert part in everything
    lean = advised(
        tmp_path,
        lora=True,
        grpo={
            "per_device_train_batch_size": 1,
            "gradient_accumulation_steps": 4,
            "gradient_checkpointing": True,
            "max_completion_length": 32,
        },
    )
    assert lean == ""
