"""A run from its configuration to what it leaves: the model, the record, the evaluations, the summary."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")
import torch
from rich.console import Console
from trl import GRPOTrainer

from rewardkit.errors import ConfigError, MissingExtraError
from rewardkit.record.run import open_run
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.evaluate import evaluate
from tests.adapters.runner.projects import (
    STEPS,
    command,
    config,
    in_terminal,
    losses,
    project,
    same_weights,
    steps,
    trained,
)

SHORT = {"max_steps": 2, "save_steps": 100}


@pytest.mark.slow
def test_a_run_leaves_everything_in_its_folder(tmp_path: Path) -> None:
    printed = trained(config(tmp_path))
    out = tmp_path / "out"
    assert steps(out) == list(range(STEPS))
    assert open_run(out).state == "finished"
    assert sorted(path.name for path in (out / "checkpoints").glob("checkpoint-*")) == ["checkpoint-2", "checkpoint-4"]
    assert not same_weights(out / "start", out / "model")
    assert same_weights(out / "checkpoints" / "checkpoint-4", out / "model")
    assert (out / "plot.png").read_bytes().startswith(b"\x89PNG")

    evaluation = json.loads((out / "evaluation.json").read_text())
    assert len(evaluation["rows"]) == 4
    assert evaluation["rows"][0]["columns"].keys() == {"order"}
    summary = json.loads((out / "summary.json").read_text())
    assert summary["finished"] is True
    assert summary["steps"] == STEPS
    assert summary["tokens"] > 0
    assert summary["seconds"].keys() == {"loading", "evaluation before", "training", "evaluation after"}
    for when in ("before", "after"):
        totals = [row[when]["totals"][0] for row in evaluation["rows"]]
        assert summary[when]["total"] == pytest.approx(sum(totals) / 4)
        assert summary[when]["components"].keys() == {"letters", "named"}

    for shown in ("letters, named", "20 rows, 4 held out", "4/4", "change", "rewardkit view"):
        assert shown in printed
    assert "does not score named again" in printed

    # What it ran with is complete and says where it ran.
    again = read(out / "run.yaml")
    assert again.output_path() == out
    assert again.grpo["max_steps"] == STEPS

    assert "already finished" in trained(config(tmp_path), resume=True)
    assert steps(out) == list(range(STEPS))
    with pytest.raises(ConfigError, match="already contains a run"):
        trained(config(tmp_path))

    # More steps than before are trained from where it ended.
    longer = trained(config(tmp_path, grpo={"max_steps": STEPS + 2}), resume=True)
    assert "checkpoint-4" in longer
    assert steps(out) == list(range(STEPS + 2))
    assert len(losses(out, STEPS + 2)) == STEPS + 2


@pytest.mark.slow
def test_each_phase_before_the_first_step_is_shown_with_the_time_left(tmp_path: Path) -> None:
    path = project(tmp_path, model={"name": "tiny", "warm_up_steps": 10}, grpo={**SHORT, "max_steps": 3})
    piped = command("train", str(path), "--set", "output=piped")
    assert piped.returncode == 0, piped.stderr
    lines = iter(piped.stdout.splitlines())
    for shown in (
        "Loading torch and TRL",
        "Building the tiny model: 10 supervised steps",
        r"warm start 1/10  loss \d",
        r"warm start 2/10  \d:\d\d:\d\d left  loss \d",
        r"warm start 10/10  loss \d",
        "Loading the model",
        "evaluation before training 1/1",
        r"GRPO 2/3  \d:\d\d:\d\d left",
        "evaluation after training 1/1",
    ):
        assert any(re.match(shown, line) for line in lines), (shown, piped.stdout)

    terminal = in_terminal("train", str(path), "--set", "output=terminal")
    at = 0
    for shown in (
        "Loading torch",
        "Building the tiny",
        r"warm start \S+ +\d+/10 \d:\d\d:\d\d",
        r"evaluation before .* 1/1",
    ):
        match = re.compile(shown).search(terminal, at)
        assert match is not None, (shown, terminal)
        at = match.end()


@pytest.mark.slow
def test_an_end_that_was_cut_off_is_made_up_for(tmp_path: Path) -> None:
    trained(config(tmp_path))
    out = tmp_path / "out"
    summary = json.loads((out / "summary.json").read_text())
    for name in ("summary.json", "plot.png"):
        (out / name).unlink()
    (out / "model" / "model.safetensors").unlink()
    printed = trained(config(tmp_path), resume=True)
    assert f"All {STEPS} training steps are done" in printed
    again = json.loads((out / "summary.json").read_text())
    for same in ("steps", "tokens", "before", "after", "parameters", "last_step"):
        assert again[same] == summary[same], same
    assert same_weights(out / "checkpoints" / "checkpoint-4", out / "model")
    assert steps(out) == list(range(STEPS))


@pytest.mark.slow
def test_held_out_prompts_change_nothing_in_the_training(tmp_path: Path) -> None:
    held_out = {"dataset": "data.jsonl", "prompts": 4, "greedy": False}
    trained(config(tmp_path / "with", eval=held_out, grpo=SHORT))
    printed = trained(config(tmp_path / "without", eval=None, grpo=SHORT))
    assert losses(tmp_path / "with" / "out", 2) == losses(tmp_path / "without" / "out", 2)
    assert "held-out" not in printed
    assert not (tmp_path / "without" / "out" / "evaluation.json").exists()


@pytest.mark.slow
def test_an_adapter_is_trained_and_saved_and_nothing_recorded_where_nothing_is_to_be(tmp_path: Path) -> None:
    printed = trained(config(tmp_path, lora={"r": 4}, record=False, grpo=SHORT))
    out = tmp_path / "out"
    assert json.loads((out / "model" / "adapter_config.json").read_text())["r"] == 4
    assert not (out / "model" / "model.safetensors").exists()
    assert "(LoRA)" in printed
    summary = json.loads((out / "summary.json").read_text())
    assert 0 < summary["trained_parameters"] < summary["parameters"] / 10
    assert not (out / "run.json").exists()
    assert "rewardkit view" not in printed


@pytest.mark.slow
def test_functions_written_for_trl_train_as_they_are_and_the_record_may_stand_elsewhere(tmp_path: Path) -> None:
    run = config(tmp_path, reward="reward.py:plain", record="records/first", grpo=SHORT)
    assert "completions/s" in trained(run, terminal=True)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["after"]["components"].keys() == {"short", "first_letter"}
    assert steps(tmp_path / "records" / "first") == [0, 1]


@pytest.mark.slow
def test_a_list_is_weighted_as_in_trl_and_its_evaluation_too(tmp_path: Path) -> None:
    run = config(tmp_path, reward="reward.py:plain", grpo={**SHORT, "reward_weights": [0.5, 2]})
    trained(run)
    for row in losses(tmp_path / "out", 2):
        total = 0.5 * row["rewards/short/mean"] + 2 * row["rewards/first_letter/mean"]
        assert row["reward"] == pytest.approx(total, abs=1e-5)
        assert (row["weights/short"], row["weights/first_letter"]) == (0.5, 2.0)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    for when in ("before", "after"):
        means = summary[when]["components"]
        assert summary[when]["total"] == pytest.approx(0.5 * means["short"] + 2 * means["first_letter"])
    assert evaluate(run, out=tmp_path / "last.json", console=Console(file=io.StringIO())) == 0
    rows = json.loads((tmp_path / "last.json").read_text())["rows"]
    totals = [total for row in rows for one in row.values() if isinstance(one, dict) for total in one.get("totals", ())]
    assert sum(totals) / 4 == pytest.approx(summary["after"]["total"])


@pytest.mark.slow
def test_components_as_columns_have_the_weights_of_the_reward(tmp_path: Path) -> None:
    trained(config(tmp_path, reward="reward.py:spoken", outputs="components", eval=None, grpo=SHORT))
    for row in losses(tmp_path / "out", 2):
        total = 0.5 * row["rewards/letters/mean"] + row["rewards/named/mean"]
        assert row["reward"] == pytest.approx(total, abs=1e-5)


@pytest.mark.slow
def test_a_conversation_is_trained_and_trl_evaluates_on_the_way(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "{prompt}"}]
    dataset = {"path": "data.jsonl", "messages": messages}
    trained(config(tmp_path, dataset=dataset, eval={"hold_out": 4, "every": 1}, grpo=SHORT))
    out = tmp_path / "out"
    evaluation = json.loads((out / "evaluation.json").read_text())
    assert evaluation["rows"][0]["prompt"].startswith("Answer in JSON.")
    assert steps(out) == [0, 1]
    state = json.loads((out / "checkpoints" / "checkpoint-2" / "trainer_state.json").read_text())
    assert [entry["step"] for entry in state["log_history"] if "eval_reward" in entry] == [1, 2]


@pytest.mark.slow
def test_a_reward_that_fails_stops_the_run_after_a_checkpoint(tmp_path: Path) -> None:
    limits, often = {"failure_window": 1}, {"save_steps": 100}
    printed = trained(config(tmp_path, reward="reward.py:broken", limits=limits, eval=None, grpo=often), expect=1)
    assert "Training stopped" in printed
    assert "'broken'" in printed
    assert "--resume" in printed
    assert (tmp_path / "out" / "checkpoints" / "checkpoint-3" / "trainer_state.json").exists()


@pytest.mark.slow
def test_out_of_memory_gives_advice_in_the_numbers_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = GRPOTrainer.training_step

    def hungry(trainer: Any, *arguments: Any, **keywords: Any) -> Any:
        if trainer.state.global_step == 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
        return learn(trainer, *arguments, **keywords)

    monkeypatch.setattr(GRPOTrainer, "training_step", hungry)
    printed = trained(config(tmp_path, eval=None), expect=1)
    assert "Out of memory: CUDA out of memory" in printed
    assert "{per_device_train_batch_size: 4, gradient_accumulation_steps: 2}" in printed
    assert "lora: true" in printed
    assert "--resume" in printed


def test_settings_that_trl_refuses_are_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"TRL rejects .* must be divisible by num_generations"):
        trained(config(tmp_path, grpo={"num_generations": 3}))


def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match="pip install vllm"):
        trained(config(tmp_path, vllm="colocate"))


def test_a_preflight_that_finds_an_error_ends_it_before_a_model_is_made(tmp_path: Path) -> None:
    path = project(tmp_path, preflight={"laws": False}, grpo={"num_generations": 5})
    printed = trained(read(path), expect=2)
    assert "num_generations" in printed
    assert not (tmp_path / "out").exists()
