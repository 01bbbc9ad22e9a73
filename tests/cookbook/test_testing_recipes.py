"""The recipes that prove rewards: versions break laws, the search finds its hole, pytest collects the last one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COOKBOOK = Path(__file__).parents[2] / "cookbook"


def said(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_each_version_breaks_the_law_that_the_next_one_mends() -> None:
    printed = said(str(COOKBOOK / "test_your_reward.py"))
    broken = [line.split(":")[0].split(" ", 1)[1] for line in printed.splitlines() if " breaks " in line]
    assert broken == [
        "mentioned breaks gold_above_perturbed_gold",
        "listed breaks exploits",
        "parsed breaks total",
        "tolerant breaks gold_above_perturbed_gold",
        "encouraging breaks bounded",
        "centered breaks neighbors_do_not_leak",
    ]
    assert "<answer>nan</answer>" in printed
    assert printed.splitlines()[-1].endswith("holds to every law")


@pytest.mark.slow
def test_the_last_version_is_a_test_file_as_it_is() -> None:
    recipe = str(COOKBOOK / "test_your_reward.py")
    chosen = ["-k", "total or gate_dominance", "-q", "-p", "no:cacheprovider"]
    assert "2 passed" in said("-m", "pytest", recipe, *chosen)


@pytest.mark.slow
def test_the_search_finds_the_hole_and_the_file_keeps_it() -> None:
    written, mended, again = said(str(COOKBOOK / "find_exploits.py")).split("=== ")[1:]
    assert "regressions skipped, exploits broken, search broken" in written
    assert "regressions held, exploits held, search held" in mended
    assert "regressions broken, exploits broken, search broken" in again
    assert 'kept: {"completion": "impossible"' in again
