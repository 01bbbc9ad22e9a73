"""The GSM8K recipe scores the published solutions as their labels do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("REWARDKIT_DATA", ROOT.parent / "shared" / "data")) / "gsm8k"


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no GSM8K data in {DATA}; set REWARDKIT_DATA")
def test_the_recipe_agrees_with_every_label() -> None:
    recipe = [sys.executable, str(ROOT / "cookbook" / "gsm8k.py"), str(DATA)]
    done = subprocess.run(recipe, capture_output=True, text=True, timeout=300, check=True)
    assert "2,638 of 2,638 scores agree with the published labels" in done.stdout
    assert "6b_verification" in done.stdout
