"""The countdown recipe: honest attempts score, cheating ones do not, and every generated task can be solved."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import rewardkit as rk

RECIPE = Path(__file__).parents[2] / "cookbook" / "countdown.py"
countdown = runpy.run_path(str(RECIPE))


@pytest.mark.parametrize(("kind", "answer"), countdown["ATTEMPTS"])
def test_only_honest_and_right_attempts_score(kind: str, answer: str) -> None:
    completion = f"<think>so</think><answer>{answer}</answer>"
    table = rk.score(countdown["reward"], [completion], numbers=[[7, 3, 1, 1]], target=[24])
    honest = kind in ("honest", "honest, other signs")
    assert table.total[0] == pytest.approx(1.0 if honest else 0.0 if kind == "nothing" else 0.1)
    assert bool(table.notes["solved"][0]) is not (honest or kind == "nothing")


def test_columns_may_be_text_as_in_data_files() -> None:
    completion = "<think>so</think><answer>3 * 8</answer>"
    table = rk.score(countdown["reward"], [completion], numbers=["[3, 8]"], target=["24"])
    assert table.total.tolist() == [1.0]


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_every_task_can_be_solved(size: int) -> None:
    for task in countdown["tasks"](200, size=size, seed=7):
        assert rk.arithmetic(task["solution"], numbers=task["numbers"]) == task["target"]
    assert countdown["tasks"](3) == countdown["tasks"](3) != countdown["tasks"](3, seed=1)


def test_the_recipe_runs() -> None:
    done = subprocess.run([sys.executable, str(RECIPE)], capture_output=True, text=True, timeout=120, check=True)
    assert "mean reward of the solutions to 1,000 tasks: 1.0" in done.stdout
