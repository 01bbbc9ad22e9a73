"""Updates over the end of a process, and on several processes at once."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

pytest.importorskip("trl")
from rewardkit_adapters.live.mailbox import Mailbox
from rewardkit_adapters.live.sources import MODULES
from tests.adapters.live.updated import KILLED, SAVED, STEPS, main
from tests.adapters.logs import steady


def started(mode: str, out: Path, **variables: str) -> subprocess.Popen[str]:
    """A training in a process of its own."""
    out.mkdir(exist_ok=True)
    root = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "adapters")]),
        "OMP_NUM_THREADS": "1",
        **variables,
    }
    command = [sys.executable, str(Path(__file__).with_name("updated.py")), mode, str(out)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str], code: int) -> None:
    _, said = process.communicate(timeout=240)
    assert process.returncode == code, said[-3000:]


def trained(mode: str, out: Path) -> dict[str, Any]:
    """A training in this process, which forgets the code of its updates afterwards."""
    out.mkdir(exist_ok=True)
    main(mode, out)
    MODULES.keep(())
    found: dict[str, Any] = json.loads((out / f"{mode}.json").read_text())
    return found


@pytest.mark.slow
def test_a_resumed_run_keeps_its_versions(tmp_path: Path) -> None:
    out = tmp_path / "broken"
    killed = started("killed", out)
    straight = trained("straight", tmp_path / "straight")
    assert [entry["reward_version"] for entry in straight["history"]] == [0, 0, 1, 1, 1, 3, 4, 5, 5, 5]
    ended(killed, -signal.SIGKILL)
    (out / "following.py").write_text("raise ValueError('edited after it was taken')\n")
    resumed = trained("resumed", out)
    assert resumed["history"][-1]["step"] == STEPS
    for before, after in zip(straight["history"], resumed["history"], strict=True):
        assert steady(before).keys() == steady(after).keys()
        for name, value in steady(before).items():
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
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    both = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    processes = [started("ranks", tmp_path, RANK=rank, LOCAL_RANK=rank, **both) for rank in ("0", "1")]
    for process in processes:
        ended(process, 0)
    first, second = (json.loads((tmp_path / f"ranks{rank}.json").read_text()) for rank in (0, 1))
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
