"""The arithmetic of batches is TRL's own: what it refuses, and how many steps it makes of a dataset."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from rewardkit_adapters.runner.config import RunConfig
from rewardkit_adapters.runner.preflight.batches import Batches, batches_of, split_groups


def config(processes: int = 1, **grpo: Any) -> RunConfig:
    given = {"reward": "r.py:r", "model": "tiny", "dataset": "d.jsonl", "processes": processes, "grpo": grpo}
    return RunConfig.model_validate(given)


def told(rows: int, processes: int = 1, **grpo: Any) -> str:
    _, findings = batches_of(config(processes, **grpo), rows)
    return "\n".join(f"{finding.kind}: {finding.what} -> {finding.remedy}" for finding in findings)


small = st.integers(1, 6)


@given(small, small, st.none() | small, st.none() | st.integers(1, 40), st.integers(1, 9))
def test_it_refuses_what_trl_refuses(
    per_device: int, accumulation: int, slices: int | None, size: int | None, generations: int
) -> None:
    from trl import GRPOConfig

    grpo: dict[str, Any] = {
        "per_device_train_batch_size": per_device,
        "gradient_accumulation_steps": accumulation,
        "steps_per_generation": slices,
        "generation_batch_size": size,
        "num_generations": generations,
    }
    batches, findings = batches_of(config(**grpo), rows=10_000)
    try:
        made = GRPOConfig("unused", use_cpu=True, bf16=False, report_to="none", **grpo)
    except ValueError:
        assert batches is None
        assert [finding.kind for finding in findings] == ["error"] * len(findings) != []
    else:
        assert batches is not None
        assert (batches.generated, batches.slices) == (made.generation_batch_size, made.steps_per_generation)


@given(small, small, small, small, st.integers(1, 3), st.integers(1, 60), st.floats(0.1, 3.0))
@settings(deadline=None)
def test_it_counts_the_steps_that_the_trainer_makes(
    per_device: int, accumulation: int, slices: int, prompts: int, iterations: int, rows: int, epochs: float
) -> None:
    from torch.utils.data import DataLoader
    from trl.trainer.utils import RepeatSampler

    assume((per_device * slices) % prompts == 0)
    generations = per_device * slices // prompts
    assume(generations >= 2)
    batches = Batches(per_device, 1, accumulation, slices, iterations, generations, rows, -1, epochs)
    assume(rows >= batches.prompts)
    data = list(range(rows))
    sampler = RepeatSampler(data, generations, batches.prompts, iterations * slices)
    loader: Any = DataLoader(data, batch_size=per_device * slices, sampler=sampler, drop_last=True)  # type: ignore[arg-type]
    # As transformers does: every micro batch of the loader, and one step for what is left over.
    per_epoch = max(len(loader) // accumulation + int(len(loader) % accumulation > 0), 1)
    assert batches.prompts == prompts
    assert batches.steps_per_epoch == per_epoch
    assert batches.steps == math.ceil(epochs * per_epoch)


@given(small, small, small)
def test_a_generation_is_used_up_at_an_aligned_step_and_no_earlier(
    accumulation: int, slices: int, iterations: int
) -> None:
    batches = Batches(2, 1, accumulation, slices, iterations, 2, 100, 50, 1.0)
    ends = [step for step in range(1, 200) if (step * accumulation) % (slices * iterations) == 0]
    assert ends[0] == batches.aligned
    assert all(step % batches.aligned == 0 for step in ends)


def test_all_completions_of_a_training_are_counted() -> None:
    # 4 steps of 2 micro batches; one generation lasts 4 micro batches: 2 generations of 4 x 3 x 2 completions.
    batches, _ = batches_of(
        config(2, per_device_train_batch_size=3, gradient_accumulation_steps=2, steps_per_generation=4, max_steps=4,
               num_generations=8), 100
    )  # fmt: skip
    assert batches is not None
    assert (batches.generated, batches.prompts, batches.completions) == (24, 3, 48)


@pytest.mark.parametrize(
    ("rows", "processes", "grpo", "message"),
    [
        (
            100,
            1,
            {"num_generations": 1},
            "num_generations is 1: GRPO compares the completions for a prompt -> write at",
        ),
        (100, 1, {"per_device_train_batch_size": 0}, "per_device_train_batch_size is 0 -> write at least 1"),
        (100, 1, {"steps_per_generation": 0}, "steps_per_generation is 0 -> write at least 1"),
        (100, 1, {"generation_batch_size": 8, "steps_per_generation": 1}, "set the same value -> delete one"),
        (
            100,
            2,
            {"generation_batch_size": 40},
            "is 40, .* not a multiple of the 16 sequences .* -> write 32, or change",
        ),
        (
            100,
            3,
            {"per_device_train_batch_size": 4},
            r"12 completions are generated at once \(per_device_train_batch_size 4 x processes 3 x "
            r"steps_per_generation 1\), .* num_generations 8 -> write num_generations: 4 or 6, or "
            "per_device_train_batch_size: 8",
        ),
        (
            3,
            1,
            {"per_device_train_batch_size": 32},
            "one generation needs 4 prompts .32 completions, 8 for each prompt., but the dataset has 3: "
            "TRL would train 0 "
            "steps .* write per_device_train_batch_size: 16",
        ),
        (
            100,
            1,
            {"steps_per_generation": 4, "max_steps": 9, "save_steps": 6},
            r"fact: every 8 steps instead of 6 \(save_steps\): one generation lasts 4",
        ),
        (10, 1, {"per_device_train_batch_size": 32, "max_steps": 5}, r"2.5 epochs of 10 prompts \(each epoch skips 2"),
    ],
)
def test_what_does_not_go_together_is_said_with_numbers_that_do(
    rows: int, processes: int, grpo: dict[str, Any], message: str
) -> None:
    assert re.search(message, told(rows, processes, **grpo)), told(rows, processes, **grpo)


def test_what_it_proposes_goes_together() -> None:
    for per_device in (4, 8):
        assert "error" not in told(
            100, 3, per_device_train_batch_size=per_device, num_generations=4 if per_device == 4 else 8
        )
    assert "error" not in told(100, 3, per_device_train_batch_size=4, num_generations=6)
    assert "error" not in told(100, 2, generation_batch_size=32)
    assert "warning" not in told(100, 1, steps_per_generation=4, save_steps=8)


def test_groups_that_lie_in_two_processes_are_named_where_the_reward_compares() -> None:
    batches, _ = batches_of(config(4, per_device_train_batch_size=2), 100)
    assert batches is not None
    (finding,) = split_groups(batches, compares=True)
    assert "compares the 8 completions for a prompt, but each process has 2" in finding.what
    assert "product with 1 is a multiple of 8" in finding.remedy
    assert list(split_groups(batches, compares=False)) == []
    whole, _ = batches_of(config(4, per_device_train_batch_size=8), 100)
    assert whole is not None
    assert list(split_groups(whole, compares=True)) == []


def test_asking_for_defaults_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert batches_of(config(), 100)[0] is not None
