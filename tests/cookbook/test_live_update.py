"""The recipe that changes a reward while it trains: two updates are taken, a mistake is refused, one is undone."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.tree.loading import load
from rewardkit_adapters.runner.tiny.make import as_columns, examples

RECIPE = Path(__file__).parents[2] / "cookbook" / "live_update"
GOLD = '{"name":"Mia","qty":31,"item":"toy","color":"red"}'
ATTEMPTS = [GOLD, GOLD.replace("31", "13"), "{}", f"Sure! {GOLD}"]


def totals(file: str) -> list[float]:
    [found] = load(f"{RECIPE / file}:reward")
    table = rk.score(found.reward, ATTEMPTS, order=[GOLD] * len(ATTEMPTS))
    return [round(float(total), 3) for total in table.total]


def test_what_the_two_rewards_pay() -> None:
    assert totals("reward.py") == [1.0, 0.95, 0.8, 0.0]
    assert totals("stricter.py") == [1.0, 0.5, 0.2, 0.0]


def test_the_broken_one_asks_for_a_column_that_is_not_there() -> None:
    with pytest.raises(rk.errors.BindingError, match="invoice"):
        totals("broken.py")


def test_the_data_are_orders_of_the_demo() -> None:
    columns = as_columns(examples(400, seed=0, split="training"))
    rows = [json.loads(line) for line in (RECIPE / "data.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


@pytest.mark.slow
def test_the_walk(tmp_path: Path) -> None:
    walk = [sys.executable, str(RECIPE / "walk.py"), "--out", str(tmp_path / "run"), "--steps", "30", "--warm-up", "2"]
    done = subprocess.run(walk, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"=== (.*): (applied|refused)", done.stdout) == [
        ("other weights", "applied"),
        ("other components", "applied"),
        ("a mistake", "refused"),
        ("back to the version before", "applied"),
    ]
    assert "needs the column 'invoice'" in done.stdout
    versions = re.findall(r"^([0-9a-f]{16}) ", done.stdout, re.MULTILINE)
    assert len(versions) == 4
    assert versions[1] == versions[3] != versions[2] != versions[0]


def test_the_walk_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(RECIPE / "walk.py"))
    with pytest.raises(SystemExit):
        names["main"](["--help"])
    assert "rewardkit update" in capsys.readouterr().out
