"""Judgment: find out which properties a reward judges, so that the laws blame it only for those.

A format reward accepts incorrect answers, as it should, and a length reward accepts nonsense of the required length. A
reward judges answers if it is observed to score a correct answer above an incorrect answer of the same length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from rewardkit.batch.messages import prompt_text
from rewardkit.check.completion.parsed_completion import (
    ANSWERS,
    NUMBER,
    ParsedCompletion,
    anatomy_of,
    as_number,
    likelihood,
    marks,
    replaced,
)
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import anatomies, given, score_sweep
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of, with_text
from rewardkit.check.variants.episodes.messages import answering, has_calls
from rewardkit.check.variants.values import value_of, values_in
from rewardkit.check.variants.wrong_answers import Wrong, equal, may_agree, other_options, plain, wrong_answers

_NO_ANSWER = "I could not find it."


@dataclass(frozen=True)
class Judged:
    """A correct completion, and the scores of incorrect completions like it.

    Attributes:
        example: the example's number.
        completion: the given completion.
        anatomy: the completion's parts.
        seen: the completion's score.
        wrong: answers that are certainly incorrect.
        honest: texts with incorrect answers that a model may give in good faith, and their scores.
        judges: whether the reward distinguishes the correct answer from other answers of the same length.
        keeps_calls: whether variants keep the tool calls next to a new text, because the reward also judges the text.
    """

    example: int
    completion: object
    anatomy: ParsedCompletion
    seen: TrialResult
    wrong: tuple[Wrong, ...]
    honest: tuple[tuple[str, TrialResult], ...]
    judges: bool
    keeps_calls: bool = False

    @property
    def value(self) -> float:
        return self.seen.value

    @property
    def as_given(self) -> Trial:
        return Trial(self.completion, self.example)

    def text_without(self, tag: str) -> str:
        """Return the text without a tag's opening and closing marks. The body is kept."""
        return self.anatomy.text.replace(f"<{tag}>", "").replace(f"</{tag}>", "")

    def trial(self, text: str) -> Trial:
        """Return a trial of `text` in the format of this completion."""
        return Trial(self.saying(text), self.example)

    @property
    def text_counts(self) -> bool:
        """Whether the text matters. It does not if an agent is judged only by actions."""
        return self.keeps_calls or not has_calls(self.completion)

    def saying(self, text: str) -> Any:
        """Return this completion with its text replaced by `text`."""
        return answering(self.completion, text) if self.keeps_calls else with_text(self.completion, text)

    def paid(self, score: TrialResult) -> bool:
        """Return whether a completion scores at least as high as this one."""
        return score.scored and score.value >= self.value - EQUAL * max(1.0, abs(self.value))

    def more(self, score: TrialResult) -> bool:
        """Return whether a completion scores higher than this one."""
        # Tolerate rounding: scores that are summed in another order count as equal.
        return score.scored and score.value > self.value + 1e-6 * max(1.0, abs(self.value))


def judged(subject: RewardUnderTest) -> list[Judged]:
    """Return the correct completions that have scores, at most two per example, for at most four examples."""

    def made() -> list[Judged]:
        rights = list(_judge_completions(subject))
        judged_columns = {right.anatomy.column for right in rights if right.judges and right.anatomy.gold}
        # A column that is judged in one row is meant to be judged in all rows: a fault may hide it in some.
        return [replace(right, judges=right.judges or right.anatomy.column in judged_columns) for right in rights]

    judged_rights: list[Judged] = subject.remembered("judged", made)
    return judged_rights


def rejects(subject: RewardUnderTest) -> bool:
    """Return whether an incorrect completion was observed to score below a correct one. Nothing is scored for this."""
    if subject.rejects or (subject.remembers("judged") and any(right.judges for right in judged(subject))):
        return True
    for number, example in enumerate(subject.examples):
        good, bad = (
            [score.value for score in subject.known(Trial(text, number) for text in texts) if score.scored]
            for texts in (example.good, example.bad)
        )
        if good and bad and min(bad) < max(good) - EQUAL:
            return True
    return False


