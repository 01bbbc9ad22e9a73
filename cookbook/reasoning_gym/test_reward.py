"""Right answers earn everything, wrong ones the form, and the reward keeps the laws."""

from __future__ import annotations

from typing import Any

import pytest
from reward import BAD, EXAMPLES, GOOD, reward

import rewardkit as rk

RIGHT = EXAMPLES[0]["answer"]
ATTEMPTS = [
    ("right", f"<think>4 times 5 ...</think>\n<answer>{RIGHT}</answer>", 1.0),
    ("right, but with a decimal point: the task's own scorer gives 0.6", f"<answer>{RIGHT}.0</answer>", 0.1),
    ("wrong", f"<answer>1{RIGHT}</answer>", 0.1),
    ("the right one among others", f"<answer>1 2 3 {RIGHT}</answer>", 0.1),
    ("two answers", f"<answer>{RIGHT}</answer> or <answer>5</answer>", 0.0),
    ("no tag", RIGHT, 0.0),
    ("only in the thinking: the tag counts, the answer does not", f"<think><answer>{RIGHT}</answer></think>", 0.1),
    ("nothing", "", 0.0),
]


@pytest.mark.parametrize(("kind", "completion", "total"), ATTEMPTS)
def test_what_an_attempt_is_paid(kind: str, completion: str, total: float) -> None:
    table = rk.score(reward, [completion], metadata=[EXAMPLES[0]["metadata"]])
    assert table.total[0] == pytest.approx(total)


def test_it_keeps_the_laws(check_reward: Any) -> None:
    check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, budget=120)
