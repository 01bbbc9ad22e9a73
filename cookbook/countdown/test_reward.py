"""Honest attempts earn something, cheating does not, every law holds, and every task in the data can be solved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reward import BAD, EXAMPLES, GOOD, reward
from tasks import tasks

import rewardkit as rk

ROWS = [json.loads(line) for line in Path(__file__).with_name("data.jsonl").read_text(encoding="utf-8").splitlines()]
ATTEMPTS = [
    ("honest", "(7 - 1) * (3 + 1)", 1.0),
    ("honest, other signs", "(7 \u2212 1) \u00d7 (3 + 1)", 1.0),
    ("honest, wrong", "7 * 3 + 1 + 1", 0.3),
    ("leaves one out", "(7 + 1) * 3", 0.1),
    ("the target alone", "24", 0.1),
    ("a number of its own", "7 - 1 + 3 - 1 + 16", 0.1),
    ("a number twice", "(7 - 1) * (3 + 1) * 1", 0.1),
    ("two glued together", "(71 + 1) / 3", 0.1),
    ("hides the rest", "24 + 0 * (7 + 3 + 1 + 1)", 0.1),
    ("an equation", "(7 - 1) * (3 + 1) = 24", 0.1),
    ("two answers", "(7 - 1) * (3 + 1) or 7 * 3 + 1 + 1", 0.1),
    ("a power", "(7 - 1) ** (3 - 1 * 1)", 0.1),
    ("divides by zero", "7 / (1 - 1) + 3", 0.1),
    ("code", "__import__('os').getpid()", 0.1),
    ("nothing", "", 0.0),
]


@pytest.mark.parametrize(("kind", "answer", "total"), ATTEMPTS)
def test_what_an_attempt_is_paid(kind: str, answer: str, total: float) -> None:
    completion = f"<think>7, 3, 1, 1 ...</think>\n<answer>{answer}</answer>"
    table = rk.score(reward, [completion], numbers=[[7, 3, 1, 1]], target=[24])
    assert table.total[0] == pytest.approx(total)


def test_columns_may_be_text_as_in_data_files() -> None:
    completion = "<think>so</think><answer>3 * 8</answer>"
    assert rk.score(reward, [completion], numbers=["[3, 8]"], target=["24"]).total[0] == pytest.approx(1.0)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_every_generated_task_can_be_solved(size: int) -> None:
    for task in tasks(200, size=size, seed=7):
        assert rk.arithmetic(task["solution"], numbers=task["numbers"]) == task["target"]
    assert tasks(3) == tasks(3) != tasks(3, seed=1)


def test_the_solution_of_every_row_earns_everything() -> None:
    answers = [f"<think>...</think><answer>{row['solution']}</answer>" for row in ROWS]
    numbers, targets = [row["numbers"] for row in ROWS], [row["target"] for row in ROWS]
    totals = rk.score(reward, answers, numbers=numbers, target=targets).total
    assert totals.tolist() == pytest.approx([1.0] * len(ROWS))


def test_it_keeps_the_laws(check_reward: Any) -> None:
    check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, budget=120)
