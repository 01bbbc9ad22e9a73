"""Laws of rows: scores differ between completions, and depend on each row's columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.batch.score import Outcome
from rewardkit.check.completion.parsed_completion import ParsedCompletion, as_number, atoms_of, marks, parsed_json
from rewardkit.check.findings import Finding, Turn
from rewardkit.check.laws.base import Skip, Variant, about_good, finding, law, misread_chat, needs_good
from rewardkit.check.reward_under_test.judgment import Judged, ignores_rows, judged
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import given, has_good, score_sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of
from rewardkit.check.reward_under_test.whole import tells_apart
from rewardkit.check.variants.other_golds import Gold, other_golds
from rewardkit.check.variants.own_texts import own_texts, reacts
from rewardkit.check.variants.wrong_answers import equal, leaves, may_agree, plain
from rewardkit.errors import RewardKitError, shorten

# "a number from 1 to 10" and "0-100" in a rubric; years such as 1990-2000 have four digits.
_SCALE = re.compile(r"\b(\d{1,3})\s?(?:to|-|–)\s?(\d{1,3})\b")


@law(
    advice="Look at how the code reads this gold answer: 0 and False are valid values, and text in a "
    "pattern needs re.escape",
    skip="no gold answer has a type that can be replaced, or another column depends on it",
    applies=needs_good,
    per=judged,
    turn=Turn.EARLY,
)
def right_for_every_gold(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | Finding | None]:
    """If the reward misreads a gold answer (for example, 0 as missing), the row teaches the policy nothing, or the
    opposite of the task.

    The gold answer is replaced in the column and in a correct completion with other values of the same kind as in the
    examples. If such a completion scores high, incorrect answers must score lower.
    """
    anatomy = right.anatomy
    if not right.judges or anatomy.column not in subject.columns_read or subject.reads_prompts or not right.text_counts:
        return
    attempts = [*_try_golds(subject, right)]
    if not any(right.paid(score) for gold, score, _ in attempts if gold.certain):
        return  # the reward also judges something that goes with the gold answer
    yield None
    wrong = max((score.value for _, score in right.honest if score.scored and not right.paid(score)), default=0.0)
    for gold, score, trial in attempts:
        column = f"{anatomy.column}={shorten(gold.value)}"
        if gold.certain and _earns_less(score, (right.value + wrong) / 2):
            earns = f"scores {score.value:.6g}" if score.scored else "gets no score"
            # A number may be outside the range of a grade, a length, or a date.
            is_seen = not isinstance(gold.value, int) or gold.value in _range(subject, anatomy.column)
            is_lead = not (is_seen or _COUNTED.search(prompt_text(subject.examples[right.example].prompt)))
            message = f"a correct completion {earns} for {column}, {right.value:.6g} before"
            yield finding(subject, trial, score, message, lead=is_lead)
        if right.paid(score):
            before = [right.completion] if _is_marked_apart(right, gold) else []
            for completion in (*before, *(right.saying(anatomy.saying(text)) for text in gold.wrong)):
                message = f"an incorrect answer scores {{score}} for {column}, and the correct one scores {{base}}"
                yield Variant(Trial(completion, right.example, trial.columns), message, base=trial)


def _range(subject: RewardUnderTest, column: str) -> range:
    """Return the range of the integers in a column."""
    cells = [example.columns.get(column) for example in subject.examples]
    values = [cell for cell in cells if isinstance(cell, int)]
    return range(min(values, default=0), max(values, default=-1) + 1)


_COUNTED = re.compile(r"(?i)how m(?:any|uch)|number of|count|sum|total|differ|remain|\d ?[-+*/×]")
"""Words of a prompt whose answer may be 0."""


def _earns_less(score: TrialResult, limit: float) -> bool:
    """Return whether a completion scores below `limit`, or is excluded from training."""
    return score.value < limit if score.scored else score.outcome is Outcome.ABSTAINED


def _is_marked_apart(right: Judged, gold: Gold) -> bool:
    """Return whether a correct completion's answer is marked, and is certainly incorrect for the gold answer `gold`."""
    marked_text = right.anatomy.region.of(right.anatomy.text)
    return (
        right.anatomy.marked
        and gold.certain
        and gold.written not in marked_text
        and not equal(gold.written, marked_text)
    )


