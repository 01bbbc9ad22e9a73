"""The record of a process that scores a few rows and ends: nothing is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rewardkit as rk

_SCORING = """
import sys
import rewardkit as rk
from rewardkit.online.trainer_inputs import TrainerInputs
from rewardkit.online.rows import Row
from rewardkit.online.scorer import RowScorer

scorer = RowScorer(rk.length.between(1, 3, unit="characters"), TrainerInputs("test", step=True), record=sys.argv[1])
for number in range(30):
    scorer.score([Row("abc", columns={f"column{number}": "1"})])
for step in range(3):
    scorer.score([Row("abc"), Row("abcd")], step=step)
scorer.score([Row("abc")], step=3, training=False)
"""


@pytest.mark.slow
def test_a_short_run_is_recorded_when_the_process_ends(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", _SCORING, str(tmp_path / "run")], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    recorded = rk.open_run(tmp_path / "run")
    assert len(recorded.scores().fetchall()) == 36
    assert len(recorded.scores(training=False).fetchall()) == 1