def _judge_completions(subject: RewardUnderTest) -> Iterator[Judged]:
    firsts = [anatomy for number in range(len(subject.examples)) for anatomy in anatomies(subject, number)[:1]]
    for number, example in enumerate(subject.examples[:4]):
        for completion, anatomy in list(zip(example.good, anatomies(subject, number), strict=True))[:2]:
            score = subject.see([Trial(completion, number)])[0]
            if not score.scored or not _earns(subject, number, score.value):
                continue  # the completion scores nothing, which another law reports
            rivals = firsts if _has_answers(subject, anatomy.column) else []
            other_golds = [other.gold for other in rivals if other.gold and not _accepts(anatomy.value, other)]
            if re.search(r"[^\W\d_]{2}", anatomy.gold):
                other_golds += other_options(prompt_text(example.prompt), [anatomy.gold, *anatomy.aliases])
            yield _judge_completion(
                subject, number, completion, anatomy, score, tuple(_certainly_wrong(anatomy, other_golds))
            )


def _certainly_wrong(anatomy: ParsedCompletion, other_golds: list[str]) -> list[Wrong]:
    """Return answers that are certainly incorrect. `other_golds` are correct for other examples."""
    if not anatomy.gold:
        return []
    value = anatomy.gold if anatomy.aliases else anatomy.value
    # "50%" and "0.5" may be the same, but "0.5%" is not, so it counts if the sign stays behind the number.
    keeps_sign = all(re.match(r"\s?%", anatomy.text[span.end :]) for span in anatomy.places)
    may_be_share = "%" in anatomy.text and not keeps_sign
    wrong = wrong_answers(anatomy.gold, f"{anatomy.gold}%" if may_be_share else value, other_golds)
    # `wrong` already differs from the gold answer, also in its decimal point, which `equal` ignores.
    other_aliases = [alias for alias in anatomy.aliases if alias.lower() != anatomy.gold.lower()]
    wrong = [answer for answer in wrong if not any(equal(answer.text, alias) for alias in other_aliases)]
    rest = replaced(anatomy.region.of(anatomy.text), [(anatomy.in_region, "")]) if anatomy.marked else ""
    # If more than the gold answer is marked, such as a formula, the rest alone may be right.
    return [answer for answer in wrong if not (plain(rest) and answer.family in ("empty", "placeholder"))]


def _earns(subject: RewardUnderTest, number: int, value: float) -> bool:
    """Return whether any completion for an example scores below `value`. The given completions are tried first."""
    return any(
        trial.example == number and score.scored and value > score.value + EQUAL
        for trial, score in chain(_score_given(subject), _score_sweep(subject))
    )


def _score_given(subject: RewardUnderTest) -> list[tuple[Trial, TrialResult]]:
    trials = given(subject)
    return list(zip(trials, subject.see(trials), strict=True))


def _score_sweep(subject: RewardUnderTest) -> Iterator[tuple[Trial, TrialResult]]:
    """Yield the sweep with its scores. Nothing is scored before the first item is requested."""
    yield from score_sweep(subject)


def _judge_completion(
    subject: RewardUnderTest,
    number: int,
    completion: object,
    anatomy: ParsedCompletion,
    score: TrialResult,
    wrong: tuple[Wrong, ...],
) -> Judged:
    texts = [anatomy.saying(candidate.text) for candidate in wrong if candidate.honest]
    first = Judged(number, completion, anatomy, score, wrong, (), judges=False)
    if has_calls(completion):
        (ignored,) = subject.see([Trial(answering(completion, _NO_ANSWER), number)])
        first = replace(first, keeps_calls=not first.paid(ignored))
    honest = tuple(zip(texts, subject.see([first.trial(text) for text in texts]), strict=True))
    first = replace(first, honest=honest)
    scored = [(len(text), not first.paid(candidate)) for text, candidate in honest if candidate.scored]
    as_long = [rejected for size, rejected in scored if size == len(anatomy.text)]
    # A length reward also rejects longer and shorter texts. So if no wrong answer has the same length, most must be
    # rejected.
    judges = any(as_long) if as_long else bool(scored) and _most(rejected for _, rejected in scored)
    if not anatomy.gold or not honest:
        judges = _tells_rows_apart(subject, first)
    return replace(first, judges=judges)


