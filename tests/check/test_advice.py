"""Advice: every law and family has one, and what a function reads decides what to do about the commonest errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.check.exploits import CATALOG
from rewardkit.check.findings import Finding, Law, advice_for
from rewardkit.check.laws.base import finding
from rewardkit.check.reports import Section, page_of
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.check.run.selection import selected
from rewardkit.testing import check_reward
from tests.check.rewards import number, outcome

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


def test_every_law_and_every_family_has_advice(tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").touch()
    every = [law for law in selected(regressions=tmp_path / "kept.jsonl") if law.name != "exploits"]
    (exploits,) = selected(["exploits"])
    advice = {law.name: advice_for(law) for law in every}
    advice |= {hack.family: advice_for(exploits, family=hack.family) for hack in CATALOG}
    assert {name for name, text in advice.items() if not text or text[-1] in ". "} == set()
    assert all(law.why for law in every)


def test_a_law_of_your_own_has_none() -> None:
    def never(subject: Any) -> Iterator[Finding]:
        """Never right."""
        yield finding(subject, Trial("42"), None, "wrong")

    (fault,) = outcome(number, Law("mine", never)).findings
    assert (fault.law, fault.matters, fault.advice) == ("mine", "Never right.", "")
    assert "next " not in str(fault)


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
    assert report.ok is False
    assert wanted in report.findings[0].advice
    assert wanted in " ".join(str(report).split())
    assert "next" in page_of([Section(report)])
    assert report.to_dict()["laws"][0]["findings"][0]["advice"] == report.findings[0].advice
    other = CHAT if examples is TEXT else TEXT
    assert check_reward(reward, examples=other, good=["42"], bad=["41"], laws=["gold_gets_the_maximum"]).ok


def contains(completions: Any, answer: list[str], **kwargs: Any) -> list[float]:
    return [float(gold in completion) for completion, gold in zip(completions, answer, strict=True)]


def test_messages_that_are_compared_as_text_are_named() -> None:
    laws = ["separates_good_from_bad", "gold_gets_the_maximum", "informative"]
    report = check_reward(contains, examples=CHAT, good=["It is 42."], bad=["41"], laws=laws)
    assert len(report.findings) >= 2
    assert all("lists of chat messages" in fault.advice for fault in report.findings)
    blind = check_reward(contains, examples=TEXT, good=["forty-two"], bad=["41"], laws=laws)
    aware = check_reward(of_messages, examples=CHAT, good=["It is 42."], bad=["41"], laws=laws)
    assert blind.findings
    assert aware.findings
    assert not any("lists of chat messages" in fault.advice for fault in [*blind.findings, *aware.findings])
