"""Updates over the end of a process, and on several processes at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

pytest.importorskip("trl")
from rewardkit_trl.updates.mailbox import Mailbox
from rewardkit_trl.updates.sources import MODULES

from tests.adapters.rewardkit_trl.updates.updated import KILLED, SAVED, STEPS, main


def run(mode: str, out: Path, *launcher: str) -> dict[str, Any]:
    out.mkdir(exist_ok=True)
    root = Path(__file__).parents[4]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "adapters")]),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, *launcher, str(Path(__file__).with_name("updated.py")), mode, str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == (-signal.SIGKILL if mode == "killed" else 0), done.stderr[-3000:]
    return {path.stem: json.loads(path.read_text()) for path in out.glob(f"{mode}*.json")}


@pytest.mark.slow
def test_a_resumed_run_goes_on_with_its_versions(tmp_path: Path) -> None:
    (tmp_path / "straight").mkdir()
    main("straight", tmp_path / "straight")
    MODULES.activate(None)
    straight = json.loads((tmp_path / "straight/straight.json").read_text())
    assert [entry["reward_version"] for entry in straight["history"]] == [0, 0, 1, 1, 1, 3, 4, 5, 5, 5]
    out = tmp_path / "broken"
    run("killed", out)
    (out / "following.py").write_text("raise ValueError('edited after it was taken')\n")
    resumed = run("resumed", out)["resumed"]
    assert resumed["history"][-1]["step"] == STEPS
    for before, after in zip(straight["history"], resumed["history"], strict=True):
        assert {name for name in before if "time" not in name} == {name for name in after if "time" not in name}
        for name, value in before.items():
            if "time" not in name:
                assert after[name] == pytest.approx(value, abs=1e-6), (before["step"], name)
    assert {name: value for name, value in resumed.items() if name != "history"} == {
        name: value for name, value in straight.items() if name != "history"
    }
    mailbox = Mailbox(out / "run")
    states = [(answer.status, answer.step) for update in range(1, 6) if (answer := mailbox.answer(update))]
    assert states == [("applied", 2), ("refused", None), ("applied", 5), ("applied", 6), ("applied", 7)]
    recorded = rk.open_run(out / "run")
    versions = "select step, any_value(version) from scores group by step order by step"
    assert recorded.sql(versions).fetchall() == rk.open_run(tmp_path / "straight/run").sql(versions).fetchall()
    attempts = recorded.sql(f"select distinct attempt from scores where step >= {SAVED}").fetchall()
    assert attempts == [(2,)]
    assert KILLED > SAVED


@pytest.mark.slow
def test_two_processes_change_in_the_same_step(tmp_path: Path) -> None:
    found = run("ranks", tmp_path, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    first, second = found["ranks0"], found["ranks1"]
    assert [entry["reward_version"] for entry in first["history"]] == [0, 0, 1, 1, 1, 3, 4, 5, 5, 5]
    assert {**first, "history": None} == {**second, "history": None}
    assert first["frozen"]
    assert set(first["names"]) == {"early", "late"} == set(first["logged"])
    per_rank = (
        rk.open_run(tmp_path / "run")
        .sql("select step, rank, any_value(version), count(distinct version) from scores group by all order by all")
        .fetchall()
    )
    assert [count for *_, count in per_rank] == [1] * (2 * STEPS)
    by_step = {step: {version for at, _, version, _ in per_rank if at == step} for step in range(STEPS)}
    assert all(len(versions) == 1 for versions in by_step.values())
    assert len(set.union(*by_step.values())) == 4  # the rollback is the same reward again
