"""Runs of several processes: on a CPU two of them over gloo, told to stop by a signal, and resumed."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("trl")
from rewardkit.record.run import open_run
from rewardkit_adapters.runner import launcher as launching
from rewardkit_adapters.runner.config_file import read
from tests.adapters.runner.projects import command, project, started


@pytest.mark.slow
def test_two_processes_share_a_run_and_stop_together(tmp_path: Path) -> None:
    # Groups are split over the processes: each holds half of the generations of a prompt.
    settings = {"per_device_train_batch_size": 2, "save_steps": 1000, "max_steps": 1000}
    path, out = project(tmp_path, processes=2, grpo=settings), tmp_path / "out"
    process = started("train", str(path))
    ends = time.monotonic() + 120
    while not list(out.glob("scores/*")) and process.poll() is None and time.monotonic() < ends:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 130, printed + errors
    assert "A checkpoint was saved" in printed
    assert not (out / "summary.json").exists()
    (checkpoint,) = (out / "checkpoints").glob("checkpoint-*")
    last = int(checkpoint.name.removeprefix("checkpoint-")) + 2

    resumed = command("train", str(path), "--resume", "--set", f"grpo.max_steps={last}")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert resumed.stdout.count(f"GRPO {last}/{last}") == 1
    summary = json.loads((out / "summary.json").read_text())
    assert summary["processes"] == 2
    assert summary["steps"] == last
    assert len(json.loads((out / "evaluation.json").read_text())["rows"]) == 4
    rows = open_run(out).sql("select step, rank, count(*) from scores where training group by all order by all")
    assert rows.fetchall() == [(step, rank, 2) for step in range(last) for rank in (0, 1)]


def test_on_a_cpu_torchrun_starts_the_processes_elsewhere_accelerate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read(project(tmp_path, processes=4))
    assert "torch.distributed.run" in launching.launcher(config)
    monkeypatch.setattr(launching, "has_gpu", lambda: True)
    command = launching.launcher(config)
    assert "accelerate.commands.launch" in command
    assert command[command.index("--num_processes") + 1] == "4"
    (tmp_path / "fsdp.yaml").write_text("num_processes: 8\n")
    with_file = launching.launcher(read(project(tmp_path, accelerate="fsdp.yaml")))
    assert with_file[with_file.index("--config_file") + 1] == str(tmp_path / "fsdp.yaml")
    assert "--num_processes" not in with_file  # the file says how many
