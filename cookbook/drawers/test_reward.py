"""What each reward pays, that calls buy nothing from the sound ones, and that the laws catch the naive one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from environment import Drawers, rows
from reward import BAD, ENVIRONMENT, EXAMPLES, GOOD, exact, matched, naive

import rewardkit as rk
from rewardkit.testing import Declarations, check_reward as checked

ROWS = [json.loads(line) for line in Path(__file__).with_name("data.jsonl").read_text(encoding="utf-8").splitlines()]
ASKED = EXAMPLES[0]["color"]
ACTS = Declarations(environment=ENVIRONMENT)


def conversation(*colors: str, answer: str) -> list[dict[str, Any]]:
    """The calls, what the environment says, and an answer."""
    drawers = Drawers()
    drawers.reset(**EXAMPLES[0])
    said = []
    for color in colors:
        call = {"type": "function", "function": {"name": "open", "arguments": {"color": color}}}
        said.append({"role": "assistant", "content": "", "tool_calls": [call]})
        said.append({"role": "tool", "name": "open", "content": drawers.open(color)})
    return [*said, {"role": "assistant", "content": answer}]


RIGHT = str(EXAMPLES[0]["answer"])
OTHERS = [color for color in json.loads(EXAMPLES[0]["drawers"]) if color != ASKED]
ATTEMPTS = [
    ("looks, and is right", conversation(ASKED, answer=RIGHT), (0.625, 1.0, 1.0)),
    ("guesses right", conversation(answer=RIGHT), (0.5, 1.0, 0.5)),
    ("looks into two drawers", conversation(ASKED, OTHERS[0], answer=RIGHT), (0.75, 1.0, 0.5 + 1 / 3)),
    ("looks four times into one", conversation(*[ASKED] * 4, answer=RIGHT), (1.0, 1.0, 0.5 + 1 / 5)),
    ("looks four times, and is wrong", conversation(*OTHERS[:3], ASKED, answer="7"), (0.5, 0.0, 1 / 5)),
    ("looks, and is wrong", conversation(ASKED, answer="7"), (0.125, 0.0, 0.5)),
    ("says nothing", conversation(answer=""), (0.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(("kind", "completion", "totals"), ATTEMPTS)
def test_what_an_attempt_is_paid(kind: str, completion: list[dict[str, Any]], totals: tuple[float, ...]) -> None:
    columns: dict[str, Any] = {name: [EXAMPLES[0][name]] for name in ("answer", "calls")}
    paid = [rk.score(reward, [completion], **columns).total[0] for reward in (naive, exact, matched)]
    assert paid == pytest.approx(totals)


def test_the_environment_knows_the_answer_of_every_row() -> None:
    drawers = Drawers()
    for row in ROWS:
        drawers.reset(**row)
        assert drawers.open(row["color"]) == row["answer"]
        assert len(set(json.loads(row["drawers"]).values())) == 6
    with pytest.raises(ValueError, match="no purple drawer"):
        drawers.open("purple")
    assert rows(3) == rows(3) != rows(3, seed=1)


@pytest.mark.parametrize("reward", [exact, matched], ids=["exact", "matched"])
def test_it_keeps_the_laws(reward: rk.Reward, check_reward: Any) -> None:
    check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, declarations=ACTS, budget=120)


def test_the_laws_catch_the_naive_one_before_any_training() -> None:
    laws = ["calls_are_not_paid", "results_are_not_answers"]
    found = checked(naive, examples=EXAMPLES, good=GOOD, bad=BAD, declarations=ACTS, laws=laws, budget=5)
    assert {one.law for one in found.findings} == {"calls_are_not_paid"}
