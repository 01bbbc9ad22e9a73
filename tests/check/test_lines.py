"""Lines: a finding about pay names the line of the reward at which the decision fell."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rewardkit as rk
from rewardkit.check.check import subject_of
from rewardkit.check.completion.lines import deciding_line, parting
from rewardkit.check.reward_under_test.trials import Trial
from rewardkit.testing import Declarations, check_reward
from tests.check.rewards import BAD, EXAMPLES, GOOD


def contains(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    scores = []
    for completion, gold in zip(completions, answer, strict=True):
        match = re.search("<answer>(.*)</answer>", completion)
        if match is None:
            scores.append(0.0)
            continue
        if gold in match[1]:
            scores.append(1.0)
        else:
            scores.append(0.0)
    return scores


def in_one_line(completion: str, answer: str) -> float:
    return float(f"<answer>{answer}" in completion)


def lines_of(reward: Any, law: str) -> list[str]:
    report = check_reward(reward, examples=EXAMPLES, good=GOOD, bad=BAD, laws=[law], budget=20)
    return [finding.line for finding in report.findings]


def test_a_wrong_answer_that_is_paid_names_the_comparison() -> None:
    found = lines_of(contains, "gold_above_perturbed_gold")
    assert found
    assert all(re.fullmatch(r"test_lines\.py:\d+: if gold in match\[1\]:", line) for line in found)


def test_a_right_one_that_is_not_paid_names_the_match() -> None:
    [line] = set(lines_of(contains, "right_however_written"))
    assert line.endswith(": if match is None:")


def test_a_decision_within_a_line_has_no_place() -> None:
    assert set(lines_of(in_one_line, "gold_above_perturbed_gold")) == {""}


def test_the_line_is_in_every_report(tmp_path: Path) -> None:
    report = check_reward(contains, examples=EXAMPLES, good=GOOD, bad=BAD, laws=["gold_above_perturbed_gold"])
    report.to_json(tmp_path / "report.json")
    report.to_html(tmp_path / "report.html")
    written = [(tmp_path / name).read_text() for name in ("report.json", "report.html")]
    for text in (str(report), str(report.findings[0]), *written):
        assert "if gold in match" in text


def test_rewards_of_ours_have_no_source_of_yours() -> None:
    subject = subject_of(rk.number("answer"), EXAMPLES, good=GOOD, bad=BAD)
    assert parting(subject, Trial(GOOD[0]), Trial(BAD[0])) == ""


def test_a_long_or_unscored_completion_is_not_run_again() -> None:
    subject = subject_of(contains, EXAMPLES, good=GOOD, bad=BAD)
    long = Trial("x" * 5_000)
    assert deciding_line(subject, long, subject.see([long])[0]) == ""
    assert deciding_line(subject, Trial(GOOD[0]), None) == ""


class Counter:
    """An environment in the file of its reward."""

    def reset(self, **row: Any) -> None:
        self.count = 0

    def add(self, by: int) -> str:
        """Add.

        Args:
            by: how much.
        """
        self.count += by
        return str(self.count)


@rk.reward
def counted(trajectory: rk.Trajectory) -> float:
    if any(call.name == "add" for call in trajectory.calls):
        return 1.0
    return 0.0


@pytest.mark.slow
def test_an_environment_decides_nothing() -> None:
    examples = [{"prompt": [{"role": "user", "content": f"Count to {number}."}], "to": number} for number in (1, 2)]
    good = [{"calls": [("add", {"by": row["to"]})], "answer": str(row["to"])} for row in examples]
    declared = Declarations(environment=Counter)
    report = check_reward(counted, examples=examples, good=good, bad=["no"] * 2, declarations=declared, budget=20)
    lines = {finding.line for finding in report.findings if finding.line}
    assert all("def" not in line and "self.count" not in line for line in lines), lines