def _most(rejected: Iterable[bool]) -> bool:
    """Return whether more than two-thirds are rejected.

    This share is arbitrary: a faulty reward may accept some of them.
    """
    listed = list(rejected)
    return sum(listed) * 3 > len(listed) * 2


def foreign_trials(subject: RewardUnderTest, number: int, completion: object) -> list[Trial]:
    """Return completions that are correct for other examples and certainly incorrect for this one."""
    return [
        trial
        for other, trial, gold in _foreign(subject, number, completion)
        if gold or ignores_rows(subject, number, other)
    ]


def _tells_rows_apart(subject: RewardUnderTest, first: Judged) -> bool:
    """Return whether the correct completion of another example scores lower here than there."""
    for other, trial, _ in _foreign(subject, first.example, first.completion):
        this_row, other_row = subject.see([trial, replace(trial, example=other)])
        in_order = this_row.scored and other_row.scored and this_row.value < other_row.value - EQUAL
        if in_order and not first.paid(this_row):
            return True
    return False


def _foreign(subject: RewardUnderTest, number: int, completion: object) -> Iterator[tuple[int, Trial, str]]:
    """Yield (number of another example, its completion for this example, its gold answer if it has one).

    Completions that contain this example's gold answer, or an answer that may be the same, are left out.
    """
    own_example = subject.examples[number]
    for other, example in enumerate(subject.examples):
        if other == number or example.columns == own_example.columns:
            continue
        for good in example.good[:1]:
            text = text_of(good)
            if plain(text) == plain(text_of(completion)):
                continue
            other_anatomy = anatomy_of(text, example.columns, subject.columns_read)
            own_anatomy = anatomy_of(text, own_example.columns, subject.columns_read)
            if other_anatomy.gold and (
                other_anatomy.column not in own_example.columns
                or _accepts(own_example.columns[other_anatomy.column], other_anatomy)
            ):
                continue
            if own_anatomy.places and own_anatomy.column == other_anatomy.column:
                continue  # the text also contains the gold answer of this example
            is_certain = other_anatomy.gold and _has_answers(subject, other_anatomy.column)
            yield other, Trial(good, number), other_anatomy.gold if is_certain else ""


def _has_answers(subject: RewardUnderTest, column: str) -> bool:
    """Return whether a column has gold answers: the reward reads it, or its name says so. Others have only examples."""
    return column in subject.columns_read or likelihood(column) < len(ANSWERS)


def _accepts(value: Any, other: ParsedCompletion) -> bool:
    """Return whether an answer that is correct for another example may also be correct for the column's `value`."""
    values = value if isinstance(value, (list, tuple, set)) else [value]
    return value == other.value or any(
        may_agree(str(item), gold) for item in values for gold in (other.gold, str(other.value))
    )


def ignores_rows(subject: RewardUnderTest, number: int, other_number: int) -> bool:
    """Return whether the reward never looks at the texts and lists in which two examples differ.

    If it does, a completion that it accepts for both examples may be correct for both.
    """
    columns, other_columns = (subject.examples[row].columns for row in (number, other_number))
    contents = [name for name, value in columns.items() if other_columns.get(name) != value and _is_content(value)]
    if not contents:
        return False
    completions = [trial.completion for trial in given(subject)]
    for right in anatomies(subject, number)[:1] if subject.columns_read else ():
        # Small numbers, which are often the border between correct and incorrect answers.
        completions += [subject.formed(right.with_region(str(border))) for border in range(-1, 21) if right.marked]
    pairs = [subject.see([Trial(completion, row) for row in (number, other_number)]) for completion in completions]
    return all(first.same(second) for first, second in pairs)


def _is_content(value: Any) -> bool:
    """Return whether a column's value can describe the task. A number, flag, or word is often only a setting."""
    return isinstance(value, (list, tuple, dict)) or (isinstance(value, str) and len(re.findall(r"\w+", value)) > 1)


