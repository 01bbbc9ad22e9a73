"""Answers that follow their instructions score highest, `gated` closes the holes of `naive`, and the data is sound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prompts import TRAINED, UNTRAINED, prompts
from reward import BAD, EXAMPLES, GOOD, gated, naive

import rewardkit as rk

HERE = Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "data.jsonl").read_text(encoding="utf-8").splitlines()]
HELD_OUT = [json.loads(line) for line in (HERE / "held_out.jsonl").read_text(encoding="utf-8").splitlines()]
SEA = {"topic": "sea", "instruction_id_list": ["change_case:english_lowercase", "punctuation:no_comma"],
       "kwargs": "[{}, {}]"}  # fmt: skip
COMPLETIONS = [
    ("the sea is calm and blue in the morning.", 20, 1.0, 1.0),
    ("the sea is calm, and blue in the morning.", 20, 0.75, 0.6),
    ("The sea is calm, and blue in the morning.", 20, 0.5, 0.2),
    ("the sea", 3, 1.0, 0.0),
    ("the sea the sea the sea the sea", 9, 1.0, 0.0),
    ("the bread is warm and soft in the morning.", 20, 0.5, 0.0),
    ("the sea is calm and blue in the morning.", 42, 1.0, 0.85),
    ("the sea is calm and blue in the morning.", 48, 1.0, 0.7),
]


@pytest.mark.parametrize(("completion", "tokens", "by_naive", "by_gated"), COMPLETIONS)
def test_scores(completion: str, tokens: int, by_naive: float, by_gated: float) -> None:
    columns: Any = {name: [value] for name, value in SEA.items()}
    for reward, expected in ((naive, by_naive), (gated, by_gated)):
        table = rk.score(reward, [completion], completion_ids=[[7] * tokens], **columns)
        assert table.total[0] == pytest.approx(expected)


def test_held_out_prompts_have_other_topics_and_half_of_them_other_kinds() -> None:
    assert not {row["topic"] for row in ROWS} & {row["topic"] for row in HELD_OUT}
    assert {kind for row in ROWS for kind in row["instruction_id_list"]} == set(TRAINED)
    others = [row for row in HELD_OUT if not row["trained"]]
    assert {kind for row in others for kind in row["instruction_id_list"]} == set(UNTRAINED)
    assert len(others) == len(HELD_OUT) / 2
    assert prompts(64, held_out=True) == HELD_OUT
    assert prompts(9) != prompts(9, seed=1)


@pytest.mark.parametrize("row", [*ROWS[:40], *HELD_OUT], ids=lambda row: row["request"][:40])
def test_every_instruction_can_be_checked(row: dict[str, Any]) -> None:
    columns: Any = {name: [row[name]] for name in ("topic", "instruction_id_list", "kwargs")}
    table = rk.score(rk.instructions(), ["An answer."], **columns)
    assert len(row["instruction_id_list"]) == len(json.loads(row["kwargs"]))
    assert 0.0 <= table.total[0] <= 1.0


def test_it_keeps_the_laws(check_reward: Any) -> None:
    check_reward(gated, examples=EXAMPLES, good=GOOD, bad=BAD, budget=120)
