"""What `check_reward` finds in the four lists: the bugs that must be found, and no noise.

``FINDINGS`` has every finding that the lists may give, with the reason why it is a fault: a model can write the
completion, and its score is wrong. ``NOISE`` has those that are not, at most one in ten.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rewardkit.check.reports.report import distinct
from rewardkit.testing import Declarations, Finding, Report, check_reward
from tests.public_rewards.lists import EVERY, Listed

LENGTHY = ("memory_bounded", "search")
"""They take half of the time of a check, and say little about these functions."""
HANGS = {"countdown.equation_reward_func", "open_r1.code_format_reward"}
"""What hangs for 2 s hangs for 8."""
ALGEBRA = {"open_r1.accuracy_reward", "open_r1.len_reward", "open_r1.cosine_scaled_reward"}
"""With computer algebra, a completion takes milliseconds: the time of long ones is that of math-verify."""
THREADS = "math-verify sets an alarm, which works on the main thread only: asynchronous trainers score on others"

FINDINGS: Mapping[str, Mapping[str, str]] = {
    "gsm8k_gist.xmlcount_reward_func": {
        "right_however_written": "split() with a line break: without one at the end, the whole text counts as a remark",
    },
    "gsm8k_gist.soft_format_reward_func": {
        "right_however_written": "no re.DOTALL: the format that the prompt shows has several lines and earns 0",
        "informative": "for that reason, nothing ever earns more than 0",
    },
    "gsm8k_gist.strict_format_reward_func": {
        "right_however_written": "no re.DOTALL: a second line of reasoning costs everything",
    },
    "gsm8k_gist.int_reward_func": {
        "gold_gets_the_maximum": "the right answer 2,400 is no integer for isdigit()",
        "an unclosed tag": "split() finds an answer in tags that are never closed",
    },
    "gsm8k_gist.correctness_reward_func": {
        "right_however_written": "texts are compared: 2400 is wrong where the gold answer is 2,400",
        "the answer only in the thinking": "split() finds the tags in the reasoning, too",
        "an unclosed tag": "split() finds an answer in tags that are never closed",
    },
    "countdown.format_reward_func": {
        "another answer after the first": "[\\s\\S]*? runs across the first answer to a second one",
    },
    "countdown.equation_reward_func": {
        "the_final_part_counts": "the first answer counts, also in the thinking",
        "right_however_written": "no re.DOTALL: an equation on a separate line earns 0",
        "time_linear": "** is allowed, and eval of a tower of powers never ends",
        "the answer only in the thinking": "the first answer tag counts, also in the thinking",
        "right in the thinking, wrong in the answer": "the first answer tag counts, also in the thinking",
    },
    "unsloth.match_format_exactly": {
        "time_linear": "three lazy wildcards in a row: the time grows with the cube of the length",
        "another line after the form": "re.MULTILINE: $ matches at the end of every line",
        "another answer after the first": "re.MULTILINE, or a wildcard that runs across the first solution",
    },
    "unsloth.match_format_approximately": {},
    "unsloth.check_answer": {
        "right_however_written": "float('2,400') raises: a right answer with a comma earns less than a wrong one",
        "time_linear": "the pattern of match_format_exactly",
        "another line after the form": "the pattern of match_format_exactly",
    },
    "unsloth.check_numbers": {
        "time_linear": ".*?[\\s]{0,}: the time grows with the square of the spaces",
        "an unclosed tag": "the pattern has no closing tag",
    },
    "open_r1.accuracy_reward": {
        "thread_safe": THREADS,
        "the answer only in the thinking": "LaTeX counts anywhere, also if there is no answer after the thinking",
        "thinking that never ends": "LaTeX counts anywhere, also in thinking that was cut off",
        "the prompt repeated": "the unfactored polynomial of the question equals its factors",
    },
    "open_r1.format_reward": {
        "another line after the form": "re.MULTILINE: $ matches at the end of every line",
        "another answer after the first": "re.MULTILINE: a second answer may follow",
    },
    "open_r1.tag_count_reward": {
        "another answer after the first": "tags are counted with their line breaks only: a second answer has none",
    },
    "open_r1.reasoning_steps_reward": {
        "markup without text": "a line that begins with a dash or an asterisk is a step, whatever it says",
    },
    "open_r1.len_reward": {
        "neighbors_do_not_leak": "the shortest and longest are those of the batch, not of the prompt",
        "thread_safe": THREADS,
    },
    "open_r1.cosine_scaled_reward": {
        "thread_safe": THREADS,
        "the answer only in the thinking": "as in accuracy_reward",
        "thinking that never ends": "as in accuracy_reward",
        "the prompt repeated in the thinking": "beyond max_len, the cosine turns and pays for length",
        "one_best_length": "for the same reason, where math-verify reads the long texts in time",
        "deterministic": "math-verify gives up after some seconds: on a busy machine sooner",
        "time_linear": "for that reason, a completion takes seconds or none",
    },
    "open_r1.repetition_penalty_reward": {},
    "open_r1.soft_overlong_punishment_reward": {},
    "open_r1.code_format_reward": {
        "time_linear": "three lazy wildcards in a row, and re.MULTILINE",
        "another line after the form": "re.MULTILINE: $ matches at the end of every line",
        "another answer after the first": "re.MULTILINE: a second answer may follow",
    },
}

NOISE: Mapping[str, Mapping[str, str]] = {
    "open_r1.len_reward": {
        "gold_gets_the_maximum": "the longest of a group earns the least, as it should",
        "separates_good_from_bad": "the same: a wrong answer earns 0 at most, a long right one less",
    },
}

NEEDS_TIME = {
    ("open_r1.accuracy_reward", "the prompt repeated"),
    ("open_r1.cosine_scaled_reward", "the prompt repeated in the thinking"),
    ("open_r1.cosine_scaled_reward", "one_best_length"),
    ("open_r1.cosine_scaled_reward", "deterministic"),
    ("open_r1.cosine_scaled_reward", "time_linear"),
    ("open_r1.cosine_scaled_reward", "the answer only in the thinking"),
    ("open_r1.cosine_scaled_reward", "thinking that never ends"),
    ("unsloth.match_format_exactly", "time_linear"),  # near the limit, so a lead on a fast machine
    ("unsloth.check_answer", "time_linear"),
}
"""Computer algebra takes milliseconds per completion, and a slow machine may not come to these."""


def kind_of(finding: Finding) -> str:
    """The law, or the name of the hack."""
    return finding.why.split(":")[0] if finding.family else finding.law


def checked(listed: Listed, **options: Any) -> Report:
    given: dict[str, Any] = {"examples": listed.examples, "good": listed.good, "bad": listed.bad, "budget": 120.0}
    return check_reward(listed.function, **given, **options)


def kinds(report: Report) -> set[str]:
    return {kind_of(finding) for result in report.results for finding in distinct(result.findings)}


@pytest.mark.slow
@pytest.mark.parametrize("listed", EVERY, ids=lambda one: one.name)
def test_every_bug_is_found_and_nothing_else(listed: Listed) -> None:
    without = (*LENGTHY, "time_linear") if listed.name in ALGEBRA else LENGTHY
    declared = Declarations(seconds_per_completion=2.0) if listed.name in HANGS else None
    report = checked(listed, without=without, declarations=declared)
    noise = set(NOISE.get(listed.name, ()))
    must = {kind for kind in FINDINGS[listed.name] if (listed.name, kind) not in NEEDS_TIME}
    assert must <= kinds(report), report
    assert kinds(report) <= set(FINDINGS[listed.name]) | noise, report


def test_at_most_one_finding_in_ten_is_noise() -> None:
    real, noise = (sum(map(len, found.values())) for found in (FINDINGS, NOISE))
    assert FINDINGS.keys() == {listed.name for listed in EVERY} >= NOISE.keys()
    assert noise <= (real + noise) / 10


QUICK = ("total", "finite", "separates_good_from_bad", "right_however_written", "reads_its_columns")
FEW = {"gsm8k_gist.strict_format_reward_func", "gsm8k_gist.correctness_reward_func", "countdown.format_reward_func"}


@pytest.mark.parametrize("listed", [one for one in EVERY if one.name in FEW], ids=lambda one: one.name)
def test_a_few_laws_of_a_few_functions(listed: Listed) -> None:
    report = checked(listed, laws=QUICK, isolate=False)
    assert kinds(report) == {kind for kind in FINDINGS[listed.name] if kind in QUICK}
    messages = isinstance(listed.examples[0]["prompt"], list)
    noted = {aside.unreachable for aside in report.asides if aside.law == "total"}
    assert ("no messages" in noted, "content None, a tool call" in noted) == (messages, messages)
    assert ("Not counted" in str(report)) == bool(report.asides)
