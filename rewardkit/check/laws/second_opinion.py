"""Laws of second opinions: a ready reward that agrees on the given completions also judges other answers."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rewardkit.check.completion.parsed_completion import as_number
from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import Skip, finding, law, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, foreign_trials, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult
from rewardkit.errors import RewardKitError

_READY = {
    "number": "number.reward", "math_equal": "math_equal.reward", "choice": "choice.reward", "exact": "exact",
    "json_match": "json_match", "tool_calls": "tool_calls", "set_match": "sequence",
}  # fmt: skip
"""The modules of the ready rewards, the most lenient last, by name."""
_SHORT = 30
"""The maximum length of a gold answer to write in other notations. Arbitrary: longer texts are copied as they are."""
_UNITS = ("$", "€", "£", "*", "{")
"""Marks before an answer with which another notation, as in "$+49", would be odd."""
_OF_FORMULAS = ("number", "math_equal")
_PER_ROW = 24
"""The maximum number of incorrect answers to compare in each row. Arbitrary: the reward may be slow."""


@law(
    advice="Decide whether this answer is correct. If the ready reward is right, use it, or change the function",
    skip="no ready reward agrees with this reward on the given completions",
    applies=needs_good_alone,
    turn=Turn.LATE,
)
def ready_rewards_agree(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """Two rewards that agree on every given completion, but not on another answer, show an answer to look at.

    The reward is compared with `rk.number`, `rk.math_equal`, `rk.choice`, `rk.exact`, `rk.json_match`, `rk.tool_calls`,
    and `rk.set_match` on the column with the gold answers. Where one of them agrees on the given completions of two or
    more examples, it also scores incorrect answers, the gold answer in other notations, and the answers of other
    examples. A difference is a lead, not a fault.
    """
    if subject.bindings and all(binding.trusted for _, binding in subject.bindings):
        raise Skip("the reward is made of ready rewards")
    rights = [right for right in judged(subject) if right.judges and right.anatomy.gold]
    # One lead for the gold answers that the reward refuses, and one for the incorrect answers that it accepts.
    kinds: dict[bool, list[str]] = {}
    leads: dict[bool, tuple[Judged, Trial, TrialResult, str]] = {}
    for name, ready in _references(subject, rights):
        yield None
        for right in rights:
            for trial, kind, is_gold in _answers(subject, right):
                score, (other,) = subject.see([trial])[0], ready.see([trial])
                verdicts = _verdict(right, score), _ready_verdict(other)
                # A strict ready reward may refuse other notations, and a lenient one may accept more.
                if verdicts == (not is_gold, is_gold) and kind not in kinds.setdefault(is_gold, []):
                    kinds[is_gold].append(kind)
                    reference = f"rk.{name}({right.anatomy.column!r}) gives {other.value:.6g}"
                    message = f"{kind} scores {score.value:.6g}, but {reference}"
                    leads.setdefault(is_gold, (right, trial, score, message))
    for is_gold, (right, trial, score, message) in leads.items():
        rest = kinds[is_gold][1:4]
        more = f". The same holds for {', '.join(rest)}" if rest else ""
        yield finding(subject, trial, score, message + more, correct=right.completion, lead=True)


def _references(subject: RewardUnderTest, rights: list[Judged]) -> Iterator[tuple[str, RewardUnderTest]]:
    """Yield the ready rewards that agree with the reward on all given completions of at least two examples."""
    if len({right.example for right in rights}) < 2:
        return
    for column in dict.fromkeys(right.anatomy.column for right in rights):
        formulas = any(_is_formula(right.anatomy.gold) for right in rights if right.anatomy.column == column)
        for name, module in _READY.items():
            if name in _OF_FORMULAS and not formulas:
                continue  # it compares words as formulas
            with suppress(RewardKitError, ImportError):  # an extra is missing, or the column has another type
                make: Any = getattr(importlib.import_module(f"rewardkit.rewards.{module}"), name)
                ready = RewardUnderTest(make(column), subject.examples, seed=subject.seed)
                if _agrees(subject, rights, ready):
                    yield name, ready


def _agrees(subject: RewardUnderTest, rights: list[Judged], ready: RewardUnderTest) -> bool:
    for right in rights:
        bad = [Trial(completion, right.example) for completion in subject.examples[right.example].bad]
        # Without given incorrect completions, incorrect answers show that the ready reward judges.
        bad = bad or [right.trial(text) for text, score in right.honest[:3] if not right.paid(score)]
        if not bad or any(right.paid(score) for score in subject.see(bad)):
            return False
        best, *worse = ready.see([right.as_given, *bad])
        if _ready_verdict(best) is not True or any(_ready_verdict(score) is not False for score in worse):
            return False
    return True


def _verdict(right: Judged, score: TrialResult) -> bool | None:
    """Return whether the reward accepts a completion, or None if it gives partial credit or no score."""
    if right.paid(score):
        return True
    refused = [other.value for _, other in right.honest if other.scored and not right.paid(other)]
    return False if score.scored and refused and score.value <= max(refused) + EQUAL else None


def _ready_verdict(score: TrialResult) -> bool | None:
    """Return whether a ready reward accepts a completion, or None if it gives partial credit or no score."""
    if not score.scored or EQUAL < score.value < 1.0 - EQUAL:
        return None
    return score.value >= 1.0 - EQUAL


def _answers(subject: RewardUnderTest, right: Judged) -> Iterator[tuple[Trial, str, bool]]:
    """Yield completions with other answers, each with a description, and whether the answer is the gold answer."""
    before = right.anatomy.text[: right.anatomy.places[-1].start] if right.anatomy.places else ""
    for text, form in () if before.endswith(_UNITS) else _notations(right.anatomy.gold):
        yield right.trial(right.anatomy.saying(text)), f"the gold answer {form}", True
    for answer in right.wrong[:_PER_ROW]:
        yield right.trial(right.anatomy.saying(answer.text)), f"an incorrect answer ({answer.kind})", False
    for trial in foreign_trials(subject, right.example, right.completion)[:2]:
        yield trial, "the correct completion of another example", False


def _notations(gold: str) -> Iterator[tuple[str, str]]:
    """Yield a gold answer in other notations that a model writes, each with a description."""
    number = as_number(gold)
    if number is not None:
        yield f"{number}.0" if number == int(number) else f"{number}0", "with another decimal"
        if abs(number) >= 1_000:
            yield f"{number:,}", "with commas"
        yield f"+{number}", "with a plus sign"
        yield f"${number}$", "in dollar signs"
    elif not _is_formula(gold) and len(gold) <= _SHORT and gold[-1].isalnum():
        yield f"**{gold}**", "in bold"
        yield f"{gold}.", "with a period"
        yield gold.upper(), "in capital letters"
        yield gold.lower(), "in small letters"


def _is_formula(gold: str) -> bool:
    return any(character.isdigit() or character in "\\$" for character in gold)
