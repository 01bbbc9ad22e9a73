"""Judgment: find out which properties a reward judges, so that it is blamed only for them.

A format reward pays wrong answers, as it should, and a length reward pays nonsense of the right length. A reward judges
answers if it is seen to tell a right answer from a wrong one of the same length.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from rewardkit.check.completion.parsed_completion import (
    NUMBER,
    ParsedCompletion,
    anatomy_of,
    as_number,
    marks,
    replaced,
)
from rewardkit.check.reward_under_test.reward_under_test import RewardUnderTest
from rewardkit.check.reward_under_test.sweep import anatomies, given, swept
from rewardkit.check.reward_under_test.trials import EQUAL, Trial, TrialResult, text_of, with_text
from rewardkit.check.variants.episodes.messages import answering, has_calls
from rewardkit.check.variants.values import value_of, values_in
from rewardkit.check.variants.wrong_answers import Wrong, equal, plain, wrong_answers

_NO_ANSWER = "I could not find it."


@dataclass(frozen=True)
class Judged:
    """A right completion, and the scores of wrong ones like it.

    Attributes:
        example: the number of its example.
        completion: the completion as given.
        anatomy: its parts.
        seen: its score.
        wrong: answers that are certainly wrong.
        honest: texts with wrong answers that a model may give in good faith, and their scores.
        judges: whether the reward tells the answer from others of the same length.
        keeps_calls: whether another text goes next to the calls, because the reward also judges the answer.
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
        """Return its text without the marks of a tag; the body stays."""
        return self.anatomy.text.replace(f"<{tag}>", "").replace(f"</{tag}>", "")

    def trial(self, text: str) -> Trial:
        """Return another text in the form of this completion."""
        return Trial(self.saying(text), self.example)

    @property
    def text_counts(self) -> bool:
        """Whether its text matters: the words of an agent that is judged by its actions do not."""
        return self.keeps_calls or not has_calls(self.completion)

    def saying(self, text: str) -> Any:
        """Return this completion with another text."""
        return answering(self.completion, text) if self.keeps_calls else with_text(self.completion, text)

    def paid(self, seen: TrialResult) -> bool:
        """Whether a completion earns at least as much as this one."""
        return seen.scored and seen.value >= self.value - EQUAL * max(1.0, abs(self.value))

    def more(self, seen: TrialResult) -> bool:
        """Whether a completion earns more than this one."""
        # Scores that were added up in another order are equal.
        return seen.scored and seen.value > self.value + 1e-6 * max(1.0, abs(self.value))


def judged(subject: RewardUnderTest) -> list[Judged]:
    """Return the right completions that are scored, of at most four examples."""

    def made() -> list[Judged]:
        found = list(_judged(subject))
        judged_columns = {one.anatomy.column for one in found if one.judges and one.anatomy.gold}
        # A property judged in one row is meant to be judged in all: a fault may hide it in another.
        return [replace(one, judges=one.judges or one.anatomy.column in judged_columns) for one in found]

    known: list[Judged] = subject.remembered("judged", made)
    return known


def _judged(subject: RewardUnderTest) -> Iterator[Judged]:
    golds = [anatomy.gold for number in range(len(subject.examples)) for anatomy in anatomies(subject, number)[:1]]
    for number, example in enumerate(subject.examples[:4]):
        for completion, anatomy in list(zip(example.good, anatomies(subject, number), strict=True))[:2]:
            seen = subject.see([Trial(completion, number)])[0]
            if not seen.scored or not _earns(subject, number, seen.value):
                continue  # it earns nothing, which another law reports
            others = [gold for gold in golds if gold and gold != anatomy.gold]
            yield _of(subject, number, completion, anatomy, seen, tuple(_certainly_wrong(anatomy, others)))


def _certainly_wrong(anatomy: ParsedCompletion, others: list[str]) -> list[Wrong]:
    """Return answers that are wrong; `others` are right for other examples."""
    if not anatomy.gold:
        return []
    value = anatomy.gold if anatomy.aliases else anatomy.value
    wrong = wrong_answers(anatomy.gold, f"{anatomy.gold}%" if "%" in anatomy.text else value, others)
    wrong = [one for one in wrong if not any(equal(one.text, alias) for alias in anatomy.aliases)]
    rest = replaced(anatomy.region.of(anatomy.text), [(anatomy.in_region, "")]) if anatomy.marked else ""
    # If more than the gold answer is marked, such as a formula for it, the rest of it may be right.
    return [one for one in wrong if not (plain(rest) and one.family in ("empty", "placeholder"))]


def _earns(subject: RewardUnderTest, number: int, value: float) -> bool:
    """Whether some completion of an example is seen to score less; the given ones are looked at first."""
    return any(
        trial.example == number and seen.scored and value > seen.value + EQUAL
        for trial, seen in chain(_given(subject), _swept(subject))
    )


def _given(subject: RewardUnderTest) -> list[tuple[Trial, TrialResult]]:
    trials = given(subject)
    return list(zip(trials, subject.see(trials), strict=True))


def _swept(subject: RewardUnderTest) -> Iterator[tuple[Trial, TrialResult]]:
    """Yield the sweep with its scores, which are asked for only when the first one is."""
    yield from swept(subject)


