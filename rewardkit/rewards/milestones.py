"""Milestones: ``rk.milestones("sort", "merge", "return")`` gives 2/3 to ``First sort, then return.``"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.extraction import as_extractor
from rewardkit.text.extractors import Extractor, Whole
from rewardkit.text.json_text import MAX_CHARACTERS, json_parser
from rewardkit.text.visibility import straight
from rewardkit.tree.gold import GoldItems, ItemsText, PlainText, Reading, normal
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import Parameter
from rewardkit.tree.reward import Reward

Milestones = tuple[str, ...]

_MOST = 100
"""The maximum number of milestones. The whole text is searched for each one. The limit is arbitrary: tasks rarely have
more than a few dozen."""


@dataclass(frozen=True)
class Reached:
    """The fraction of milestones that a text reaches. Only the first occurrence of each milestone counts."""

    ordered: bool

    def __call__(self, text: str, milestones: Milestones) -> Score:
        occurrences = [(text.find(milestone), len(milestone)) for milestone in milestones]
        spans = [(start, start + length) for start, length in occurrences if start >= 0]
        reached_count = _longest_chain(spans) if self.ordered else len(spans)
        if reached_count == len(milestones):
            return Score(1.0)
        missing = [milestone for milestone, (start, _) in zip(milestones, occurrences, strict=True) if start < 0]
        notes = [f"missing: {shorten(', '.join(missing), 100)}"] if missing else []
        if reached_count < len(spans):
            notes.append(f"{len(spans) - reached_count} out of order")
        return Score(reached_count / len(milestones), "; ".join(notes))


def _longest_chain(spans: list[tuple[int, int]]) -> int:
    """Return the largest number of spans that follow each other in the text, in this order and without overlap."""
    ends: list[int] = []  # ends[k]: the earliest end of a chain of k + 1 spans
    for start, end in spans:
        length = bisect(ends, start)
        if length == len(ends):
            ends.append(end)
        else:
            ends[length] = min(end, ends[length])
    return len(ends)


@dataclass(frozen=True)
class MilestoneText:
    """A function that normalizes a text and its apostrophes."""

    read: PlainText

    def __call__(self, text: str) -> str:
        return self.read(straight(text))


@dataclass(frozen=True)
class FixedMilestones:
    """A scorer for milestones that are the same in all samples."""

    judge: Reading[str, Milestones]
    milestones: Milestones

    def __call__(self, answer: str | None) -> Score:
        return self.judge(answer, self.milestones)


def _checked(milestones: Milestones) -> Milestones:
    if len(milestones) > _MOST:
        raise ValueError(f"got {len(milestones):,} milestones, but the limit is {_MOST}")
    duplicate = next((milestone for index, milestone in enumerate(milestones) if milestone in milestones[:index]), None)
    if duplicate is not None:
        raise ValueError(f"the milestone {shorten(duplicate, 60)} is listed twice. Remove one")
    return milestones


@dataclass(frozen=True)
class GoldMilestones:
    """A reader for gold cells with milestones: a list, or text that is a JSON list or has one milestone per line."""

    read: ItemsText
    extract: Extractor | None

    def __call__(self, value: object) -> Milestones:
        return _checked(tuple(map(straight, GoldItems(self.read, self.extract)(value))))


def milestones(
    *texts: str,
    column: str | None = None,
    ordered: bool = True,
    ignore_case: bool = False,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    """Score the fraction of milestones that the answer reaches in order, as partial credit for intermediate steps.

    ``rk.milestones("sort", "merge", "return")`` gives 2/3 to ``First sort, then return.``

    A milestone is literal text. Its first occurrence counts, even inside a longer word. The score is based on the
    largest number of milestones that follow each other in order without overlap, so a milestone that comes too early or
    too late loses only its own credit. Since only first occurrences count, repeating a milestone does not raise the
    score. However, a model that has seen the milestones can recite them. Therefore, also reward the result, and choose
    words that are not in the prompt.

    Args:
        texts: up to 100 milestones, in order.
        column: the column with each sample's own milestones, instead of `texts`: a list of strings, or text that is a
            JSON list or has one milestone per line.
        ordered: if False, score the fraction found in any order.
        ignore_case: ignore case. White space, Unicode form (NFC), and the kind of apostrophe are always ignored.
        extract: finds the text to search, by default the whole visible text, ``rk.extract.whole()``.
        gold: finds the milestones in a gold cell that is text.

    Returns:
        A reward in [0, 1]. Adding words to the end of an answer never lowers it.

    Raises:
        RewardDefinitionError: both or neither of `texts` and `column` are given, or a milestone is empty or is listed
            twice.
        MissingExtraError: a column is read and the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell has no milestones, more than 100, or the same milestone twice.
    """
    if bool(texts) == (column is not None):
        raise RewardDefinitionError(
            'milestones: pass either milestones, as in rk.milestones("sort", "merge"), or column='
        )
    if gold is not None and column is None:
        raise RewardDefinitionError("milestones: gold= finds the milestones in a column. Pass column= as well")
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise RewardDefinitionError(f"milestones: column must be the name of a column, got {shorten(column)}")
    where = as_extractor(extract, Whole())
    gold_where = None if gold is None else as_extractor(gold, Whole())
    call_text = expression(
        "milestones",
        *texts,
        column=(column, None),
        ordered=(bool(ordered), True),
        ignore_case=(bool(ignore_case), False),
        extract=(extract and where, None),
        gold=(gold_where, None),
    )
    judge = Reading(MilestoneText(PlainText(bool(ignore_case), MAX_CHARACTERS)), Reached(bool(ordered)))
    answer = Parameter("answer", "completion", view=where)
    if column is None:
        return primitive(FixedMilestones(judge, _fixed(texts, bool(ignore_case))), "milestones", call_text, answer)
    json_parser("rk.milestones with column=")
    reader = GoldMilestones(ItemsText(ignore_case=bool(ignore_case), commas=False), gold_where)
    return primitive(
        judge,
        "milestones",
        call_text,
        answer,
        Parameter("milestones", column, annotation=Annotated[Milestones, BeforeValidator(reader)]),
    )


def _fixed(milestones: Milestones, ignore_case: bool) -> Milestones:
    for milestone in milestones:
        if isinstance(milestone, (list, tuple)):
            raise RewardDefinitionError(
                "milestones: pass the milestones as separate arguments. For a list, write rk.milestones(*texts)"
            )
        if not isinstance(milestone, str) or not milestone.strip():
            raise RewardDefinitionError(f"milestones: a milestone must be non-empty text, got {shorten(milestone)}")
    try:
        return _checked(tuple(normal(straight(milestone), ignore_case=ignore_case) for milestone in milestones))
    except ValueError as problem:
        raise RewardDefinitionError(f"milestones: {problem}") from None
