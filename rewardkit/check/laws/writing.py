"""Laws of writing: a right answer earns its pay on one line or several, with its comma or without."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import finding, law, needs_good_alone
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import anatomies, swept
from rewardkit.check.reward_under_test.trials import EQUAL, Seen, Trial, with_text
from rewardkit.check.variants.dresses import DOTALL, Dress, dresses
from rewardkit.check.variants.episodes.messages import has_calls

_SOME = 0.05
"""The share of the pay that counts as a loss."""


@law(
    advice="Allow for it: re.DOTALL in the pattern, .strip() on the answer, commas and units removed from both sides",
    fast=True,
    turn=Turn.EARLY,
    names_line=True,
    applies=needs_good_alone,
    every=True,
)
def right_however_written(subject: Subject) -> Iterator[Finding]:
    """A model writes a right answer as it likes: if it earns nothing on several lines, the policy learns a quirk.

    Right completions are tried with line breaks in the thinking and around the answer, on one line, with Windows line
    ends, after an opening tag that the prompt has, and with the answer without a comma or a unit of the gold answer.
    """
    known: set[str] = set()
    for right in judged(subject):
        for dress in dresses(subject, right) if right.text_counts else ():
            found = None if dress.name in known else _paid_less(subject, right, dress)
            if found is not None:
                known.add(dress.name)
                yield found
    yield from _only_on_one_line(subject)


def _paid_less(subject: Subject, right: Judged, dress: Dress) -> Finding | None:
    """Return a finding if a right completion loses its pay by the way in which it is written."""
    trial = right.trial(dress.text)
    seen = subject.see([trial])[0]
    nothing = _nothing(subject, right)
    limit = right.value - _SOME * (right.value - nothing) if dress.any_cost or dress.partly else nothing
    if not seen.scored or seen.value > limit or right.paid(seen) or (dress.partly and seen.value <= nothing):
        return None
    if dress.control and not right.paid(subject.see([right.trial(dress.control)])[0]):
        return None
    hint = f": {dress.hint}" if dress.hint and (dress.hint != DOTALL or subject.mined.has_dots) else ""
    why = f"a right completion {dress.name} earns {seen.value:.6g} instead of {right.value:.6g}{hint}"
    return finding(subject, trial, seen, why, unreachable=dress.unreachable, advice=_tip(subject))


def _tip(subject: Subject) -> str:
    """Return the advice for a reward that has no pattern with a dot; empty for the usual one."""
    said = "Allow for it: .strip() on the answer, commas and units removed from both sides"
    return "" if subject.mined.has_dots else said


def _nothing(subject: Subject, right: Judged) -> float:
    """Return the score of a wrong answer, or the lowest score if the reward judges no answers."""
    wrong = [seen.value for _, seen in right.honest if seen.scored and not right.paid(seen)]
    return (max(wrong) if right.judges and wrong else _lowest(subject, right.example)) + EQUAL


def _lowest(subject: Subject, example: int) -> float:
    return min((seen.value for trial, seen in swept(subject) if trial.example == example and seen.scored), default=0.0)


def _only_on_one_line(subject: Subject) -> Iterator[Finding]:
    """Report a reward that pays a right completion on one line, but nothing as it was given, on several."""
    for number, example in enumerate(subject.examples[:4]):
        for completion, anatomy in zip(example.good, anatomies(subject, number), strict=True):
            if has_calls(completion):
                continue
            trial = Trial(completion, number)
            line = re.sub(r"\s*\n\s*", " ", anatomy.text.strip())
            seen, other = subject.see([trial, Trial(with_text(completion, line), number)])
            if seen.scored and _is_more(other, seen) and seen.value <= _lowest(subject, number) + EQUAL:
                why = f"a right completion earns {seen.value:.6g} on several lines, but {other.value:.6g} on one"
                hint = f": {DOTALL}" if subject.mined.has_dots else ""
                yield finding(subject, trial, seen, f"{why}{hint}", advice=_tip(subject))
                return


def _is_more(one: Seen, other: Seen) -> bool:
    return one.scored and one.value > other.value + 1e-6
