"""The recipes that are folders: their tests pass, their data is what their generator makes, their runs can be read."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit.analyze.permuted_golds import PermutedGolds
from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.data import training_and_held_out
from rewardkit_adapters.runner.preflight import Preflight, preflight
from rewardkit_adapters.runner.rewards import reward_of, trained

COOKBOOK = Path(__file__).parents[2] / "cookbook"
DATA = Path(os.environ.get("REWARDKIT_DATA", COOKBOOK.parents[1] / "shared" / "data")) / "gsm8k"
RUNS = sorted(COOKBOOK.glob("*/run.yaml"))
PROJECTS = sorted(path.parent.name for path in COOKBOOK.glob("*/test_reward.py"))
GENERATORS = [
    ("countdown", "tasks.py", 500),
    ("drawers", "environment.py", 400),
    ("instructions", "prompts.py", 240),
    ("json_extraction", "bookings.py", 300),
]

each_run = pytest.mark.parametrize("run", RUNS, ids=lambda path: path.parent.name)


def test_there_are_some() -> None:
    assert PROJECTS == ["countdown", "drawers", "gsm8k", "instructions", "json_extraction", "reasoning_gym"]
    assert [run.parent.name for run in RUNS] == sorted([*PROJECTS, "live_update", "multi_gpu"])


@pytest.mark.slow
@pytest.mark.parametrize("project", PROJECTS)
def test_its_own_tests_pass(project: str) -> None:
    if project == "reasoning_gym":
        pytest.importorskip("reasoning_gym")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(COOKBOOK / project)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout
    assert "warning" not in done.stdout


@pytest.mark.parametrize(("project", "generator", "count"), GENERATORS)
def test_the_data_is_what_the_generator_makes(
    project: str, generator: str, count: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [generator, str(count)])
    runpy.run_path(str(COOKBOOK / project / generator), run_name="__main__")
    assert capsys.readouterr().out == (COOKBOOK / project / "data.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [generator, "1", "--seed", "1"])
    runpy.run_path(str(COOKBOOK / project / generator), run_name="__main__")
    assert json.loads(capsys.readouterr().out)


@each_run
def test_the_installed_trl_takes_its_settings(run: Path) -> None:
    from rewardkit_adapters.runner.settings import grpo_config

    config = read(run)
    settings = grpo_config(config, parameters=500_000_000, model_arguments={}, reward_weights=None)
    assert settings.max_steps == config.grpo["max_steps"]
    assert settings.generation_batch_size * config.processes in (16 if run.parent.name == "instructions" else 64, 128)
    assert settings.use_vllm is (config.vllm is not None)


@each_run
def test_its_groups_stay_whole_in_every_process(run: Path) -> None:
    grpo = read(run).grpo
    batch = grpo["per_device_train_batch_size"] * grpo.get("gradient_accumulation_steps", 1)
    assert batch % grpo["num_generations"] == 0


def preflight_of(run: Path, *sets: str) -> Preflight:
    """What stands in the way of a run; its laws are checked by its own tests."""
    config = read(run, ["preflight.laws=false", *sets])
    training, held_out = training_and_held_out(config)
    return preflight(config, reward=reward_of(config), training=training, held_out=held_out)


@pytest.mark.parametrize("project", ["countdown", "instructions", "json_extraction", "live_update"])
def test_the_preflight_finds_nothing_to_blame(project: str, tmp_path: Path) -> None:
    found = preflight_of(COOKBOOK / project / "run.yaml", "model=tiny", "lora=null", f"output={tmp_path / 'run'}")
    assert [(finding.kind, finding.what) for finding in found.findings if finding.kind != "fact"] == []


@each_run
def test_the_radar_may_call_all_functions_of_a_project(run: Path) -> None:
    if run.parent.name == "reasoning_gym":
        pytest.importorskip("reasoning_gym")
    config = read(run, [])
    assert PermutedGolds(trained(config, reward_of(config))).remark == ""


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no GSM8K data in {DATA}; set REWARDKIT_DATA")
def test_the_preflight_of_gsm8k_reads_every_published_row(tmp_path: Path) -> None:
    files = [f"dataset.path={DATA / 'train.jsonl'}", "dataset.name=null", "dataset.split=null"]
    held_out = f"eval={{dataset: {DATA / 'test.jsonl'}, prompts: 200}}"
    run = COOKBOOK / "gsm8k" / "run.yaml"
    found = preflight_of(run, *files, held_out, "model=tiny", f"output={tmp_path / 'run'}")
    assert found.ok, found.text()
    assert "7,473 prompts" in found.text()


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no GSM8K data in {DATA}; set REWARDKIT_DATA")
def test_gsm8k_agrees_with_every_published_label() -> None:
    recipe = [sys.executable, str(COOKBOOK / "gsm8k" / "solutions.py"), str(DATA)]
    done = subprocess.run(recipe, capture_output=True, text=True, timeout=300, check=True)
    assert "2,638 of 2,638 scores agree with the published labels" in done.stdout
    assert "6b_verification" in done.stdout
