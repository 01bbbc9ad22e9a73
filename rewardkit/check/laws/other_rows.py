"""Laws of other rows: what is right for one gold answer is right for others of its kind, such as 0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.batch.score import Outcome
from rewardkit.check.completion.anatomy import as_number
from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import Variant, finding, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.sensitivity import atoms_of
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.trials import Seen, Trial, text_of
from rewardkit.check.variants.other_golds import Gold, other_golds
from rewardkit.check.variants.wrong_answers import equal
from rewardkit.errors import RewardKitError, shorten

_SCALE = re.compile(r"\b(\d{1,3})\s?(?:to|-|–)\s?(\d{1,3})\b")


@law(
    advice="Look at how the code reads this gold answer: 0 and False are values, and a pattern needs re.escape",
    skip="no gold answer of a kind that can be replaced, or another column goes with it",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def right_for_every_gold(subject: Subject, right: Judged) -> Iterator[Variant | Finding | None]:
    """A row whose gold answer the reward misreads teaches nothing, or the opposite: 0 counts as missing, say.

    The gold answer is replaced in the column and in a right completion, by values of the kind that the examples have.
    Where such a completion is paid, wrong answers must earn less.
    """
    anatomy = right.anatomy
    if not right.judges or anatomy.column not in subject.columns_read or subject.reads_prompts or not right.text_counts:
        return
    tried = [*_tried(subject, right)]
    if not any(right.paid(score) for gold, score, _ in tried if gold.certain):
        return  # it also judges something that goes with the gold answer
    yield None
    wrong = max((score.value for _, score in right.honest if score.scored and not right.paid(score)), default=0.0)
    for gold, score, trial in tried:
        column = f"{anatomy.column}={shorten(gold.value)}"
        if gold.certain and _loses(score, (right.value + wrong) / 2):
            earns = f"earns {score.value:.6g}" if score.scored else "gets no score"
            yield finding(subject, trial, score, f"a right completion {earns} for {column}, {right.value:.6g} before")
        if right.paid(score):
            before = [right.completion] if _is_marked_apart(right, gold) else []
            for completion in (*before, *(right.saying(anatomy.saying(text)) for text in gold.wrong)):
                why = f"a wrong answer earns {{score}} for {column}, the right one {{base}}"
                yield Variant(Trial(completion, right.example, trial.columns), why, base=trial)


def _loses(seen: Seen, limit: float) -> bool:
    """Whether a completion earns less than the limit, or is left out of the training."""
    return seen.value < limit if seen.scored else seen.outcome is Outcome.ABSTAINED


def _is_marked_apart(right: Judged, gold: Gold) -> bool:
    """Whether the answer of a right completion is marked, and certainly wrong for another gold answer."""
    said = right.anatomy.region.of(right.anatomy.text)
    return right.anatomy.marked and gold.certain and gold.written not in said and not equal(gold.written, said)


@law(
    advice="Let the branch for these rows compare the answer, too",
    skip="its code compares no column of the examples with a value",
    applies=needs_good,
    per=judged,
)
def rows_of_every_kind(subject: Subject, right: Judged) -> Iterator[Variant | None]:
    """A branch for rows of one kind, which no example has, may pay every answer there.

    Wrong completions are tried with each value that the code compares a column with: ``if level == "easy": ...``.
    """
    own, bads = subject.examples[right.example].columns, subject.examples[right.example].bad
    wrong = [text for text, score in right.honest if not right.paid(score)][:4] if right.judges else []
    for columns in (aim.columns for aim in subject.aims if wrong):
        name = next(iter(columns), right.anatomy.column)
        if name in own and name != right.anatomy.column and type(own[name]) is type(columns[name]):
            first, *twins = (Trial(right.saying(text), right.example, columns) for text in wrong)
            why = f"with {name}={columns[name]!r}, a wrong answer earns {{score}}, like the right one without it"
            yield Variant(first, why, twins=tuple(twins))
    refuses = right.judges or not all(map(right.paid, subject.see([Trial(bad, right.example) for bad in bads])))
    for column in _kinds(subject, right.example) if refuses else ():
        yield None
        value = own[column]
        other: Any = ["no:such_kind"] * len(value) if isinstance(value, (list, tuple)) else "no such kind"
        texts = ["word", *map(text_of, bads)]
        first, *twins = (replace(right.trial(text), columns={column: other}) for text in texts)
        with suppress(RewardKitError):  # its annotation admits no such value
            subject.see([first])
            why = f"with {column}={shorten(other)}, which the code does not know, any text earns {{score}}"
            yield Variant(first, why, twins=tuple(twins))


def _kinds(subject: Subject, example: int) -> list[str]:
    """Return the columns whose texts the code knows: kinds, names of checks."""
    known = {text.lower() for text in subject.mined.texts}
    found = []
    for column in sorted(subject.columns_read):
        words = [word for atom in atoms_of(subject.examples[example].columns.get(column)) for word in atom.split(":")]
        if words and all(word.lower() in known for word in words):
            found.append(column)
    return found


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
