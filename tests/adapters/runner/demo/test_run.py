"""``rewardkit demo`` as a user runs it: a real training whose reward rises."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from rewardkit.errors import RewardKitError
from rewardkit.record.run import open_run
from rewardkit_adapters.runner.demo import run as demo_run
from rewardkit_adapters.runner.report import short


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rewardkit.cli.main", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


STEPS = 25


@pytest.mark.slow
def test_the_reward_rises_on_held_out_prompts(tmp_path: Path) -> None:
    result = demo("--steps", str(STEPS), "--output", str(tmp_path / "run"))
    assert result.returncode == 0, result.stdout + result.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["after"]["total"] > summary["before"]["total"] + 0.3
    for name, before in summary["before"]["components"].items():
        assert summary["after"]["components"][name] > before
    assert (tmp_path / "run" / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "run" / "model" / "config.json").exists()
    assert "The reward rose" in result.stdout
    assert f"rewardkit view {short(tmp_path / 'run')}" in result.stdout.replace("\n", "")
    assert result.stdout.count("before") >= 3
    assert result.stderr == ""
    assert open_run(tmp_path / "run").steps == list(range(STEPS))


def test_a_reward_that_did_not_rise_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text(
        '{"before": {"total": 0.5}, "after": {"total": 0.4}, "seconds": {"all": 10}}'
    )
    printed = io.StringIO()
    assert demo_run._verdict(Console(file=printed, width=100), tmp_path) == 1
    assert "did not rise: from 0.500 to 0.400 on held-out prompts, in 10 s" in printed.getvalue()


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    for name in ("demo", "demo-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").write_text("{}")
    assert demo_run._free(tmp_path / "demo") == tmp_path / "demo-3"
    with pytest.raises(RewardKitError, match="--output"):
        demo_run.run_demo(out=tmp_path / "demo")


@pytest.mark.parametrize("arguments", [("--steps", "0"), ("--size", "huge"), ("--step",)])
def test_impossible_options_are_refused(arguments: tuple[str, ...]) -> None:
    result = demo(*arguments)
    assert result.returncode == 2
    assert "usage: rewardkit demo" in result.stderr
