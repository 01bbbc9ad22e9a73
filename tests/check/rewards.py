"""Rewards that several tests of the harness look at; at module level, so that other processes find them.

``broken(naive, "gold_above_perturbed_gold")`` are the findings of one law, ``assert_held(tagged_number, "total")``
says that another found nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import rewardkit as rk
from rewardkit.check.check import check_reward, subject_of
from rewardkit.check.declarations import with_declarations
from rewardkit.check.findings import Finding, LawResult
from rewardkit.check.laws import Law
from rewardkit.check.reports import Report
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest

EXAMPLES: list[dict[str, Any]] = [{"prompt": "6*7?", "answer": "42"}, {"prompt": "3+4?", "answer": "7"}]
GOOD = ["<think>6*7</think><answer>42</answer>", "<think>3+4</think><answer>7</answer>"]
BAD = ["<think>6*7</think><answer>41</answer>", "<think>3+4</think><answer>8</answer>"]
QUICK = (
    "total",
    "finite",
    "gold_gets_the_maximum",
    "gold_above_perturbed_gold",
    "separates_good_from_bad",
    "informative",
)

number = rk.number("answer", extract=rk.extract.tag("answer"))
form = rk.tags("think", "answer")
tree = 0.2 * form + rk.gate(when=form, then=0.8 * number)


def naive(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """Pays the gold answer anywhere."""
    return [1.0 if gold in text else 0.0 for text, gold in zip(completions, answer, strict=True)]


def tagged_number(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """A sound reward: the only answer tag after the thinking, with only the number in it."""
    scores = []
    for text, gold in zip(completions, answer, strict=True):
        found = re.fullmatch(r"(?:<think>[^<]*</think>)?\s*<answer>\s*(-?[0-9]{1,9})\s*</answer>\s*", text)
        scores.append(1.0 if found and int(found.group(1)) == int(gold) else 0.0)
    return scores


def raises_on_empty(completions: list[str], answer: list[str], **kwargs: Any) -> list[float]:
    """``text.split()[-1]`` of a text without words."""
    return [float(text.split()[-1] == gold) for text, gold in zip(completions, answer, strict=True)]


@rk.reward
def closeness(completion: str, answer: float) -> float:
    """A sound one with partial credit: falls with the relative error."""
    found = re.fullmatch(r"(?:<think>[^<]*</think>)?<answer>(-?[0-9]{1,9}(?:\.[0-9]{1,9})?)</answer>", completion)
    return max(0.0, 1.0 - abs(float(found.group(1)) - answer) / max(1.0, abs(answer))) if found else 0.0


@rk.reward(scope="group")
def shortest(completion: list[str]) -> list[float]:
    """1 for the shortest of a group, 0 for the longest."""
    sizes = [len(text) for text in completion]
    low, high = min(sizes), max(sizes)
    return [1.0 if high == low else (high - size) / (high - low) for size in sizes]


@rk.reward
async def awaited(completion: str, answer: str) -> float:
    """A sound one that is asynchronous."""
    found = re.fullmatch(r"(?:<think>[^<]*</think>)?<answer>([0-9]+)</answer>", completion)
    return float(found is not None and found.group(1) == answer)


def noisy(completions: list[str], **kwargs: Any) -> list[float]:
    """Chance decides."""
    return [random.random() for _ in completions]


def subject(reward: Any, *, seed: int = 0, **options: Any) -> RewardUnderTest:
    """A reward on the two sums, as check_reward would see it."""
    given = {"good": GOOD, "bad": BAD, **with_declarations(options)}
    return subject_of(reward, given.pop("examples", EXAMPLES), seed=seed, **given)


def outcome(reward: Any, law: Law | str, **options: Any) -> LawResult:
    """Check one law on the two sums, in this process."""
    given = {
        "examples": EXAMPLES,
        "good": GOOD,
        "bad": BAD,
        "isolate": False,
        "budget": 20.0,
        **with_declarations(options),
    }
    (result,) = check_reward(reward, laws=[law], **given).results
    return result


def check(reward: Any, **options: Any) -> Report:
    """Check the laws in QUICK, or others, on the two sums."""
    given: dict[str, Any] = {
        "examples": EXAMPLES,
        "good": GOOD,
        "bad": BAD,
        "laws": QUICK,
        **with_declarations(options),
    }
    return check_reward(reward, **given)


def broken_laws(report: Report) -> set[str]:
    """The names of the laws that are broken."""
    return {result.law for result in report.results if result.outcome == "broken"}


def shown(reward: Any) -> str:
    """How a parametrized test calls a reward: the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(reward))


def timeless(report: Report) -> dict[str, Any]:
    """A report without the seconds that it took."""
    return _timeless(report.to_dict())


def _timeless(plain: dict[str, Any]) -> dict[str, Any]:
    for entry in (plain, *plain["laws"]):
        del entry["seconds"]
    for part in plain["components"]:
        _timeless(part)
    return plain


def broken(reward: Any, law: str, **options: Any) -> Sequence[Finding]:
    """The findings of one law that has to be broken; each says what every finding must say."""
    result = outcome(reward, law, **options)
    assert result.outcome == "broken", result.reason or "held"
    for one in result.findings:
        assert one.law == law
        assert one.why
        assert one.matters
        assert "rk.score(reward, [" in one.reproduce
    return result.findings


def assert_held(reward: Any, *laws: str, **options: Any) -> None:
    """Each of the laws applies and is not broken."""
    for law in laws:
        result = outcome(reward, law, **options)
        assert result.outcome == "held", f"{law}: {result.reason} {result.findings}"


def assert_skipped(reward: Any, law: str, reason: str, **options: Any) -> None:
    """The law does not apply, and says why."""
    result = outcome(reward, law, **options)
    assert result.outcome == "skipped", result.findings
    assert reason in result.reason