@law(
    advice="Compare the answer also in the branch for these rows",
    skip="its code compares no column of the examples with a value",
    applies=needs_good,
    per=judged,
)
def covers_all_branches(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If no example reaches a branch of the reward's code, the branch may reward every answer, and this fault appears
    only during training.

    Incorrect completions are tried with each value with which the code compares a column, as in
    ``if level == "easy": ...``.
    """
    row, bads = subject.examples[right.example].columns, subject.examples[right.example].bad
    # Arbitrary limit: four wrong answers are enough to show that a branch accepts any answer.
    wrong = [text for text, score in right.honest if not right.paid(score)][:4] if right.judges else []
    for columns in (aim.columns for aim in subject.aims if wrong):
        name = next(iter(columns), right.anatomy.column)
        if name in row and name != right.anatomy.column and type(row[name]) is type(columns[name]):
            first, *twins = (Trial(right.saying(text), right.example, columns) for text in wrong)
            message = (
                f"with {name}={columns[name]!r}, an incorrect answer scores {{score}}, the same as the "
                "correct one without it"
            )
            yield Variant(first, message, twins=tuple(twins))
    refuses = right.judges or not all(map(right.paid, subject.see([Trial(bad, right.example) for bad in bads])))
    for column in _kinds(subject, right.example) if refuses else ():
        yield None
        value = row[column]
        other: Any = ["no:such_kind"] * len(value) if isinstance(value, (list, tuple)) else "no such kind"
        texts = ["word", *map(text_of, bads)]
        first, *twins = (replace(right.trial(text), columns={column: other}) for text in texts)
        with suppress(RewardKitError):  # the annotation does not allow this value
            subject.see([first])
            message = f"with {column}={shorten(other)}, which the code does not handle, any text scores {{score}}"
            yield Variant(first, message, twins=tuple(twins))


def _kinds(subject: RewardUnderTest, example: int) -> list[str]:
    """Return the columns whose strings all appear in the code, such as kinds or names of checks."""
    known_texts = {text.lower() for text in subject.mined.texts}
    kinds = []
    for column in sorted(subject.columns_read):
        words = [word for atom in atoms_of(subject.examples[example].columns.get(column)) for word in atom.split(":")]
        if words and all(word.lower() in known_texts for word in words):
            kinds.append(column)
    return kinds


def _try_golds(subject: RewardUnderTest, right: Judged) -> Iterator[tuple[Gold, TrialResult, Trial]]:
    """Yield other gold answers, each with the score and the trial of a completion that is correct for it."""
    anatomy, smells = right.anatomy, subject.smells
    golds = [example.columns.get(anatomy.column) for example in subject.examples]
    for gold in other_golds(anatomy, golds, in_patterns=smells.makes_patterns, stripped=smells.stripped):
        if not _is_allowed(subject, right, gold):
            continue
        text = right.saying(anatomy.saying(gold.written))
        trial = Trial(text, right.example, {anatomy.column: gold.value})
        try:
            (score,) = subject.see([trial])
        except RewardKitError:
            continue  # the annotation does not allow this value
        yield gold, score, trial


def _leaves(document: Any) -> dict[Any, None]:
    """Return the values in an object or list, which may be JSON text, or {} for other cells."""
    document = parsed_json(document) if isinstance(document, str) else document
    return dict.fromkeys(value for _, value in leaves(document)) if isinstance(document, (dict, list)) else {}


def _is_allowed(subject: RewardUnderTest, right: Judged, gold: Gold) -> bool:
    """Return whether the other columns allow `gold`: ``options="ABC"`` or ``choices=["red", "blue"]`` limit it."""
    columns = subject.examples[right.example].columns
    before, after = (_leaves(document) for document in (right.anatomy.value, gold.value))
    # A text that the code compares, such as the kind of an action, has only a few values.
    if any(value in subject.mined.names for value in before.keys() - after.keys() if isinstance(value, str)):
        return False
    number, scale = as_number(gold.written), _scale(subject, right)
    if number is not None and scale is not None and not scale[0] <= number <= scale[1]:
        return False
    for name in subject.columns_read & set(columns) - {right.anatomy.column}:
        value = columns[name]
        options = list(value) if isinstance(value, (list, tuple)) or _is_letters(value) else []
        if right.anatomy.gold in options and gold.written not in options:
            return False
    return True


def _scale(subject: RewardUnderTest, right: Judged) -> tuple[int, int] | None:
    """Return the lowest and highest value on the answer's scale, or None if there is no scale.

    The scale is read from ``4/5`` in the completion or "1 to 5" in the prompt.
    """
    number = as_number(right.anatomy.gold)
    if number is None or not right.anatomy.places:
        return None
    # "4/5" and "7 / 10": the scale that the completion names.
    behind = re.match(r"\s*/\s*(10|[2-9])\b", right.anatomy.text[right.anatomy.places[-1].end :])
    if behind is not None:
        return 1, int(behind[1])
    for low, high in _SCALE.findall(prompt_text(subject.examples[right.example].prompt)):
        if int(low) <= number <= int(high):
            return int(low), int(high)
    return None


def _is_letters(value: Any) -> bool:
    # "ACD": several options as one text.
    return isinstance(value, str) and re.fullmatch(r"[A-Z]{2,26}", value) is not None


_ENOUGH = 20
"""The number of scored completions from which a constant score counts as a fault. Arbitrary."""


@law(
    advice="Run the reward's pattern on a correct completion. The usual reason is a missing re.DOTALL",
    advice_on_calls="Play a correct completion, and read its calls and results: did a tool fail?",
    fast=True,
    every=True,
)
def informative(subject: RewardUnderTest) -> Iterator[Finding]:
    """If all completions in a group score the same, all advantages are zero. The step costs time but teaches nothing.

    This law checks all completions together, and each example that has correct and incorrect completions.
    """
    if subject.scope == "batch":
        raise Skip('the reward declares scope="batch"')
    scored_pairs = [pair for pair in score_sweep(subject) if pair[1].outcome in (Outcome.SCORED, Outcome.ABSTAINED)]
    if len(scored_pairs) < _ENOUGH:
        raise Skip("the reward scores too few completions")
    values = {round(score.value, 9) for _, score in scored_pairs if score.scored}
    if len(values) <= 1 and not (reacts(subject) and not (subject.mined.has_dots and has_good(subject))):
        if not has_good(subject) and _wants_something(subject):
            raise Skip("no completion that fits its code was found: pass a correct one per example (good=, GOOD)")
        value = next(iter(values), math.nan)
        message = f"all {len(scored_pairs)} completions tried score {value:.6g}{about_good(subject)}"
        trial = (given(subject) or [scored_pairs[0][0]])[0]
        yield finding(
            subject, trial, subject.see([trial])[0], message, advice=misread_chat(subject) or _likely_reason(subject)
        )
        return
    yield from _idle_groups(subject, scored_pairs)
    if subject.scope == "sample":
        yield from _idle_components(subject)


def _wants_something(subject: RewardUnderTest) -> bool:
    """Return whether the reward may look for a text that the check cannot write."""
    code = subject.mined
    return bool(code.patterns or code.tags or code.texts) or all(binding.trusted for _, binding in subject.bindings)


def _likely_reason(subject: RewardUnderTest) -> str:
    """Return advice if all scores are the same and no pattern has a dot, or "" if the law's advice fits."""
    if subject.mined.has_dots:
        return ""
    # Arbitrary limits: long texts are messages, and three show whether anything in the code matters.
    words = [text for text in (*subject.mined.patterns, *subject.mined.texts) if 1 < len(text) <= 30][:3]
    if not words:
        return "Score a correct completion by hand: it should score higher than an empty one"
    mentions = ", ".join(map(repr, words))
    return f"Its code mentions {mentions}: give a correct completion that scores more, or fix how it reads completions"


def _idle_groups(subject: RewardUnderTest, scored_pairs: list[tuple[Trial, TrialResult]]) -> Iterator[Finding]:
    """Report the first example whose correct, incorrect, and wild completions all score the same."""
    for number, example in enumerate(subject.examples):
        values = [score.value for trial, score in scored_pairs if trial.example == number and score.scored]
        if example.good and example.bad and len(values) >= _ENOUGH and max(values) - min(values) <= EQUAL:
            pairs = [(Trial(good, number), Trial(bad, number)) for good in example.good for bad in example.bad]
            if reacts(subject) or all(tells_apart(subject, *pair) for pair in pairs):
                continue
            message = f"all {len(values)} completions tried for this example score {values[0]:.6g}"
            trial = Trial(example.good[0], number)
            yield finding(subject, trial, subject.see([trial])[0], message)
            return


def _idle_components(subject: RewardUnderTest) -> Iterator[Finding]:
    """Report user-defined functions in a tree that score everything the same, even strings that their code mentions."""
    names = {leaf.name for leaf, binding in subject.bindings if not binding.trusted}
    # Without a correct completion, perhaps none that the component wants was tried.
    if len(subject.bindings) < 2 or not names or not has_good(subject):
        return
    more = [Trial(subject.formed(text)) for text in own_texts(subject)]
    scores = [*(score for _, score in score_sweep(subject)), *subject.see(more)]
    for name in sorted(names):
        values = {round(value, 9) for score in scores if not math.isnan(value := score.components.get(name, math.nan))}
        if len(values) == 1 and sum(name in score.components for score in scores) >= _ENOUGH:
            message = (
                f"the component {name!r} gives the score {values.pop():.6g} to all {len(scores)} completions tried"
            )
            trial = (given(subject) or [Trial(subject.formed("word"))])[0]
            yield finding(subject, trial, subject.see([trial])[0], message, component=name)


@law(
    advice="Compare the completion with the column, or remove the argument",
    skip="the reward reads no gold column with two different values, and no flag",
    applies=needs_good,
    every=True,
)
def reads_its_columns(subject: RewardUnderTest) -> Iterator[Finding | None]:
    """A reward that reads the gold answer but gives the same score for any value teaches nothing about the answer.

    For example, ``bool("False")`` is True, so a flag that is stored as text in a file has no effect.
    """
    for column in sorted(subject.columns_read):
        values = _values_of(subject, column)
        is_gold = any(right.anatomy.column == column for right in judged(subject))
        # A puzzle, such as a grid. A list of texts may only limit the answer.
        is_task = subject.columns_read == {column} and any(
            isinstance(value, list) and all(isinstance(item, list) for item in value) for value in values
        )
        if is_task:
            # One completion may be correct for all rows, but hardly for a list from its end to its start.
            values[2:] = [value[::-1] for value in values[:1] if isinstance(value, list)]
        if len(values) < 2 or not (is_gold or is_task or _is_flag(values)):
            continue
        yield None
        pairs = [(trial, result) for trial, result in score_sweep(subject) if result.scored][: subject.affordable(60)]
        if pairs and not any(_matters(subject, column, values, trial, score) for trial, score in pairs):
            trial = next(iter(given(subject)))
            samples = ", ".join(repr(value)[:30] for value in values[:3])
            message = (
                f"the column {column!r} has no effect on {len(pairs)} completions: scores are the same for {samples}"
            )
            yield finding(subject, trial, subject.see([trial])[0], message)


def _matters(subject: RewardUnderTest, column: str, values: list[object], trial: Trial, score: TrialResult) -> bool:
    """Return whether a completion's score changes with another value in the column."""
    cell = subject.examples[trial.example].columns.get(column)
    other_cells = [value for value in values if value != cell or type(value) is not type(cell)]
    changed = False
    for value in other_cells:
        with suppress(RewardKitError):
            (other,) = subject.see([replace(trial, columns={column: value})])
            changed = changed or (other.tried and not other.same(score))
    return changed


@law(
    advice="Pair each completion with its own row: zip(completions, column, strict=True)",
    skip="no answers are marked without words, or the reward reads nothing from the rows",
    applies=needs_good,
    per=judged,
)
def rows_differ(subject: RewardUnderTest, right: Judged) -> Iterator[Variant | None]:
    """If a valid answer for another row is also rewarded for this row, the policy learns one answer for all rows.

    The law applies to marked answers without words, such as grids, if the reward rejects incorrect answers of the same
    form.
    """
    anatomy, examples = right.anatomy, subject.examples
    bads = examples[right.example].bad
    alike = [Trial(bad, right.example) for bad in bads if marks(text_of(bad)) == marks(anatomy.text)]
    if not subject.columns_read or not anatomy.marked or anatomy.gold or not alike or not _is_no_text(anatomy):
        return
    other_rights = [
        other
        for other in judged(subject)
        if examples[other.example].columns != examples[right.example].columns
        and other.anatomy.region.kind == anatomy.region.kind
        and _answer(other) != _answer(right)
    ]
    if other_rights and not any(map(right.paid, subject.see(alike))):
        yield None
        ignored = (other for other in other_rights if ignores_rows(subject, right.example, other.example))
        trials = [Trial(other.completion, right.example) for other in ignored]
        if trials:
            message = "the correct answer to another row also scores {score} here: it is not compared with this row"
            yield Variant(trials[0], message, twins=tuple(trials[1:]))


def _answer(right: Judged) -> str:
    return plain(right.anatomy.region.of(right.anatomy.text))


def _is_no_text(anatomy: ParsedCompletion) -> bool:
    marked_text = anatomy.region.of(anatomy.text)
    # Less than a quarter letters: numbers and formulas have no language.
    return sum(letter.isalpha() for letter in marked_text) * 4 < sum(not letter.isspace() for letter in marked_text)


@law(advice="Read the column that the completion is compared with")
def reads_what_it_asks_for(subject: RewardUnderTest) -> Iterator[Finding]:
    """A function that has a column as a parameter but never reads it bases its score on something else, perhaps a
    constant.

    The law looks for the argument in the function's code. It does not apply to one of several rewards, because such
    rewards may share arguments.
    """
    if not subject.columns_forgotten:
        raise Skip("its functions read all columns that they request")
    for column in sorted(subject.columns_forgotten):
        trial = next(iter(given(subject)), Trial(subject.formed("")))
        message = f"it requests the column {column!r} but never reads it"
        yield finding(subject, trial, subject.see([trial])[0], message)


def _values_of(subject: RewardUnderTest, column: str) -> list[object]:
    values: list[object] = []
    for example in subject.examples:
        value = example.columns.get(column)
        # "1/2" and "0.5" may score the same.
        is_same = value in values or (
            isinstance(value, (str, int, float)) and any(may_agree(str(value), str(other)) for other in values)
        )
        if value is not None and not is_same:
            values.append(value)
    if len(values) == 1 and _is_flag(values):
        opposite = {"True": "False", "False": "True", "true": "false", "false": "true"}
        values.append(opposite[str(values[0])])
    # Arbitrary limit: each value is tried with many completions.
    return values[:4]


def _is_flag(values: list[object]) -> bool:
    return all(value in ("True", "False", "true", "false") for value in values)
