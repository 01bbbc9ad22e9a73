"""Laws of information: scores differ between completions, and follow the columns that the reward reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from rewardkit.batch.score import Outcome
from rewardkit.check.completion.anatomy import Anatomy, marks
from rewardkit.check.findings import Finding
from rewardkit.check.laws.base import Skip, Variant, about_good, finding, law, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, judged
from rewardkit.check.reward_under_test.subject import Subject
from rewardkit.check.reward_under_test.sweep import given, swept
from rewardkit.check.reward_under_test.trials import EQUAL, Seen, Trial, text_of
from rewardkit.check.reward_under_test.whole import tells_apart
from rewardkit.check.variants.own_texts import own_texts, reacts
from rewardkit.check.variants.wrong_answers import plain
from rewardkit.errors import RewardKitError

_ENOUGH = 20
"""Completions that must be scored before a constant value counts as a fault."""


@law(
    advice="Run the reward's pattern on a right completion; a missing re.DOTALL is the usual reason",
    advice_on_calls="Play a right completion and read its calls and results: has a tool failed?",
    fast=True,
    every=True,
)
def informative(subject: Subject) -> Iterator[Finding]:
    """If all completions of a group earn the same, all advantages are zero: the step costs time and teaches nothing.

    This law looks at all completions together, and at each example with given right and wrong completions.
    """
    if subject.scope == "batch":
        raise Skip('the reward declares scope="batch"')
    seen = [pair for pair in swept(subject) if pair[1].outcome in (Outcome.SCORED, Outcome.ABSTAINED)]
    if len(seen) < _ENOUGH:
        raise Skip("the reward scores too few completions")
    values = {round(one.value, 9) for _, one in seen if one.scored}
    if len(values) <= 1 and not (reacts(subject) and not subject.mined.has_dots):
        value = next(iter(values), math.nan)
        why = f"all {len(seen)} completions tried earn {value:.6g}{about_good(subject)}"
        trial = (given(subject) or [seen[0][0]])[0]
        yield finding(subject, trial, subject.see([trial])[0], why, advice=_tip(subject))
        return
    yield from _idle_groups(subject, seen)
    if subject.scope == "sample":
        yield from _idle_components(subject)


def _tip(subject: Subject) -> str:
    """Return what is known about the reason why all scores are the same; empty for the usual advice."""
    if subject.mined.has_dots:
        return ""
    words = [text for text in (*subject.mined.patterns, *subject.mined.texts) if 1 < len(text) <= 30][:3]
    if not words:
        return "Score a right completion with it by hand: it should earn more than an empty one"
    said = ", ".join(map(repr, words))
    return f"Its code mentions {said}: give a right completion that earns more, or fix how it reads completions"


def _idle_groups(subject: Subject, seen: list[tuple[Trial, Seen]]) -> Iterator[Finding]:
    """Report the first example whose right, wrong and wild completions all earn the same."""
    for number, example in enumerate(subject.examples):
        values = [one.value for trial, one in seen if trial.example == number and one.scored]
        if example.good and example.bad and len(values) >= _ENOUGH and max(values) - min(values) <= EQUAL:
            pairs = [(Trial(good, number), Trial(bad, number)) for good in example.good for bad in example.bad]
            if reacts(subject) or all(tells_apart(subject, *pair) for pair in pairs):
                continue
            why = f"all {len(values)} completions tried for this example earn {values[0]:.6g}"
            trial = Trial(example.good[0], number)
            yield finding(subject, trial, subject.see([trial])[0], why)
            return


def _idle_components(subject: Subject) -> Iterator[Finding]:
    """Report user functions in a tree that score everything the same, even texts that their own code mentions."""
    own = {leaf.name for leaf, binding in subject.bindings if not binding.trusted}
    if len(subject.bindings) < 2 or not own:
        return
    more = [Trial(subject.formed(text)) for text in own_texts(subject)]
    seen = [*(one for _, one in swept(subject)), *subject.see(more)]
    for name in sorted(own):
        values = {round(value, 9) for one in seen if not math.isnan(value := one.components.get(name, math.nan))}
        if len(values) == 1 and sum(name in one.components for one in seen) >= _ENOUGH:
            why = f"the component {name!r} gives {values.pop():.6g} to all {len(seen)} completions tried"
            trial = (given(subject) or [Trial(subject.formed("word"))])[0]
            yield finding(subject, trial, subject.see([trial])[0], why, component=name)


@law(
    advice="Compare the completion with the column, or remove the argument",
    skip="the reward reads no gold column with two different values, and no flag",
    applies=needs_good,
    every=True,
)
def reads_its_columns(subject: Subject) -> Iterator[Finding | None]:
    """A reward that reads the gold answer but pays the same for any value of it teaches nothing about it.

    ``bool("False")`` is True, so a flag that comes as text from a file has no effect.
    """
    for column in sorted(subject.columns_read):
        values = _values_of(subject, column)
        is_gold = any(right.anatomy.column == column for right in judged(subject))
        if len(values) < 2 or not (is_gold or _is_flag(values)):
            continue
        yield None
        pairs = [(trial, seen) for trial, seen in swept(subject) if seen.scored][: subject.affordable(60)]
        if pairs and not any(_matters(subject, column, values, trial, score) for trial, score in pairs):
            trial = next(iter(given(subject)))
            shown = ", ".join(repr(value)[:30] for value in values[:3])
            why = f"the column {column!r} has no effect on {len(pairs)} completions: scores are the same for {shown}"
            yield finding(subject, trial, subject.see([trial])[0], why)


def _matters(subject: Subject, column: str, values: list[object], trial: Trial, score: Seen) -> bool:
    """Whether a completion gets another score with another value of the column."""
    own = subject.examples[trial.example].columns.get(column)
    others = [value for value in values if value != own or type(value) is not type(own)]
    changed = False
    for value in others:
        with suppress(RewardKitError):
            (other,) = subject.see([replace(trial, columns={column: value})])
            changed = changed or not other.same(score)
    return changed


@law(
    advice="Pair each completion with its own row: zip(completions, column, strict=True)",
    skip="no marked answers without words, or nothing is read from the rows",
    applies=needs_good,
    per=judged,
)
def rows_differ(subject: Subject, right: Judged) -> Iterator[Variant]:
    """A valid answer to another row, in the same form, must not be paid for this one: it may solve any of them.

    The law applies to marked answers without words, such as grids, where wrong ones of the same form are refused.
    """
    anatomy, columns = right.anatomy, [example.columns for example in subject.examples]
    bads = subject.examples[right.example].bad
    alike = [Trial(bad, right.example) for bad in bads if marks(text_of(bad)) == marks(anatomy.text)]
    if not subject.columns_read or not anatomy.marked or anatomy.gold or not alike or not _is_no_text(anatomy):
        return
    others = [
        Trial(other.completion, right.example)
        for other in judged(subject)
        if columns[other.example] != columns[right.example]
        and other.anatomy.region.kind == anatomy.region.kind
        and _answer(other) != _answer(right)
    ]
    if others and not any(map(right.paid, subject.see(alike))):
        why = "the right answer to another row earns {score} here, too: it is not compared with this row"
        yield Variant(others[0], why, twins=tuple(others[1:]))


def _answer(right: Judged) -> str:
    return plain(right.anatomy.region.of(right.anatomy.text))


def _is_no_text(anatomy: Anatomy) -> bool:
    said = anatomy.region.of(anatomy.text)
    return sum(letter.isalpha() for letter in said) * 4 < sum(not letter.isspace() for letter in said)


@law(
    advice="Read the column that the completion is compared with",
)
def reads_what_it_asks_for(subject: Subject) -> Iterator[Finding]:
    """A function that asks for a column and never reads it judges by something else, which may be a constant.

    Its argument is looked for in its code. The law does not apply to one of several rewards: they may share arguments.
    """
    if not subject.columns_forgotten:
        raise Skip("its functions read all columns that they ask for")
    for column in sorted(subject.columns_forgotten):
        trial = next(iter(given(subject)), Trial(subject.formed("")))
        why = f"it asks for the column {column!r} and never reads it"
        yield finding(subject, trial, subject.see([trial])[0], why)


def _values_of(subject: Subject, column: str) -> list[object]:
    values: list[object] = []
    for example in subject.examples:
        value = example.columns.get(column)
        if value is not None and value not in values:
            values.append(value)
    if len(values) == 1 and _is_flag(values):
        opposite = {"True": "False", "False": "True", "true": "false", "false": "true"}
        values.append(opposite[str(values[0])])
    return values[:4]


def _is_flag(values: list[object]) -> bool:
    return all(value in ("True", "False", "true", "false") for value in values)