def _of(
    subject: RewardUnderTest,
    number: int,
    completion: object,
    anatomy: ParsedCompletion,
    seen: TrialResult,
    wrong: tuple[Wrong, ...],
) -> Judged:
    texts = [anatomy.saying(one.text) for one in wrong if one.honest]
    first = Judged(number, completion, anatomy, seen, wrong, (), judges=False)
    if has_calls(completion):
        (ignored,) = subject.see([Trial(answering(completion, _NO_ANSWER), number)])
        first = replace(first, keeps_calls=not first.paid(ignored))
    honest = tuple(zip(texts, subject.see([first.trial(text) for text in texts]), strict=True))
    first = replace(first, honest=honest)
    scored = [(len(text), not first.paid(one)) for text, one in honest if one.scored]
    as_long = [rejected for size, rejected in scored if size == len(anatomy.text)]
    # A length reward rejects longer or shorter texts; if no wrong answer is as long, most of them must be rejected.
    judges = any(as_long) if as_long else bool(scored) and _most(rejected for _, rejected in scored)
    if not anatomy.gold or not honest:
        judges = any(not first.paid(one) for one in foreign(subject, number, completion))
    return replace(first, judges=judges)


def _most(rejected: Iterable[bool]) -> bool:
    """Whether more than two thirds are: a fault may accept some of them."""
    listed = list(rejected)
    return sum(listed) * 3 > len(listed) * 2


def foreign(subject: RewardUnderTest, number: int, completion: object) -> list[TrialResult]:
    """Score completions that are right for other examples with other gold answers."""
    trials = foreign_trials(subject, number, completion)
    return subject.see(trials)


def foreign_trials(subject: RewardUnderTest, number: int, completion: object) -> list[Trial]:
    """Return completions that are right for other examples and certainly wrong for this one."""
    own = subject.examples[number]
    found = []
    for other, example in enumerate(subject.examples):
        if other == number or example.columns == own.columns:
            continue
        for good in example.good[:1]:
            text = text_of(good)
            if plain(text) == plain(text_of(completion)):
                continue
            there = anatomy_of(text, example.columns, subject.columns_read)
            here = anatomy_of(text, own.columns, subject.columns_read)
            if there.gold and (there.column not in own.columns or own.columns[there.column] == there.value):
                continue
            if here.places and here.column == there.column:
                continue  # its text also has this example's gold answer
            found.append(Trial(good, number))
    return found


def wrongness(subject: RewardUnderTest, right: Judged) -> Callable[[str], bool] | None:
    """Return a test for texts that are certainly not right, by `is_correct=` or by the absence of the gold answer.

    None if neither can tell.
    """
    oracle, columns = subject.declarations.is_correct, dict(subject.examples[right.example].shown)
    if oracle is not None:
        return lambda text: not oracle(text, columns)
    gold = right.anatomy.gold
    # Any limit: a longer answer can be put in other words.
    if not right.judges or not gold or "\n" in gold or gold[:1] in "[{(" or len(plain(gold)) > 60:
        return None
    golds = (gold, *right.anatomy.aliases)
    if any(value_of(one) is not None and as_number(one) is None for one in golds):  # a fraction
        return lambda text: not any(value in map(value_of, golds) for value in values_in(text))
    if all(as_number(one) is not None for one in golds):
        return lambda text: not any(_may_write(text, one) for one in golds)
    if any(len(plain(one)) < 2 for one in golds):
        return None
    return lambda text: not any(_is_half_said(text, one) for one in golds)


def _is_half_said(text: str, gold: str) -> bool:
    """Whether a text has the gold answer, or more than half of its words."""
    words, numbers = {word.strip(",;:[]()") for word in gold.split()}, set(values_in(text))
    said = [plain(word) in plain(text) or value_of(word) in numbers for word in words]
    return plain(gold) in plain(text) or sum(said) * 2 > len(words)


def _may_write(text: str, gold: str) -> bool:
    """Whether a text may have a number near the gold answer, or a formula for it."""
    # "6 * 7", "\frac", "½": a formula may have the value of the gold answer.
    if re.search(r"\d\s*[-+*/^%x×÷!]|\\frac|\\sqrt|[²³½¼¾]|e[-+]?\d", text):
        return True
    if any(character.isdigit() and not character.isascii() for character in text):
        return True
    digits = re.sub(r"\D", "", gold)
    numbers = [*NUMBER.findall(text), *re.findall(r"\d+(?:\.\d+)?", text)]
    return any(equal(found, gold) for found in numbers) or digits in re.sub(r"\D", "", text)


def required_tags(subject: RewardUnderTest, right: Judged) -> list[str]:
    """Return the tags without whose marks a right completion earns less, in order."""
    blocks = right.anatomy.blocks
    seen = subject.see([right.trial(right.text_without(block.name)) for block in blocks])
    return [block.name for block, one in zip(blocks, seen, strict=True) if not right.paid(one)]


def distinguishes(subject: RewardUnderTest) -> bool:
    """Whether different scores were seen."""
    values = (round(seen.value, 9) for _, seen in chain(_given(subject), _swept(subject)) if seen.scored)
    first = next(values, None)
    return any(value != first for value in values)


def is_penalty(subject: RewardUnderTest) -> bool:
    """Whether the best score is zero."""
    if not subject.plain and math.isfinite(subject.bounds[1]):
        return subject.bounds[1] <= EQUAL
    return all(seen.value <= EQUAL for _, seen in chain(_given(subject), _swept(subject)) if seen.scored)


def concerns(subject: RewardUnderTest, number: int, wrong: Any) -> bool:
    """Whether a reward can tell a wrong completion from the right ones.

    It cannot if the wrong one has the same form and another answer, which is in a column that the reward does not ask
    for: form, length and style are all that it judges.
    """
    asked = subject.columns_read | subject.columns_forgotten
    columns = subject.examples[number].columns
    told = anatomy_of(text_of(wrong), columns, subject.columns_read, answered=True)
    for right in anatomies(subject, number):
        reads = right.column in asked if right.gold else bool(asked)
        known = right.gold or (columns and right.marked and told.marked)
        same_answer = right.region.of(right.text).strip() == told.region.of(told.text).strip()
        if reads or not known or same_answer or marks(right.text) != marks(told.text):
            return True
    return not anatomies(subject, number)
