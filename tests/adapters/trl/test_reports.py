"""What is logged and warned about besides scores: late changes, parts."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit_adapters.trl.evaluator import MAX_PARTS
from tests.adapters.trl.stand_ins import StandInTrainer, polite, short


def test_a_schedule_beyond_the_end_is_a_warning_at_the_first_call() -> None:
    late = rk.schedules.linear(0.0, 1.0, start=50, end=80)
    trainer = StandInTrainer(rk.to_trl(short + late * polite), max_steps=20)
    with pytest.warns(
        rk.errors.RewardKitWarning,
        match=r"'polite': .* at step 51, but this training "
        r"run has only 20 steps",
    ):
        trainer.rewards(["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer.rewards(["b"])
        StandInTrainer(rk.to_trl(short + late * polite), max_steps=100).rewards(["a"])


def test_a_stage_beyond_the_end_is_a_warning_even_without_logs() -> None:
    stages = rk.curriculum(rk.Stage("form", short, until=50), rk.Stage("rest", polite))
    trainer = StandInTrainer(rk.to_trl(stages, logs=False), max_steps=20)
    with pytest.warns(
        rk.errors.RewardKitWarning, match="stage 'form' ends at step 50, but this training run has only 20 steps"
    ):
        trainer.rewards(["a"])


@rk.reward
def rubric(completion: str) -> rk.Score:
    parts = {"length": len(completion) / 10, **({"please": 1.0} if "please" in completion else {})}
    return rk.Score(sum(parts.values()) / 2, parts=parts)


def test_parts_are_logged_and_recorded_beside_components(tmp_path: Path) -> None:
    functions = rk.to_trl(rubric + short, record=tmp_path / "run")
    trainer = StandInTrainer(functions)
    trainer.rewards(["aa", "please", "", "pleaseplea"])
    logged = trainer.metrics()
    assert logged["parts/rubric/length"] == pytest.approx((0.2 + 0.6 + 0.0 + 1.0) / 4)
    assert logged["parts/rubric/please"] == 1.0
    functions.flush()
    parts = rk.open_run(tmp_path / "run").sql('select "parts/rubric/length" from completions order by "row"').fetchall()
    assert [value for (value,) in parts] == pytest.approx([0.2, 0.6, 0.0, 1.0])


def test_parts_with_ever_new_names_do_not_flood_the_log() -> None:
    @rk.reward
    def wordy(completion: str) -> rk.Score:
        return rk.Score(0.5, parts={f"{completion}{number}": 1.0 for number in range(50)})

    trainer = StandInTrainer(rk.to_trl(wordy))
    trainer.rewards(["a", "b", "c", "d"])
    assert len([name for name in trainer.metrics() if name.startswith("parts/")]) == MAX_PARTS
