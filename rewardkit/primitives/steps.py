"""Milestones: ``rk.steps("sort", "merge", "return")`` gives 2/3 to ``First sort, then return.``"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.text.extraction import Extractor, Whole, as_extractor
from rewardkit.core.text.json_text import MAX_CHARACTERS
from rewardkit.core.text.visibility import straight
from rewardkit.core.tree.gold import GoldItems, ItemsText, PlainText, Reading, normal
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward

Milestones = tuple[str, ...]

_MOST = 100
"""Milestones, at most: each one is a search through the whole text."""


@dataclass(frozen=True)
class Steps:
    """The share of milestones that a text reaches, each counted at its first place alone."""

    ordered: bool

    def __call__(self, text: str, milestones: Milestones) -> Score:
        places = [(text.find(milestone), len(milestone)) for milestone in milestones]
        found = [(start, start + length) for start, length in places if start >= 0]
        reached = _longest_chain(found) if self.ordered else len(found)
        if reached == len(milestones):
            return Score(1.0)
        missing = [milestone for milestone, (start, _) in zip(milestones, places, strict=True) if start < 0]
        notes = [f"missing: {shorten(', '.join(missing), 100)}"] if missing else []
        if reached < len(found):
            notes.append(f"{len(found) - reached} out of order")
        return Score(reached / len(milestones), "; ".join(notes))


def _longest_chain(spans: list[tuple[int, int]]) -> int:
    """How many of the spans, taken in their order, can follow one another in the text without overlap."""
    ends: list[int] = []  # ends[k]: where the chain of k + 1 spans that ends first does end
    for start, end in spans:
        length = bisect(ends, start)
        if length == len(ends):
            ends.append(end)
        else:
            ends[length] = min(end, ends[length])
    return len(ends)


@dataclass(frozen=True)
class StepsText:
    """Reads a text in normal form, with one kind of apostrophe."""

    read: PlainText

    def __call__(self, text: str) -> str:
        return self.read(straight(text))


@dataclass(frozen=True)
class FixedSteps:
    """Milestones that are the same for all samples."""

    judge: Reading[str, Milestones]
    milestones: Milestones

    def __call__(self, answer: str | None) -> Score:
        return self.judge(answer, self.milestones)


def _checked(milestones: Milestones) -> Milestones:
    if len(milestones) > _MOST:
        raise ValueError(f"{len(milestones):,} milestones are more than {_MOST}")
    twice = next((one for place, one in enumerate(milestones) if one in milestones[:place]), None)
    if twice is not None:
        raise ValueError(f"the milestone {shorten(twice, 60)} stands there twice, but is looked for once")
    return milestones


@dataclass(frozen=True)
class GoldSteps:
    """A gold cell as milestones: a list, or text that holds one as JSON or in lines."""

    read: ItemsText
    extract: Extractor | None

    def __call__(self, value: object) -> Milestones:
        return _checked(tuple(map(straight, GoldItems(self.read, self.extract)(value))))


def steps(
    *milestones: str,
    column: str | None = None,
    ordered: bool = True,
    ignore_case: bool = False,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
) -> Reward:
    """The share of milestones that the answer reaches, in order: partial credit on the way to a result.

    ``rk.steps("sort", "merge", "return")`` gives 2/3 to ``First sort, then return.``

    A milestone is literal text, found wherever it first stands, even inside a longer word. In order means: the most
    milestones that follow one another in the text without overlap, so one that comes too early or too late costs its
    own share and no other's. Since the first place alone counts, nothing is earned by saying a milestone twice, or all
    of them again and again until the order fits. Whoever knows the milestones can still recite them: pay for the result
    besides, and choose words that the prompt does not hold.

    Args:
        milestones: up to 100 texts in their order.
        column: the column that holds each sample's own, in place of `milestones`: a list of texts, or text that is a
            JSON list or has one per line.
        ordered: False: the share that is found anywhere.
        ignore_case: look without case. White space, Unicode form (NFC) and the kind of apostrophe never count.
        extract: finds where to look, by default the whole visible text, ``rk.extract.whole()``.
        gold: finds the milestones in a gold cell that is text.

    Returns:
        A reward within [0, 1]. More words at the end of an answer never lower it.

    Raises:
        RewardDefinitionError: not just one of milestones and column, a milestone that is empty or stands there twice.
        MissingExtraError: a column is read and the extra ``json`` is not installed.
        CoercionError: while scoring: a gold cell without milestones, with more than 100, or with one twice.
    """
    if bool(milestones) == (column is not None):
        raise RewardDefinitionError('steps takes milestones, rk.steps("sort", "merge"), or a column=, and not both')
    if gold is not None and column is None:
        raise RewardDefinitionError("steps: gold= finds the milestones in a column; say column= too")
    if column is not None and (not isinstance(column, str) or not column.strip()):
        raise RewardDefinitionError(f"steps: column is the name of a column, got {shorten(column)}")
    where = as_extractor(extract, Whole())
    gold_where = None if gold is None else as_extractor(gold, Whole())
    shown = expression(
        "steps",
        *milestones,
        column=(column, None),
        ordered=(bool(ordered), True),
        ignore_case=(bool(ignore_case), False),
        extract=(extract and where, None),
        gold=(gold_where, None),
    )
    judge = Reading(StepsText(PlainText(bool(ignore_case), MAX_CHARACTERS)), Steps(bool(ordered)))
    answer = Parameter("answer", "completion", view=where)
    if column is None:
        return primitive(FixedSteps(judge, _fixed(milestones, bool(ignore_case))), "steps", shown, answer)
    reader = GoldSteps(ItemsText(ignore_case=bool(ignore_case), commas=False), gold_where)
    return primitive(
        judge,
        "steps",
        shown,
        answer,
        Parameter("milestones", column, annotation=Annotated[Milestones, BeforeValidator(reader)]),
    )


def _fixed(milestones: Milestones, ignore_case: bool) -> Milestones:
    for milestone in milestones:
        if isinstance(milestone, (list, tuple)):
            raise RewardDefinitionError(
                "steps takes its milestones one by one: for a list, write rk.steps(*milestones)"
            )
        if not isinstance(milestone, str) or not milestone.strip():
            raise RewardDefinitionError(f"steps: a milestone is text that is not empty, got {shorten(milestone)}")
    try:
        return _checked(tuple(normal(straight(milestone), ignore_case=ignore_case) for milestone in milestones))
    except ValueError as problem:
        raise RewardDefinitionError(f"steps: {problem}") from None