def wrongness(subject: RewardUnderTest, right: Judged) -> Callable[[str], bool] | None:
    """Return a function that returns whether a text is certainly incorrect, or None if this cannot be determined.

    A text is incorrect if `is_correct=` returns False for it, or, without `is_correct=`, if it does not contain the
    gold answer.
    """
    oracle, columns = subject.declarations.is_correct, dict(subject.examples[right.example].shown)
    if oracle is not None:
        return lambda text: not oracle(text, columns)
    gold = right.anatomy.gold
    # Arbitrary: an answer of more than 60 characters can be put in other words.
    if (
        not right.judges
        or not gold
        or not _has_answers(subject, right.anatomy.column)
        or "\n" in gold
        or gold[:1] in "[{("
        or len(plain(gold)) > 60
    ):
        return None
    golds = (gold, *right.anatomy.aliases)
    if any(value_of(alias) is not None and as_number(alias) is None for alias in golds):  # a fraction
        return lambda text: not any(value in map(value_of, golds) for value in values_in(text))
    if all(as_number(alias) is not None for alias in golds):
        return lambda text: not any(_may_write(text, alias) for alias in golds)
    if any(len(plain(alias)) < 2 for alias in golds):
        return None
    return lambda text: not any(_is_half_said(text, alias) for alias in golds)


def _is_half_said(text: str, gold: str) -> bool:
    """Return whether a text contains the gold answer or more than half of the gold answer's words."""
    words, numbers = {word.strip(",;:[]()") for word in gold.split()}, set(values_in(text))
    hits = [plain(word) in plain(text) or value_of(word) in numbers for word in words]
    return plain(gold) in plain(text) or sum(hits) * 2 > len(words)


def _may_write(text: str, gold: str) -> bool:
    """Return whether a text may contain a number equal to the gold answer, or a formula for it."""
    # "6 * 7", "\frac", "½": a formula may have the value of the gold answer.
    if re.search(r"\d\s*[-+*/^%x×÷!]|\\frac|\\sqrt|[²³½¼¾]|e[-+]?\d", text):
        return True
    if any(character.isdigit() and not character.isascii() for character in text):
        return True
    digits = re.sub(r"\D", "", gold)
    numbers = [*NUMBER.findall(text), *re.findall(r"\d+(?:\.\d+)?", text)]
    return any(equal(number, gold) for number in numbers) or digits in re.sub(r"\D", "", text)


def required_tags(subject: RewardUnderTest, right: Judged) -> list[str]:
    """Return, in order, the tags whose marks a correct completion needs for its full score."""
    blocks = right.anatomy.blocks
    scores = subject.see([right.trial(right.text_without(block.name)) for block in blocks])
    return [block.name for block, score in zip(blocks, scores, strict=True) if not right.paid(score)]


def distinguishes(subject: RewardUnderTest) -> bool:
    """Return whether the reward gives different scores to the given completions or the completions in the sweep."""
    values = (round(score.value, 9) for _, score in chain(_score_given(subject), _score_sweep(subject)) if score.scored)
    first = next(values, None)
    return any(value != first for value in values)


def is_penalty(subject: RewardUnderTest) -> bool:
    """Return whether the best score is zero, which means that the reward is a pure penalty."""
    if not subject.plain and math.isfinite(subject.bounds[1]):
        return subject.bounds[1] <= EQUAL
    return all(score.value <= EQUAL for _, score in chain(_score_given(subject), _score_sweep(subject)) if score.scored)


def concerns(subject: RewardUnderTest, number: int, wrong: Any) -> bool:
    """Return whether a reward can be expected to distinguish an incorrect completion from the correct ones.

    It cannot if the incorrect completion has the same format but another answer, and the answer is in a column that the
    reward does not read. Such a reward judges only format, length, and style.
    """
    asked_columns = subject.columns_read | subject.columns_forgotten
    columns = subject.examples[number].columns
    wrong_anatomy = anatomy_of(text_of(wrong), columns, subject.columns_read, answered=True)
    for right in anatomies(subject, number):
        reads = right.column in asked_columns if right.gold else bool(asked_columns)
        has_answer = right.gold or (columns and right.marked and wrong_anatomy.marked)
        same_answer = right.region.of(right.text).strip() == wrong_anatomy.region.of(wrong_anatomy.text).strip()
        if reads or not has_answer or same_answer or marks(right.text) != marks(wrong_anatomy.text):
            return True
    return not anatomies(subject, number)
