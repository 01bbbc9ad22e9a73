"""Check the cases with rewardlint's corpus, whose references replace the gold answer of the first row.

Only those cases of the corpus are used whose reference fits the task: whole numbers fit a task of whole numbers. Where
a bare answer is refused, answers are written as the good completion of the case writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from child import Say, finding, main
from rewardlint import audit
from rewardlint.audit import Outcome
from rewardlint.case import Case
from rewardlint.corpus import load
from scorer import CannotCheck, Scorer

KINDS = {
    "whole number": r"[-+−]?\s*\d[\d,]*",
    "decimal": r"[-+−]?[\d,]*\.\d+(e[-+]?\d+)?",
    "letter": r"\(?[A-Z]\)?",
    "yes or no": r"(?i:yes|no)",
    "quantity": r"[-+]?[\d.,]+\s*[A-Za-z%°\\]\S*",
    "formula": r".*[\\/^=√π{}()].*",
}
NUMBERS = {"whole number", "decimal", "formula"}
SURE = {"letter", "yes or no"}
"""References of these kinds, and plain whole numbers, fit every task of their kind; others the reward must take."""


def kind_of(answer: str) -> str:
    return next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, answer.strip())), "text")


def check(scorer: Scorer, say: Say) -> dict[str, Any]:
    """Say what the tool's report lists as accepted, rejected and raised."""
    if not scorer.golds:
        raise CannotCheck("no column has a gold answer")
    gold = scorer.golds[0]
    if not gold.single:
        raise CannotCheck(f"the gold answer is a {type(gold.value).__name__}, not a short text or a number")

    def reward(completion: str, reference: str, prompt: str, counted: bool = True) -> float:
        columns = {gold.column: gold.replaced(reference)}
        if prompt:
            chat = not isinstance(scorer.case.examples[0].get("prompt", ""), str)
            columns["prompt"] = [{"role": "user", "content": prompt}] if chat else prompt
        return scorer.score(completion, 0, columns, counted=counted) or 0.0

    threshold = _threshold(scorer)
    bare = _accepts(reward, gold.text, gold.text, threshold) is True

    def write(answer: str) -> str:
        return answer if bare else scorer.written(answer, 0) or answer

    if not _accepts(reward, write(gold.text), gold.text, threshold):
        raise CannotCheck("the gold answer alone earns nothing, and it is not a part of the good completion")
    chosen = [
        replace(case, id=case.id + suffix, completion=text)
        for case in _fitting(scorer, lambda one: _accepts(reward, write(one), one, threshold))
        for suffix, text in _forms(case, bare, write)
    ]
    if not chosen:
        raise CannotCheck(f"no reference of the corpus fits a task with the gold answer {gold.text[:60]!r}")
    found = audit(reward, name=scorer.case.name, cases=chosen, threshold=threshold)
    if found.is_graded:  # the tool asks for the score of a success
        threshold = 0.99 * min(scorer.full)
        judged = [replace(one, accepted=None if one.error else one.score > threshold) for one in found.outcomes]
        found = replace(found, outcomes=judged, threshold=threshold)
    rejected = [] if found.profile == "format_strict" else found.false_negatives  # the tool calls that no defect
    for outcome in [*found.errors, *found.false_positives, *rejected]:
        say(_shown(outcome))
    return {"profile": found.profile, "cases": len(chosen), "form": "bare" if bare else "as the good completion"}


def _threshold(scorer: Scorer) -> float:
    """Return the score that a user would take as success: halfway between wrong and right completions."""
    wrong, right = max(scorer.wrong), min(scorer.full)
    return (wrong + right) / 2 if wrong < right else 0.5


def _accepts(reward: Callable[..., float], completion: str, reference: str, threshold: float) -> bool | None:
    """Tell whether a completion is paid; None if the reward raises, as a gold answer of another kind may make it."""
    try:
        return reward(completion, reference, "", counted=False) > threshold
    except Exception:
        return None


def _fitting(scorer: Scorer, accepts: Callable[[str], bool | None]) -> list[Case]:
    """Choose the cases about such answers; the exploits are meant for every task."""
    kinds = {kind_of(one.text) for one in scorer.golds}
    fitting = kinds | (NUMBERS if kinds & NUMBERS else set())
    chosen = []
    for case in load():
        kind, taken = kind_of(case.reference), accepts(case.reference)
        sure = kind in kinds and (kind in SURE or re.fullmatch(r"-?\d+", case.reference) is not None)
        if (taken or (taken is False and sure)) and (case.category == "exploit" or kind in fitting):
            chosen.append(case)
    return chosen


def _forms(case: Case, bare: bool, write: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return the completions of a case: one that gives an answer alone, or tries to exploit any text."""
    formed = [(" (in the form of the task)", write(case.completion))]
    if bare:
        return [("", case.completion)]
    if case.category == "exploit":
        return [("", case.completion), *formed]
    return [] if case.category == "format" else formed


def _shown(outcome: Outcome) -> dict[str, Any]:
    kinds = {"false positive": "accepts wrong", "false negative": "rejects right", None: "crash"}
    case = outcome.case
    return finding(
        case.id,
        kinds[outcome.failure_mode],
        case.completion,
        outcome.score,
        gate=case.category == "exploit" or outcome.error is not None,  # these make `rewardlint audit` fail
        detail=f"gold answer {case.reference!r}" + (f": {outcome.error}" if outcome.error else ""),
    )


if __name__ == "__main__":
    main(check)
