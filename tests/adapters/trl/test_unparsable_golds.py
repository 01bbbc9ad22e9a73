"""Real GRPO trainings on data with golds that cannot be read: stray ones are masked, a wrong column stops the run."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset

import rewardkit as rk

pytest.importorskip("trl")
from tests.adapters.trl import tiny
from tests.adapters.trl.by_hand import watched
from tests.adapters.trl.stand_ins import StandInTrainer
from tests.adapters.trl.test_training import early, generations

REWARD = 0.5 * rk.number("answer") + early


def data(answers: list[Any]) -> Any:
    return Dataset.from_dict(
        {"prompt": [tiny.PROMPTS[row % 8] for row in range(len(answers))], "answer": list(map(str, answers))}
    )


def train(out: Path, answers: list[Any], reward: Any = REWARD, **options: Any) -> tuple[Any, Any, Any]:
    functions = rk.to_trl(reward, record=out / "run")
    given = {"train_dataset": data(answers), **options.pop("given", {})}
    trainer = tiny.trainer(out, functions, given=given, **{"max_steps": 25, **options})
    seen = watched(trainer)
    return functions, trainer, seen


@pytest.mark.slow
def test_one_unreadable_gold_in_fifty_rows_is_masked_counted_and_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers = ["N/A" if row == 17 else row for row in range(50)]
    functions, trainer, seen = train(tmp_path, answers)
    with caplog.at_level(logging.WARNING, "rewardkit"):
        trainer.train()
    assert trainer.state.global_step == 25  # an epoch
    entries = generations(trainer)
    lost = 0
    for generation, entry in zip(seen, entries, strict=True):
        masked = np.isnan(generation.columns["number"])
        assert (generation.advantages[masked] == 0.0).all()
        assert np.isnan(generation.columns["early"][masked]).all()  # no other term trains the row
        assert np.count_nonzero(generation.advantages[~masked]) > 0 or not generation.columns["early"][~masked].any()
        assert entry["unscorable"] == pytest.approx(masked.mean())
        assert entry.get("unparsable_gold/number", 0.0) == pytest.approx(masked.mean())
        assert "failed/number" not in entry
        lost += int(masked.sum())
    assert lost == 4  # its completions
    (message,) = [one.getMessage() for one in caplog.records if one.name == "rewardkit"]
    assert "column 'answer': 'N/A' cannot be parsed" in message
    assert "row " in message
    functions.flush()
    run = rk.open_run(tmp_path / "run")
    assert run.sql("select count(*) from scores where \"outcomes/number\" = 'failed'").fetchall() == [(lost,)]
    logs = run.logs().df()
    assert logs[logs.kind == "fault"]["count"].sum() == lost


@pytest.mark.slow
def test_a_wrong_column_stops_the_run_in_its_first_batch(tmp_path: Path) -> None:
    solutions = [f"Add {row} and {row}: it is #### {2 * row}" for row in range(50)]
    _, trainer, _ = train(tmp_path, solutions, save_strategy="steps", save_steps=1)
    with pytest.raises(rk.errors.CoercionError) as caught:
        trainer.train()
    assert trainer.state.global_step == 0
    assert "reward 'number' cannot read any gold answer in its first batch: column 'answer': 'Add " in str(caught.value)
    assert "gold=" in str(caught.value)
    assert not list(tmp_path.glob("checkpoint-*"))


@pytest.mark.slow
def test_a_wrong_column_with_one_prompt_in_a_batch_stops_in_the_second(tmp_path: Path) -> None:
    _, trainer, _ = train(
        tmp_path, ["N/A", "none"] * 4, per_device_train_batch_size=4, save_strategy="steps", save_steps=100
    )
    with pytest.raises(rk.errors.CoercionError, match="in its first batches"):
        trainer.train()
    assert trainer.state.global_step == 2
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-2"]


@pytest.mark.slow
def test_a_bad_gold_in_a_first_batch_of_one_prompt_stops_nothing(tmp_path: Path) -> None:
    _, trainer, _ = train(
        tmp_path, ["N/A", "1", "2", "3"], per_device_train_batch_size=4, max_steps=4, shuffle_dataset=False
    )
    trainer.train()
    assert [entry["unscorable"] for entry in generations(trainer)] == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.slow
def test_the_evaluation_of_a_training_masks_them_too(tmp_path: Path) -> None:
    evaluation = {"eval_strategy": "steps", "eval_steps": 2, "given": {"eval_dataset": data(["1", "N/A"])}}
    _, trainer, _ = train(tmp_path, list(range(8)), max_steps=4, **evaluation)
    trainer.train()
    entries = [entry for entry in trainer.state.log_history if "eval_reward" in entry]
    assert [entry["eval_unparsable_gold/number"] for entry in entries] == [0.5, 0.5]
    assert [entry["eval_unscorable"] for entry in entries] == [0.5, 0.5]


@pytest.mark.slow
def test_an_evaluation_without_golds_stops_a_training_only_before_it_begins(tmp_path: Path) -> None:
    evaluation = {"eval_strategy": "steps", "eval_steps": 2, "given": {"eval_dataset": data(["none", "N/A"])}}
    _, trainer, _ = train(tmp_path, list(range(8)), max_steps=4, **evaluation)
    trainer.train()
    assert trainer.state.global_step == 4
    _, trainer, _ = train(tmp_path / "first", list(range(8)), max_steps=4, eval_on_start=True, **evaluation)
    with pytest.raises(rk.errors.CoercionError, match="cannot read any gold answer in its first batch"):
        trainer.train()


def test_more_than_the_failure_limit_of_bad_golds_is_no_outage() -> None:
    functions = rk.to_trl(REWARD, limits=rk.Limits(failure_window=2))
    trainer = StandInTrainer(functions)
    for _ in range(6):
        totals = trainer.rewards(["a b"] * 4, answer=["1", "1", "N/A", "N/A"])
        assert np.isnan(totals).tolist() == [False, False, True, True]
    assert trainer.callbacks == []
    assert trainer.metrics()["unparsable_gold/number"] == 0.5


@pytest.mark.slow
def test_the_radar_does_not_stumble_over_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from rewardkit.online import radar

    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING, "rewardkit"):
        patch.setattr(radar, "SHARE", 1e9)  # it looks at each batch
        _, trainer, _ = train(tmp_path, ["N/A" if row % 5 == 0 else row for row in range(50)], max_steps=12)
        trainer.train()
    assert not any("the radar has been switched off" in one.getMessage() for one in caplog.records)
    assert any("radar/strength" in entry for entry in generations(trainer))
