"""The demo as a user runs it: a real training whose reward rises."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from rewardkit.store.run import open_run


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rewardkit.cli.main", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


STEPS = 20
"""Enough: the held-out total then has risen from 0.07 to 0.997."""


@pytest.mark.slow
def test_the_reward_rises_on_held_out_prompts(tmp_path: Path) -> None:
    result = demo("--steps", str(STEPS), "--out", str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["after"]["total"] > summary["before"]["total"] + 0.3
    for name, before in summary["before"]["components"].items():
        assert summary["after"]["components"][name] > before
    steps = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == STEPS
    for step in steps:
        contributions = [
            value for name, value in step.items() if name.startswith("rewards/") and name.endswith("/mean")
        ]
        assert sum(contributions) == pytest.approx(step["reward"], abs=1e-5)
    assert (tmp_path / "reward.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "model" / "config.json").exists()
    assert "rose" in result.stdout
    assert f"rewardkit view {tmp_path}" in result.stdout.replace("\n", "")
    run = open_run(tmp_path / "record")
    assert run.steps == list(range(STEPS))
    means = run.sql("select mean(total) from scores group by step order by step").fetchall()
    assert [mean for (mean,) in means] == pytest.approx([step["reward"] for step in steps], abs=1e-5)
    assert result.stdout.count("before") >= 3


def test_a_reward_that_did_not_rise_is_a_failure_that_says_so() -> None:
    from rewardkit_runner.demo.closing import show_verdict

    printed = io.StringIO()
    show_verdict(Console(file=printed, width=100), 0.5, 0.4, 10.0)
    assert "did not rise" in printed.getvalue()


@pytest.mark.parametrize("arguments", [("--steps", "0"), ("--threads", "-1"), ("--size", "huge"), ("--step",)])
def test_impossible_options_are_refused(arguments: tuple[str, ...]) -> None:
    result = demo(*arguments)
    assert result.returncode == 2
    assert "usage: rewardkit demo" in result.stderr
