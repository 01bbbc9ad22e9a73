"""The recipe for reasoning-gym: its configuration is valid, and a short training completes."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit_adapters.runner.config_file import read
from rewardkit_adapters.runner.data import training_and_held_out
from rewardkit_adapters.runner.preflight import preflight
from rewardkit_adapters.runner.rewards import reward_of

pytest.importorskip("reasoning_gym")

RECIPE = Path(__file__).parents[2] / "cookbook" / "reasoning_gym"


@pytest.mark.slow
def test_the_preflight_finds_nothing_to_blame(tmp_path: Path) -> None:
    sets = ["preflight.laws=false", "model=tiny", "dataset.size=200", f"output={tmp_path / 'run'}"]
    config = read(RECIPE / "run.yaml", sets)
    training, held_out = training_and_held_out(config)
    assert held_out is not None
    assert not set(training["question"]) & set(held_out["question"])
    found = preflight(config, reward=reward_of(config), training=training, held_out=held_out)
    assert [(finding.kind, finding.what) for finding in found.findings if finding.kind != "fact"] == []


@pytest.mark.slow
def test_a_short_training(tmp_path: Path) -> None:
    short = ["--out", str(tmp_path / "run"), "--steps", "2", "--warm-up", "2"]
    command = [sys.executable, str(RECIPE / "small.py"), *short]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "leg_counting" in done.stdout


def test_it_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runpy.run_path(str(RECIPE / "small.py"))["main"](["--help"])
    assert "--warm-up" in capsys.readouterr().out
