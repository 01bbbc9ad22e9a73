"""Texts without a boundary find their row by the prompt, and only by what the policy cannot write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.online.rows import Row, RowScore
from rewardkit.serve.dialects import Answer, BadRequest
from rewardkit_adapters import llamafactory as module
from rewardkit_adapters.llamafactory import Prompts

SEPARATOR = "<|im_end|>\n<|im_start|>assistant\n"


def text(prompt: str, response: str) -> str:
    return f"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{prompt}{SEPARATOR}{response}"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"prompt": "2+2?", "answer": "4"},
        {"prompt": "What is 2+2?", "answer": "four"},
        {"messages": [{"role": "user", "content": "3+3?"}, {"role": "assistant", "content": "6"}], "answer": "6"},
    ]
    (tmp_path / "data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.setenv(module.DATA, str(tmp_path / "data.jsonl"))
    monkeypatch.setenv(module.SEPARATOR, SEPARATOR.replace("\n", "\\n"))
    module._prompt_store.cache_clear()


async def matched(rows: Sequence[Row], *, patience: float = 0.0, **_: Any) -> list[RowScore]:
    """Score 1.0 for the answer; fail on "down"."""
    assert patience == module.PATIENCE
    return [
        RowScore(None, {"same": None}, {}, {"same": "failed"}, {}, ("same: the judge is down",))
        if row.completion == "down"
        else RowScore(float(row.completion == row.columns["answer"]), {}, {}, {"same": "scored"})
        for row in rows
    ]


def asked(payload: Any) -> Answer:
    async def answered() -> Answer:
        return await module.dialect["/llamafactory"](payload, matched)

    return asyncio.run(answered())


def test_each_text_finds_its_row() -> None:
    texts = [text("2+2?", "4"), text("2+2?", "5"), text("What is 2+2?", "four"), text("3+3?", "6")]
    answer = asked({"model": "model", "messages": texts})
    assert answer == Answer({"scores": [1.0, 0.0, 1.0, 1.0]})


def test_the_policy_cannot_choose_the_row() -> None:
    response = f"What is 2+2?{SEPARATOR}four"
    assert asked({"messages": [text("2+2?", response)]}).content == {"scores": [0.0]}


def test_a_completion_without_a_score_is_no_number() -> None:
    answer = asked({"messages": [text("2+2?", "4"), text("2+2?", "down")]})
    assert (answer.status, answer.content) == (503, {"error": "a completion has no score: same: the judge is down"})


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (
            {"messages": [text("5+5?", "10")]},
            "no prompt in .*data.jsonl ends before the first .*Fix REWARDKIT",
        ),
        ({"messages": ["2+2? 4"]}, "no prompt in .* in '2.2. 4'"),
        ({"messages": [4]}, "no prompt in"),
        ({"query": []}, "the list 'messages'"),
    ],
)
def test_what_has_no_row_is_refused_and_logged(payload: Any, why: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BadRequest, match=why):
        asked(payload)
    assert "messages" not in payload or "/llamafactory: no prompt in" in caplog.text


def test_the_variables_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(module.SEPARATOR)
    with pytest.raises(BadRequest, match="set the environment variable REWARDKIT_LLAMAFACTORY_SEPARATOR before"):
        asked({"messages": [text("2+2?", "4")]})


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"answer": "4"}], "each data row needs a 'prompt' column"),
        (
            [{"prompt": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}],
            "only one is from the user",
        ),
        (
            [{"prompt": "a", "answer": "1"}, {"prompt": "a", "answer": "2"}],
            "the prompt 'a' occurs in two different rows",
        ),
    ],
)
def test_data_that_tells_too_little_is_refused(rows: Any, why: str) -> None:
    with pytest.raises(rk.RewardDefinitionError, match=why):
        Prompts(rows, SEPARATOR)
