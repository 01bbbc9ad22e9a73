"""The bundled project and the cookbook train honestly, and the search for suspicious patterns does not accuse them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rewardkit as rk
from rewardkit.page.alerts import alerts_of
from rewardkit_adapters.runner.project import write_project

ALARM = 0.8
COOKBOOK = Path(__file__).parents[3] / "cookbook"
RECIPES = {
    "curriculum_by_performance": ["curriculum_by_performance"],
    "curriculum_by_time": ["curriculum_by_time"],
    "gated_reward": ["gated_reward_paid", "gated_reward_unpaid"],
    "gdpo": ["gdpo"],
    "multi_task_routing": ["multi_task_routing"],
}
"""Recipe -> the runs that it records."""


def run(*arguments: object) -> None:
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def accused(recorded: Path) -> list[str]:
    """Return the alarms of the page, and of the radar while the training ran."""
    alerts = [
        f"{alert.strength:.2f} {alert.kind}: {alert.title}" for alert in alerts_of(recorded) if alert.strength >= ALARM
    ]
    query = f"select step, value from metrics where name = 'radar/strength' and value >= {ALARM} order by step"
    found = rk.open_run(recorded).sql(query).fetchall()
    return alerts + [f"{strength:.2f} by the radar at step {step}" for step, strength in found]


@pytest.mark.slow
def test_the_starter_is_not_accused(tmp_path: Path) -> None:
    train_starter(tmp_path, seed=0)
    assert accused(tmp_path / "run") == []
    assert any(
        alert.is_observation for alert in alerts_of(tmp_path / "run")
    )  # completions become the same as they become right


def train_starter(folder: Path, seed: int) -> None:
    write_project(folder / "orders")
    options = ["--output", folder / "run", "--set", f"seed={seed}", "--set", "preflight=false"]
    run("-m", "rewardkit.cli.main", "train", folder / "orders" / "run.yaml", *options)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(1, 5))
def test_no_seed_of_the_starter_is_accused(tmp_path: Path, seed: int) -> None:
    train_starter(tmp_path, seed)
    assert accused(tmp_path / "run") == []


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_no_recipe_is_accused(tmp_path: Path, recipe: str, seed: int) -> None:
    run(COOKBOOK / f"{recipe}.py", "--seed", seed, "--out", tmp_path)
    assert {name: accused(tmp_path / name) for name in RECIPES[recipe]} == {name: [] for name in RECIPES[recipe]}
