"""Ready rewards that agree on the given completions show answers to look at."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.testing import Report
from tests.check.rewards import check, form, number, tagged_number

LAW = "ready_rewards_agree"
CITIES: dict[str, Any] = {
    "examples": [{"prompt": "The capital of Italy?", "answer": "Rome"}, {"prompt": "Of Peru?", "answer": "Lima"}],
    "good": ["<answer>Rome</answer>", "<answer>Lima</answer>"],
    "bad": ["<answer>Milan</answer>", "<answer>Cusco</answer>"],
}


def in_tags(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Refuses the answer in bold."""
    return [float(f"<answer>{gold}</answer>" in text) for text, gold in zip(completions, answer, strict=True)]


def starts(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Accepts the first half of the answer."""
    answers = [re.sub("<.*?>", "", text) for text in completions]
    return [float(gold.startswith(text)) for text, gold in zip(answers, answer, strict=True)]


def looked(reward: Any, **options: Any) -> Report:
    return check(reward, **{"laws": [LAW], **options})


def test_a_notation_that_only_the_ready_reward_accepts_is_a_lead() -> None:
    report = looked(in_tags, **CITIES)
    assert not report.findings, report
    assert "<answer>**Rome**</answer>" in {lead.completion for lead in report.leads}
    assert all(re.search(r"scores 0, but rk\.\w+\('answer'\) gives 1", lead.why) for lead in report.leads)
    assert len(report.leads) <= 3
    assert all((lead.correct, lead.correct_score) == (CITIES["good"][0], 1.0) for lead in report.leads)


def test_an_incorrect_answer_that_only_the_ready_reward_refuses_is_a_lead() -> None:
    leads = looked(starts, **CITIES).leads
    assert any(re.search(r"incorrect answer .* scores 1, but rk\.\w+\('answer'\) gives 0", lead.why) for lead in leads)


def test_a_lead_that_repeats_a_finding_is_not_shown() -> None:
    report = looked(starts, laws=[LAW, "gold_above_perturbed_gold"], **CITIES)
    assert {lead.completion for lead in report.leads} & {finding.completion for finding in report.findings}
    assert "incorrect answer" not in str(report).partition("Leads")[2]


@pytest.mark.parametrize("reward", [number, form, 0.5 * number + form])
def test_ready_rewards_need_no_second_opinion(reward: Any) -> None:
    assert looked(reward)[LAW].reason == "the reward is made of ready rewards"


def test_one_example_is_too_few() -> None:
    one_row = {name: values[:1] for name, values in CITIES.items()}
    assert looked(in_tags, **one_row)[LAW].outcome == "skipped"
    assert looked(tagged_number)[LAW].outcome == "held"


def test_a_ready_reward_that_disagrees_on_a_given_completion_is_no_reference() -> None:
    both = {**CITIES, "bad": [["<answer>Milan</answer>", "<answer> Rome</answer>"], ["<answer>Cusco</answer>"]]}
    assert rk.score(rk.exact("answer"), ["<answer> Rome</answer>"], answer=["Rome"]).total.tolist() == [1.0]
    assert looked(in_tags, **both)[LAW].outcome == "skipped"
