"""Laws of other rows: what is right for one gold answer is right for others of its kind, such as 0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.batch.score import Outcome
from rewardkit.check.completion.anatomy import as_number
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, finding, law
from rewardkit.check.laws.golds import needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.sensitivity import atoms_of
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import EQUAL, Seen, Trial, text_of
from rewardkit.check.reward_under_test.whole import covered
from rewardkit.check.variants.other_golds import Gold, other_golds
from rewardkit.check.variants.wrong_answers import equal
from rewardkit.errors import RewardKitError, shorten

_SCALE = re.compile(r"\b(\d{1,3})\s?(?:to|-|–)\s?(\d{1,3})\b")


@law
def right_for_every_gold(subject: Subject) -> Iterator[Finding]:
    """A row whose gold answer the reward misreads teaches nothing, or the opposite: 0 counts as missing, say.

    The gold answer is replaced in the column and in a right completion, by values of the kind that the examples have.
    Where such a completion is paid, wrong answers must earn less.
    """
    needs_good(subject)
    looked = False
    for right in judged(subject):
        column = right.anatomy.column
        if not right.judges or column not in subject.columns_read or subject.reads_prompts or not right.text_counts:
            continue
        tried = [*_tried(subject, right)]
        if not any(right.paid(seen) for gold, seen, _ in tried if gold.certain):
            continue  # it also judges something that goes with the gold answer
        looked = True
        wrong = max((seen.value for _, seen in right.honest if seen.scored and not right.paid(seen)), default=0.0)
        for gold, seen, trial in tried:
            if gold.certain and _loses(seen, (right.value + wrong) / 2):
                earns = f"earns {seen.value:.6g}" if seen.scored else "gets no score"
                why = f"a right completion {earns} for {_said(column, gold)}, {right.value:.6g} before"
                yield finding("right_for_every_gold", subject, trial, seen, why)
                return
            found = _wrong_paid(subject, right, gold, seen)
            if found is not None:
                yield found
                return
    if not looked:
        raise Skip("no gold answer of a kind that can be replaced, or another column goes with it")


def _loses(seen: Seen, limit: float) -> bool:
    """Whether a completion earns less than the limit, or is left out of the training."""
    return seen.value < limit if seen.scored else seen.outcome is Outcome.ABSTAINED


def _wrong_paid(subject: Subject, right: Judged, gold: Gold, best: Seen) -> Finding | None:
    """Return a finding if an answer that is wrong for another gold answer is paid, and the right one is."""
    if not right.paid(best):
        return None
    columns = {right.anatomy.column: gold.value}
    before = [right.completion] if _is_marked_apart(right, gold) else []
    others = [right.saying(right.anatomy.saying(text)) for text in gold.wrong]
    for completion in (*before, *others):
        trial = Trial(completion, right.example, columns)
        (seen,) = subject.see([trial])
        if seen.scored and seen.value >= best.value - EQUAL and not covered(subject, right, trial):
            said = _said(right.anatomy.column, gold)
            why = f"a wrong answer earns {seen.value:.6g} for {said}, the right one {best.value:.6g}"
            return finding("right_for_every_gold", subject, trial, seen, why)
    return None


def _is_marked_apart(right: Judged, gold: Gold) -> bool:
    """Whether the answer of a right completion is marked, and certainly wrong for another gold answer."""
    said = right.anatomy.region.of(right.anatomy.text)
    return right.anatomy.marked and gold.certain and gold.written not in said and not equal(gold.written, said)


@law
def rows_of_every_kind(subject: Subject) -> Iterator[Finding]:
    """A branch for rows of one kind, which no example has, may pay every answer there.

    Wrong completions are tried with each value that the code compares a column with: ``if level == "easy": ...``.
    """
    needs_good(subject)
    looked = False
    for right in judged(subject):
        own = subject.examples[right.example].columns
        wrong = [text for text, seen in right.honest if not right.paid(seen)][:4] if right.judges else []
        for columns in (aim.columns for aim in subject.aims if wrong):
            name = next(iter(columns), right.anatomy.column)
            if name not in own or name == right.anatomy.column or type(own[name]) is not type(columns[name]):
                continue
            looked = True
            trials = [Trial(right.saying(text), right.example, columns) for text in wrong]
            seen = subject.see(trials)
            if all(map(right.paid, seen)):
                said = f"{name}={columns[name]!r}"
                why = f"with {said}, a wrong answer earns {seen[0].value:.6g}, like the right one without it"
                yield finding("rows_of_every_kind", subject, trials[0], seen[0], why)
                return
        if right.judges or any(not right.paid(seen) for seen in subject.see(_wrong_trials(subject, right))):
            for column in _kinds(subject, right.example):
                looked = True
                found = _unknown_paid(subject, right, column)
                if found is not None:
                    yield found
                    return
    if not looked:
        raise Skip("its code compares no column of the examples with a value")


def _wrong_trials(subject: Subject, right: Judged) -> list[Trial]:
    return [Trial(bad, right.example) for bad in subject.examples[right.example].bad]


def _kinds(subject: Subject, example: int) -> list[str]:
    """Return the columns whose texts the code knows: kinds, names of checks."""
    known = {text.lower() for text in subject.mined.texts}
    found = []
    for column in sorted(subject.columns_read):
        words = [word for atom in atoms_of(subject.examples[example].columns.get(column)) for word in atom.split(":")]
        if words and all(word.lower() in known for word in words):
            found.append(column)
    return found


def _unknown_paid(subject: Subject, right: Judged, column: str) -> Finding | None:
    """Return a finding if all completions are paid for a kind that the code does not know."""
    value = subject.examples[right.example].columns[column]
    other: Any = ["no:such_kind"] * len(value) if isinstance(value, (list, tuple)) else "no such kind"
    texts = ["word", *(text_of(bad) for bad in subject.examples[right.example].bad)]
    trials = [Trial(right.trial(text).completion, right.example, {column: other}) for text in texts]
    try:
        seen = subject.see(trials)
    except RewardKitError:
        return None
    if not all(map(right.paid, seen)):
        return None
    why = f"with {column}={shorten(other)}, which the code does not know, any text earns {seen[0].value:.6g}"
    return finding("rows_of_every_kind", subject, trials[0], seen[0], why)


def _tried(subject: Subject, right: Judged) -> Iterator[tuple[Gold, Seen, Trial]]:
    """Yield other gold answers, each with the completion that is right for it, and its score."""
    anatomy, smells = right.anatomy, subject.smells
    known = [example.columns.get(anatomy.column) for example in subject.examples]
    for gold in other_golds(anatomy, known, in_patterns=smells.makes_patterns, stripped=smells.stripped):
        if not _is_allowed(subject, right, gold):
            continue
        text = right.saying(anatomy.saying(gold.written))
        trial = Trial(text, right.example, {anatomy.column: gold.value})
        try:
            (seen,) = subject.see([trial])
        except RewardKitError:
            continue  # its annotation admits no such value
        yield gold, seen, trial


def _is_allowed(subject: Subject, right: Judged, gold: Gold) -> bool:
    """Whether the other columns admit a gold answer: ``options="ABC"`` or ``choices=["red", "blue"]`` limit it."""
    columns = subject.examples[right.example].columns
    number, scale = as_number(gold.written), _scale(subject, right)
    if number is not None and scale is not None and not scale[0] <= number <= scale[1]:
        return False
    for name in subject.columns_read & set(columns) - {right.anatomy.column}:
        value = columns[name]
        known = list(value) if isinstance(value, (list, tuple)) or _is_letters(value) else []
        if right.anatomy.gold in known and gold.written not in known:
            return False
    return True


def _scale(subject: Subject, right: Judged) -> tuple[int, int] | None:
    """Return the ends of a scale that the answer is on: ``4/5``, or "from 1 to 5" in the prompt."""
    number = as_number(right.anatomy.gold)
    if number is None or not right.anatomy.places:
        return None
    behind = re.match(r"\s*/\s*(10|[2-9])\b", right.anatomy.text[right.anatomy.places[-1].end :])
    if behind is not None:
        return 1, int(behind[1])
    for low, high in _SCALE.findall(prompt_text(subject.examples[right.example].prompt)):
        if int(low) <= number <= int(high):
            return int(low), int(high)
    return None


def _is_letters(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Z]{2,26}", value) is not None


def _said(column: str, gold: Gold) -> str:
    return f"{column}={shorten(gold.value)}"


ALL = (right_for_every_gold, rows_of_every_kind)
