"""What is logged and warned about besides scores: late changes, parts."""

from __future__ import annotations

import warnings

import pytest

import rewardkit as rk
from tests.adapters.rewardkit_trl.stand_ins import StandInTrainer, polite, short


def test_a_schedule_beyond_the_end_is_a_warning_at_the_first_call() -> None:
    late = rk.schedules.linear(0.0, 1.0, start=50, end=80)
    trainer = StandInTrainer(rk.to_trl(short + late * polite), max_steps=20)
    with pytest.warns(rk.RewardKitWarning, match=r"'polite': .* at step 51, but this training has 20 steps"):
        trainer.rewards(["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer.rewards(["b"])
        StandInTrainer(rk.to_trl(short + late * polite), max_steps=100).rewards(["a"])


def test_a_stage_beyond_the_end_is_a_warning_even_without_logs() -> None:
    stages = rk.curriculum(rk.Stage("form", short, until=50), rk.Stage("rest", polite))
    trainer = StandInTrainer(rk.to_trl(stages, logs=False), max_steps=20)
    with pytest.warns(rk.RewardKitWarning, match="stage 'form' ends at step 50, but this training has 20 steps"):
        trainer.rewards(["a"])
