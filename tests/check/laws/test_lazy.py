"""Lazy policies: silence, echoes and constant texts are measured, and blamed if they pay."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.findings import REFUSED
from rewardkit.check.laws.lazy import share_of
from rewardkit.check.reports import Section, page_of
from rewardkit.testing import Report
from tests.check.rewards import check, form, tagged_number

LAW = "lazy_answers_score_low"
EXAMPLES = [{"prompt": "What is 6*7?\nThink.", "answer": "42"}, {"prompt": "What is 3+4?\nThink.", "answer": "7"}]


def missing(score: float) -> Any:
    """A function that gives `score` to a completion without an answer, and 1 to a correct one."""

    def reward(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        marks = [re.search(r"<answer>(.*?)</answer>", text) for text in completions]
        return [score if mark is None else float(mark[1] == gold) for mark, gold in zip(marks, answer, strict=True)]

    return reward


def brief(completions: list[str], **kwargs: Any) -> list[float]:
    return [float(len(text) < 60) for text in completions]


def looked(reward: Any, **options: Any) -> Report:
    return check(reward, **{"examples": EXAMPLES, "laws": [LAW], **options})


@pytest.mark.parametrize(("score", "why"), [(1.0, "silence scores 1, and a correct"), (0.6, "gets 60% of the score")])
def test_silence_that_pays_is_a_finding(score: float, why: str) -> None:
    report = looked(missing(score))
    (finding,) = report.findings
    assert why in finding.why
    assert (finding.completion, finding.correct_score) == ("", 1.0)
    shares = {share.name: share for share in report.shares}
    assert {"silence", "an echo of the prompt", "the prompt's last line", "a constant text", REFUSED} <= {*shares}
    assert shares["silence"].value == pytest.approx(score)
    assert shares["another example's correct completion"].value == 0.0
    text, page = str(report), page_of([Section(report)])
    for shown in (text, page):
        assert f"{score:.0%}" in shown
        assert "What lazy policies get" in shown
    assert report.to_dict()["shares"][0]["count"] == 2


@pytest.mark.parametrize("score", [0.0, 0.5])
def test_what_may_be_intended_is_only_a_line_of_the_table(score: float) -> None:
    report = looked(missing(score))
    assert not report.findings, report
    assert max(share.value for share in report.shares) == score
    assert f"at most, for {'silence' if score else ''}" in str(report)


@pytest.mark.parametrize(
    "reward", [form, brief, lambda completions, **kwargs: [-float("sorry" in text) for text in completions]]
)
def test_rewards_that_judge_no_answers_are_not_measured(reward: Any) -> None:
    report = looked(reward, bad=["sorry " * 20])
    assert report[LAW].outcome == "skipped"
    assert report.shares == ()


def test_a_component_is_not_blamed_for_silence_that_the_sum_rejects() -> None:
    def unlike_numbers(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
        """Judges a part: other numbers, but no text without one."""
        numbers = [re.findall(r"[0-9]+", text) for text in completions]
        return [float(not read or read[-1] == gold) for read, gold in zip(numbers, answer, strict=True)]

    good, bad = ["<answer>42</answer>", "<answer>7</answer>"], ["I cannot.", "<answer>8</answer>"]
    alone = check(unlike_numbers, examples=EXAMPLES, good=good, bad=bad, laws=[LAW])
    assert [finding.completion for finding in alone.findings] == [""]
    assert looked([unlike_numbers, 10 * rk.exact("answer", extract=rk.extract.tag("answer"))], good=good, bad=bad).ok


def test_refused_correct_completions_are_counted() -> None:
    report = looked(tagged_number, good=[["<answer>42</answer>", "**42**"], ["<answer>7</answer>"]])
    (refused,) = [share for share in report.shares if share.name == REFUSED]
    assert refused.count == 3
    assert refused.value == pytest.approx(1 / 3)


def test_the_interval_is_that_of_wilson() -> None:
    share = share_of("silence", [0.0] * 100)
    assert (share.low, round(share.high, 3)) == (0.0, 0.037)
    assert share_of("silence", [1.0]).high == 1.0


def test_a_row_that_asks_for_no_calls_is_answered_by_silence() -> None:
    def calls(completions: list[str], calls: list[str], **kwargs: Any) -> list[float]:
        made = [re.findall(r"<call>(.*?)</call>", text) for text in completions]
        return [float(names == gold.strip("[]").split()) for names, gold in zip(made, calls, strict=True)]

    rows = [{"prompt": "Call the taxi.", "calls": "[taxi]"}, {"prompt": "Thanks, that is all.", "calls": "[]"}]
    good = ["<call>taxi</call>", "You are welcome."]
    assert not looked(calls, examples=rows, good=good, bad=["<call>bus</call>", "<call>taxi</call>"]).findings


def test_an_edit_that_changes_nothing_is_measured() -> None:
    def similar(completions: list[str], after: list[str], **kwargs: Any) -> list[float]:
        new = [text.partition("=======\n")[2].partition("\n>>>>>>>")[0] for text in completions]
        return [SequenceMatcher(None, lines, gold).ratio() for lines, gold in zip(new, after, strict=True)]

    edit = "<<<<<<< SEARCH\nreturn width + {0}\n=======\nreturn width * {0}\n>>>>>>> REPLACE"
    rows = [{"after": f"return width * {name}"} for name in ("height", "length")]
    good = [edit.format(name) for name in ("height", "length")]
    report = looked(similar, examples=rows, good=good, bad=[text.replace("width *", "0 #") for text in good])
    (finding,) = report.findings
    assert "an edit that changes nothing" in finding.why
    assert finding.completion == good[0].replace("*", "+")


def near(completions: list[str], level: list[str], **kwargs: Any) -> list[float]:
    """A quarter less for each step. An unknown level is at -1, next to the first one."""
    order = {"immediate": 0, "urgent": 1, "soon": 2, "standard": 3, "never": 4}
    said = [order.get(text.rpartition(":")[2].strip(), -1) for text in completions]
    return [max(0.0, 1 - abs(one - order[gold]) / 4) for one, gold in zip(said, level, strict=True)]


def test_silence_that_pays_in_one_row() -> None:
    rows = [{"prompt": "Not breathing.", "level": "immediate"}, {"prompt": "A limp.", "level": "never"}]
    good, bad = ["Level: immediate", "Level: never"], ["Level: standard", "Level: urgent"]
    (finding,) = looked(near, examples=rows, good=good, bad=bad).findings
    assert "silence scores 0.75 in this row" in finding.why
