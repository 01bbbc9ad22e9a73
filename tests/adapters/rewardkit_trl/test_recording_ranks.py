"""Two processes record into one folder: each its own rows, the main one what holds for both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewardkit.store.run import Run, open_run
from tests.adapters.rewardkit_trl.recorded import CASES
from tests.adapters.rewardkit_trl.test_recording import metrics, rows


def on_two_ranks(out: Path, case: str) -> tuple[Run, list[dict[str, Any]]]:
    """The record of two real processes, and what each saw."""
    root = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(root), str(root / "adapters"), os.environ.get("PYTHONPATH", "")]),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    script = Path(__file__).with_name("recorded.py")
    done = subprocess.run(
        [*launch, str(script), case, str(out)], env=environment, capture_output=True, text=True, timeout=180
    )
    ranks = [json.loads(path.read_text()) for path in sorted(out.glob("rank*.json"))]
    assert len(ranks) == 2, done.stderr
    return open_run(out / "record"), ranks


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_each_of_two_ranks_records_its_own_rows(tmp_path: Path, case: str) -> None:
    run, ranks = on_two_ranks(tmp_path, case)
    recorded = rows(run, training=None)
    assert set(recorded.attempt) == {1}
    for rank, seen in enumerate(ranks):
        own = recorded[recorded["rank"] == rank]
        texts = run.sql(f"select completion from completions where rank = {rank} order by part, row").fetchall()
        assert [text for (text,) in texts] == seen["completions"]
        if case == "cut":
            assert own.advantage.isna().all()
        else:
            np.testing.assert_allclose(own.advantage, seen["advantages"], atol=2e-5)
        said = run.sql(f"select component, row, message from logs where kind = 'print' and rank = {rank}").fetchall()
        assert said
        for component, row, message in said:
            assert component in ("chatty", "judging")
            assert row is None or 0 <= row < seen["batch"]
            assert row is None or message in {f"seen {text}" for text in seen["completions"]}
    per_step = metrics(run)
    names = {name for (name,) in run.sql("select distinct name from metrics where rank = 1").fetchall()}
    assert all(name.startswith(("seconds/", "diversity/", "recorder/")) for name in names)
    for entry in ranks[0]["history"]:
        said_then = per_step[entry["step"] - 1]
        batch = recorded[recorded.step == entry["step"] - 1]
        assert batch.total.mean() == pytest.approx(entry["reward"], abs=1e-6)
        assert said_then["components/early"] == pytest.approx(entry["components/early"], abs=1e-6)
        assert said_then["trainer/loss"] == pytest.approx(entry["loss"], abs=1e-6)
