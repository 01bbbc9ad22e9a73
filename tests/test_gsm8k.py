"""Real completions: two models' answers to GSM8K test questions, with published labels.

The data (OpenAI's grade-school-math, MIT) is not part of the repository. REWARDKIT_DATA is the folder that contains
``gsm8k/``; the default is ``shared/data`` next to the checkout.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk

DATA = Path(os.environ.get("REWARDKIT_DATA", Path(__file__).parents[2] / "shared" / "data")) / "gsm8k"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no GSM8K data in {DATA}: set REWARDKIT_DATA")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("extract", [rk.extract.after("A:"), None], ids=["after A:", "last number"])
def test_number_agrees_with_every_published_label(extract: Any) -> None:
    solutions = rows("model_solutions.jsonl")
    reward = rk.number("reference", thousands=True, extract=extract, gold=rk.extract.after("A:"))
    table = rk.score(
        reward,
        [solution["completion"] for solution in solutions],
        prompts=[solution["prompt"] for solution in solutions],
        reference=[solution["reference"] for solution in solutions],
    )
    assert (table.total == 1.0).tolist() == [solution["is_correct"] for solution in solutions]


@pytest.mark.parametrize("name", ["train.jsonl", "test.jsonl"])
def test_each_raw_gold_answer_scores_full_marks_on_itself(name: str) -> None:
    answers = [row["answer"] for row in rows(name)]
    reward = rk.number("answer", thousands=True, gold=rk.extract.after("####"))
    assert rk.score(reward, answers, answer=answers).total.min() == 1.0
