"""The calibration recipe finds rk.number right and the naive reward useless."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "cookbook" / "calibrate_on_labels.py"
DATA = Path(os.environ.get("REWARDKIT_DATA", ROOT.parent / "shared" / "data")) / "gsm8k" / "model_solutions.jsonl"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_file(), reason=f"no GSM8K data at {DATA}; set REWARDKIT_DATA")
def test_the_recipe_tells_the_two_apart() -> None:
    done = subprocess.run(
        [sys.executable, str(RECIPE), str(DATA)], capture_output=True, text=True, timeout=300, check=True
    )
    careful, naive, signal = done.stdout.split("=== ")[1:]
    assert "total  1.000  1.000 to 1.000" in careful
    assert "!" not in careful
    assert "the total has an AUC of 0.496" in naive
    assert "in 72.9% of the groups all completions score the same" in signal


def test_without_the_data_it_says_what_is_missing(tmp_path: Path) -> None:
    command = [sys.executable, str(RECIPE), str(tmp_path / "none.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert "none.jsonl: python cookbook/calibrate_on_labels.py FILE" in done.stderr
