"""Test the reward before training: a few cases, all laws, and the training data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from reward import BAD, EXAMPLES, GOOD, reward

import rewardkit as rk

BOOKING = EXAMPLES[0]["booking"]
ROWS = [json.loads(line) for line in Path(__file__).with_name("data.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("completion", "total"),
    [
        (BOOKING, 1.0),
        (f"```json\n{BOOKING}\n```", 1.0),
        (BOOKING.replace("B12", "B13"), 0.86),  # one value of five is wrong
        (BOOKING.replace("6,", '"6",'), 0.827),  # one of them is wrong, and its field has the wrong type
        ("{}", 0.1),
        (f"Sure, here it is: {BOOKING}", 0.0),
        (BOOKING[:-1], 0.0),
    ],
)
def test_what_it_pays(completion: str, total: float) -> None:
    assert rk.score(reward, [completion], booking=[BOOKING]).total[0] == pytest.approx(total, abs=0.001)


def test_the_gold_of_every_row_earns_everything() -> None:
    golds = [row["booking"] for row in ROWS]
    assert rk.score(reward, golds, booking=golds).total.tolist() == pytest.approx([1.0] * len(ROWS))


def test_it_keeps_the_laws(check_reward: Any) -> None:
    check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, budget=120)
