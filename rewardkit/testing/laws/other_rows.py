"""Laws of other rows: what is right for one gold answer is right for others of its kind, such as 0."""

from __future__ import annotations

from collections.abc import Iterator

from rewardkit.core.errors import RewardKitError, shorten
from rewardkit.testing.findings import Finding
from rewardkit.testing.judgment import Judged, judged
from rewardkit.testing.laws.base import Skip, finding, law
from rewardkit.testing.laws.golds import needs_good
from rewardkit.testing.other_golds import Gold, other_golds
from rewardkit.testing.subject import Subject
from rewardkit.testing.trials import Seen, Trial, with_text

_OF_PROMPTS = frozenset(("prompt", "prompts"))


@law
def right_for_every_gold(subject: Subject) -> Iterator[Finding]:
    """A row whose gold answer the reward misreads teaches nothing, or the opposite: 0 counts as missing, say.

    The gold answer is replaced in the column and in a right completion, by values of the kind that the examples have.
    """
    needs_good(subject)
    looked = False
    for right in judged(subject):
        column = right.anatomy.column
        if not right.judges or subject.columns_read != {column} or subject.mined.names & _OF_PROMPTS:
            continue
        known = [example.columns.get(column) for example in subject.examples]
        tried = [*_tried(subject, right, known)]
        if not any(right.paid(seen) for _, seen, _ in tried):
            continue  # it also judges something that goes with the gold answer
        looked = True
        wrong = max((seen.value for _, seen in right.honest if seen.scored and not right.paid(seen)), default=0.0)
        for gold, seen, trial in tried:
            if seen.scored and seen.value < (right.value + wrong) / 2:
                why = f"a right completion earns {seen.value:.6g} for {_said(column, gold)}, {right.value:.6g} before"
                yield finding("right_for_every_gold", subject, trial, seen, why)
                return
        for gold, _, _ in tried:
            other = Trial(right.completion, right.example, {column: gold.value})
            (seen,) = subject.see([other])
            if (
                right.anatomy.marked
                and right.paid(seen)
                and gold.written not in right.anatomy.region.of(right.anatomy.text)
            ):
                why = f"the answer {shorten(right.anatomy.gold)} earns {seen.value:.6g} for {_said(column, gold)}, too"
                yield finding("right_for_every_gold", subject, other, seen, why)
                return
    if not looked:
        raise Skip("no gold answer of a kind that can be replaced, or another column goes with it")


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
            trials = [Trial(with_text(right.completion, text), right.example, columns) for text in wrong]
            seen = subject.see(trials)
            if all(map(right.paid, seen)):
                said = f"{name}={columns[name]!r}"
                why = f"with {said}, a wrong answer earns {seen[0].value:.6g}, like the right one without it"
                yield finding("rows_of_every_kind", subject, trials[0], seen[0], why)
                return
    if not looked:
        raise Skip("its code compares no column of the examples with a value")


def _tried(subject: Subject, right: Judged, known: list[object]) -> Iterator[tuple[Gold, Seen, Trial]]:
    """Yield other gold answers, each with the completion that is right for it, and its score."""
    anatomy = right.anatomy
    for gold in other_golds(anatomy.value, anatomy.gold, known):
        text = with_text(right.completion, anatomy.saying(gold.written))
        trial = Trial(text, right.example, {anatomy.column: gold.value})
        try:
            (seen,) = subject.see([trial])
        except RewardKitError:
            continue  # its annotation admits no such value
        yield gold, seen, trial


def _said(column: str, gold: Gold) -> str:
    return f"{column}={shorten(gold.value)}"


ALL = (right_for_every_gold, rows_of_every_kind)
