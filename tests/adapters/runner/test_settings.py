"""What GRPOConfig is given over what a configuration says."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl")
from hypothesis import given, strategies as st

from rewardkit_adapters.runner.preflight.batches import batches_of
from rewardkit_adapters.runner.settings import grpo_config, steps_of_generation
from tests.adapters.runner.projects import config

few = st.integers(1, 4)


@given(slices=few, iterations=few, passes=few, every=st.integers(1, 20))
def test_checkpoints_lie_between_two_generations(slices: int, iterations: int, passes: int, every: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        grpo = {
            "steps_per_generation": slices,
            "num_iterations": iterations,
            "gradient_accumulation_steps": passes,
            "save_steps": every,
        }
        run = config(Path(place), grpo=grpo)
    made = grpo_config(run, parameters=None, model_arguments={}, reward_weights=None)
    lasts = steps_of_generation(made)
    assert made.save_steps % lasts == 0
    assert every <= made.save_steps < every + lasts
    batches, _ = batches_of(run, 100)
    assert batches is not None
    assert batches.aligned == lasts


def test_unused_parameters_are_looked_for_only_where_it_is_asked_for(tmp_path: Path) -> None:
    made = grpo_config(config(tmp_path, processes=2), parameters=1, model_arguments={}, reward_weights=None)
    assert made.ddp_find_unused_parameters is False
    asked = config(tmp_path, processes=2, grpo={"ddp_find_unused_parameters": True})
    assert grpo_config(asked, parameters=1, model_arguments={}, reward_weights=None).ddp_find_unused_parameters
