"""Advice: every law and family has one, and what a function reads decides what to do about the commonest errors."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rewardkit.check.exploits import CATALOG
from rewardkit.check.findings import Finding
from rewardkit.check.reports import Section, page_of
from rewardkit.check.run.selection import every_law
from rewardkit.testing import check_reward

CHAT = [{"prompt": [{"role": "user", "content": "6*7?"}], "answer": "42"}]
TEXT = [{"prompt": "6*7?", "answer": "42"}]


def of_messages(completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    return [float(completion[0]["content"] == gold) for completion, gold in zip(completions, answer, strict=True)]


def of_texts(completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    return [float(bool(re.search(gold, text))) for text, gold in zip(completions, answer, strict=True)]


def split(completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    return [float(gold in text.split()) for text, gold in zip(completions, answer, strict=True)]


def added(completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    return [float((text + "")[-2:] == gold) for text, gold in zip(completions, answer, strict=True)]


def test_every_law_and_every_family_has_advice() -> None:
    families = {hack.family for hack in CATALOG}
    names = [(name, "") for name in every_law("file") if name != "exploits"]
    for law, family in [*names, *(("exploits", family) for family in families)]:
        finding = Finding(law, "total", "", {}, None, "wrong", family=family)
        assert finding.advice, (law, family)
        assert finding.advice[-1] not in ". ", (law, family)
        assert "next " in str(finding)


def test_a_law_of_your_own_has_none() -> None:
    finding = Finding("mine", "total", "", {}, None, "wrong")
    assert finding.advice == ""
    assert "next " not in str(finding)


@pytest.mark.parametrize(
    ("reward", "examples", "wanted"),
    [
        (of_messages, TEXT, "give the examples chat prompts"),
        (of_texts, CHAT, 'completion[-1]["content"]'),
        (split, CHAT, 'completion[-1]["content"]'),
        (added, CHAT, 'completion[-1]["content"]'),
    ],
)
def test_text_and_chat_mixed_up(reward: Any, examples: list[dict[str, Any]], wanted: str) -> None:
    report = check_reward(reward, examples=examples, good=["42"], bad=["41"], laws=["gold_gets_the_maximum"])
    assert not report.ok
    assert wanted in report.findings[0].advice
    assert wanted in " ".join(str(report).split())
    assert "next" in page_of([Section(report)])
    assert report.to_dict()["laws"][0]["findings"][0]["advice"] == report.findings[0].advice
    other = CHAT if examples is TEXT else TEXT
    assert check_reward(reward, examples=other, good=["42"], bad=["41"], laws=["gold_gets_the_maximum"]).ok
