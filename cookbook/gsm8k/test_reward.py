"""Test the reward before it costs a GPU hour: a few cases, and all laws of rewardkit."""

from __future__ import annotations

from typing import Any

import pytest
from reward import BAD, EXAMPLES, GOOD, reward

import rewardkit as rk


@pytest.mark.parametrize(
    ("completion", "total"),
    [
        ("<think>six sevens</think><answer>42</answer>", 1.1),
        ("<think>six sevens</think><answer>$42.00</answer>", 1.1),
        ("<think>six eights</think><answer>48</answer>", 0.1),
        ("<think>42 or 48</think><answer>42 or 48</answer>", 0.1),
        ("<answer>42</answer>", 0.0),
        ("The answer is 42.", 0.0),
    ],
)
def test_what_it_pays_in_the_end(completion: str, total: float) -> None:
    assert rk.score(reward, [completion], answer=["#### 42"]).total[0] == pytest.approx(total)


def test_the_format_counts_more_at_the_start() -> None:
    start = rk.Progress(step=0, max_steps=100)
    wrong = "<think>six eights</think><answer>48</answer>"
    assert rk.score(reward, [wrong], answer=["#### 42"], progress=start).total[0] == pytest.approx(0.5)


def test_it_keeps_the_laws(check_reward: Any) -> None:
    check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, budget=120)
