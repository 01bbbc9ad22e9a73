"""Runs that are killed or interrupted, and resume as if nothing had happened."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit.errors import ConfigError
from rewardkit.record.run import open_run
from rewardkit_adapters.runner.report import short
from tests.adapters.runner.projects import STEPS, command, config, losses, project, same_weights, steps, trained

INTERRUPTED = "reward.py:interrupted"


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNALED", "-1 0")
    straight = config(tmp_path / "straight", reward=INTERRUPTED)
    trained(straight)
    path = project(tmp_path / "killed", reward=INTERRUPTED)
    killed = command("train", str(path), SIGNALED=f"3 {signal.SIGKILL:d}")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    out = tmp_path / "killed" / "out"
    assert [one.name for one in (out / "checkpoints").glob("checkpoint-*")] == ["checkpoint-2"]
    printed = trained(config(tmp_path / "killed", reward=INTERRUPTED), resume=True)
    assert "resumed" in printed
    assert same_weights(tmp_path / "straight" / "out" / "model", out / "model")
    assert losses(out) == losses(tmp_path / "straight" / "out")
    assert steps(out) == list(range(STEPS))
    totals = "select step, prompt_id, total from scores order by all"
    assert open_run(out).sql(totals).fetchall() == open_run(tmp_path / "straight" / "out").sql(totals).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_step_saves_and_prints_how_to_resume(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNALED", f"2 {number:d}")
    run = config(tmp_path, reward=INTERRUPTED, grpo={"save_steps": 100})
    printed = trained(run, expect=128 + number)
    out = tmp_path / "out"
    assert "A checkpoint was saved" in printed
    assert f"rewardkit train {short(out / 'run.yaml')} --resume" in printed
    assert [one.name for one in (out / "checkpoints").glob("checkpoint-*")] == ["checkpoint-3"]
    assert not (out / "summary.json").exists()
    assert open_run(out).state != "finished"
    before = json.loads((out / "evaluation.json").read_text())["before"]
    trained(run, resume=True)
    assert steps(out) == list(range(STEPS))
    assert open_run(out).state == "finished"
    assert json.loads((out / "summary.json").read_text())["before"] == before


@pytest.mark.slow
@pytest.mark.parametrize(("number", "step"), [(signal.SIGINT, 2), (signal.SIGTERM, 1)])
def test_ctrl_c_waits_for_the_end_of_a_generation(
    number: signal.Signals, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNALED", f"0 {number:d}")
    run = config(tmp_path, reward=INTERRUPTED, eval=None, grpo={"save_steps": 100, "steps_per_generation": 2})
    trained(run, expect=128 + number)
    names = [one.name for one in (tmp_path / "out" / "checkpoints").glob("checkpoint-*")]
    assert names == [f"checkpoint-{step}"]


@pytest.mark.slow
def test_the_second_ctrl_c_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGNALED", f"1 {signal.SIGINT:d}")
    run = config(tmp_path, reward=INTERRUPTED, eval=None)
    reward = tmp_path / "reward.py"
    once = "os.kill(os.getpid(), signal.Signals(number))"
    reward.write_text(reward.read_text().replace(once, f"{once}; {once}"))
    assert "Stopped without a new checkpoint" in trained(run, expect=130)
    assert not list((tmp_path / "out" / "checkpoints").glob("checkpoint-*"))


@pytest.mark.slow
def test_a_torn_checkpoint_is_skipped(tmp_path: Path) -> None:
    run = config(tmp_path, eval=None)
    trained(run)
    out = tmp_path / "out"
    last = out / "checkpoints" / "checkpoint-4"
    before = losses(out)
    optimizer = last / "optimizer.pt"
    optimizer.write_bytes(optimizer.read_bytes()[:-1000])
    (out / "summary.json").unlink()
    printed = trained(run, resume=True)
    assert "checkpoint-4 is not complete (optimizer.pt is truncated)" in printed
    assert "checkpoint-2" in printed
    assert losses(out) == before
    assert steps(out) == list(range(STEPS))


@pytest.mark.slow
def test_an_earlier_checkpoint_puts_the_later_ones_aside(tmp_path: Path) -> None:
    run = config(tmp_path, eval=None)
    trained(run)
    trained(config(tmp_path, eval=None, grpo={"max_steps": 3}), resume="2")
    names = sorted(one.name for one in (tmp_path / "out" / "checkpoints").iterdir() if one.is_dir())
    assert names == ["checkpoint-2", "checkpoint-3", "superseded-4"]
    assert steps(tmp_path / "out") == [0, 1, 2]


@pytest.mark.slow
def test_nothing_to_resume_is_said(tmp_path: Path) -> None:
    run = config(tmp_path, eval=None, grpo={"max_steps": 1})
    with pytest.raises(ConfigError, match=r"there is no checkpoint 7\. .*checkpoints: none"):
        trained(run, resume="7")
    # A job that always says --resume begins, too.
    assert "Starting from the beginning" in trained(run, resume=True)
    assert steps(tmp_path / "out") == [0]
