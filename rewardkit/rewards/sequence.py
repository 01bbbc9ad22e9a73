"""Lists: ``rk.set_match("answer")`` gives 0.8 to ``<answer>red, blue</answer>`` if "answer" is red, green, blue."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.text.extractors import Extractor
from rewardkit.text.json_text import json_parser
from rewardkit.tree.gold import GoldItems, ItemsText, Reading, above, against_gold, checked_floor
from rewardkit.tree.reward import Reward

Items = tuple[str, ...]
SetMetric = Literal["f1", "precision", "recall", "jaccard", "exact"]
SequenceMetric = Literal["prefix", "positions", "kendall", "exact"]


def _checked_metric(metric: str, metrics: Any, name: str) -> None:
    if metric not in get_args(metrics):
        raise RewardDefinitionError(
            f"{name}: metric must be one of {', '.join(get_args(metrics))}, got {shorten(metric)}"
        )


def _items_text(name: str, separator: str | None, ignore_case: bool) -> ItemsText:
    if separator is None:
        json_parser(f"rk.{name} without separator=")
    return ItemsText(separator, bool(ignore_case))


# Text around the letters of options, which has no meaning of its own: "(A) and (C)", "A, C", "A/C".
_AROUND_LETTERS = re.compile(r"\s(?:and|or)\s|[\s/&+()\[\].]")
_OPTIONS = frozenset("ABCDEFGHIJabcdefghij")
"""The letters for a question's options: at most ten in public datasets, as in MMLU-Pro."""


def _letters(items: Items, other: Items) -> Items:
    """Return ``("A", "B", "D")`` for ``("ABD",)`` and for ``("(A)", "(B)", "(D)")`` if `other` has only letters."""
    if len(other) < 2 or not _OPTIONS.issuperset(other) or len(items) > len(_OPTIONS):
        return items
    # Arbitrary limit: longer items are texts, not letters.
    letters = [_AROUND_LETTERS.sub("", item) if len(item) < 60 else item for item in items]
    if len(items) == 1:
        letters = list(letters[0])
    distinct = len(set(letters)) == len(letters) > 1 and _OPTIONS.issuperset(letters)
    return tuple(letters) if distinct and all(letter.isupper() == other[0].isupper() for letter in letters) else items


@dataclass(frozen=True)
class SetMatch:
    """A score for the items that two lists have in common. A repeated item in the answer counts as extra."""

    metric: SetMetric
    max_items: int | None

    def __call__(self, answer: Items, gold: Items) -> Score:
        answer, gold = _letters(answer, gold), _letters(gold, answer)
        if self.max_items is not None and len(answer) > self.max_items:
            return Score(0.0, f"{len(answer):,} items, but at most {self.max_items:,} are allowed")
        distinct_gold, distinct_answer = set(gold), set(answer)
        common, answer_count, right = len(distinct_gold & distinct_answer), len(answer), len(distinct_gold)
        if common == answer_count == right:
            return Score(1.0)
        value = {
            "f1": 2 * common / (answer_count + right),
            "precision": common / answer_count,
            "recall": common / right,
            "jaccard": common / (answer_count + right - common),
            "exact": 0.0,
        }[self.metric]
        return Score(value, f"{common} of {right} items, but {answer_count - common} too many")


def set_match(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    metric: SetMetric = "f1",
    separator: str | None = None,
    ignore_case: bool = False,
    max_items: int | None = None,
) -> Reward:
    """Score how well the list in the answer matches the gold list, in any order.

    ``rk.set_match("answer")`` gives 0.8 to ``<answer>red, blue</answer>`` if the column "answer" is
    ``["red", "green", "blue"]``: both items are correct, and two of three are found.

    If the lists have c items in common, the answer has a items, and the gold list has g items, the score is 2 * c / (a
    + g) (``"f1"``), c / a (``"precision"``), c / g (``"recall"``), c / (a + g - c) (``"jaccard"``), or 1.0 for the same
    items, else 0.0 (``"exact"``). The gold list is a set. If the answer repeats an item, the item counts once in c, but
    every copy counts in a. Two metrics are easy to game if used alone: recall by listing everything (limit this with
    `max_items`), and precision by listing one certain item.

    A list in brackets is read as JSON or as a Python list (``['Oslo, Norway', 'Bern']``). If there are several lines,
    each line is an item. A single line is split at semicolons or commas (including Chinese ones), with "and" or "or"
    before the last item of a comma-separated list, or between two numbers ("3 and 4"). Commas in quotation marks or
    brackets do not separate items. A list's introduction ("The answers are", "Answer:", a heading) is removed, along
    with the text before it. If there are several introductions, the last one counts. Bullets and numbers before an item
    ("- ", "* ", "1. ", "2) ", "[3] ", "a) ") are removed, and so are brackets and fences around the list, and quotation
    marks, emphasis, ``$``, and periods around an item. The same rules apply to gold lists. White space and Unicode form
    are ignored, and the number 3 in JSON equals the item ``3``. If one list has only option letters (A to J), ``ABD``
    and ``(A)(B)(D)`` in the other list are read as three letters.

    Args:
        column: the column with the gold list: a list, or text that is read like an answer.
        extract: finds the list, ``rk.extract.answer()`` by default. ``rk.extract.document()`` also extracts JSON from a
            fenced block.
        gold: finds the list in a gold cell that is text.
        metric: see above.
        separator: the text between items, such as ``";"``. It replaces all the rules above.
        ignore_case: ignore case.
        max_items: the maximum number of items. An answer with more items scores 0.0.

    Returns:
        A reward in [0, 1]. An answer with no items, or with more than 10,000, scores 0.0.

    Raises:
        RewardDefinitionError: the metric is unknown, the separator is empty, or a limit is below 1.
        MissingExtraError: the extra ``json`` is not installed and no separator is given.
        CoercionError: while scoring: a gold cell has no items.
    """
    _checked_metric(metric, SetMetric, "set_match")
    if max_items is not None and (type(max_items) is not int or max_items < 1):
        raise RewardDefinitionError(f"set_match: max_items must be an int of 1 or more, got {shorten(max_items)}")
    read = _items_text("set_match", separator, ignore_case)
    return against_gold(
        Reading(read, SetMatch(metric, max_items)),
        "set_match",
        column,
        Items,
        partial(GoldItems, read),
        extract=extract,
        gold=gold,
        metric=(metric, "f1"),
        separator=(separator, None),
        ignore_case=(read.ignore_case, False),
        max_items=(max_items, None),
    )


@dataclass(frozen=True)
class SequenceMatch:
    """A score for the items that two lists have at the same positions or in the same order."""

    metric: SequenceMetric
    floor: float

    def __call__(self, answer: Items, gold: Items) -> Score:
        answer, gold = _letters(answer, gold), _letters(gold, answer)
        if answer == gold:
            return Score(1.0)
        length = max(len(answer), len(gold))
        right = [answer_item == gold_item for answer_item, gold_item in zip(answer, gold, strict=False)]
        common = (*right, False).index(False)
        if self.metric == "prefix":
            value = common / length
        elif self.metric == "positions":
            value = sum(right) / length
        elif self.metric == "kendall" and length > 1:
            value = _pairs_in_order(answer, gold) / (length * (length - 1) // 2)
        else:
            value = 0.0
        where = f"item {common + 1} is {shorten(answer[common], 60)}" if common < len(answer) else "items are missing"
        return Score(above(self.floor, value), f"{where} after {common} of {len(gold)} correct ones")


def _pairs_in_order(answer: Items, gold: Items) -> int:
    """Return the number of pairs of gold items that occur in the answer in the gold order."""
    gold_positions = {item: position for position, item in enumerate(_counted(gold))}
    before: list[int] = []
    pairs = 0
    for item in _counted(answer):
        if item in gold_positions:
            rank = bisect(before, gold_positions[item])
            pairs += rank
            # Shifts up to 10,000 numbers at once, which is faster than a tree.
            before.insert(rank, gold_positions[item])
    return pairs


def _counted(items: Items) -> Sequence[tuple[str, int]]:
    """Return (item, copy number) pairs, so that the second "a" in one list matches the second "a" in the other."""
    copies: Counter[str] = Counter()
    numbered_items = []
    for item in items:
        numbered_items.append((item, copies[item]))
        copies[item] += 1
    return numbered_items


def sequence_match(
    column: str,
    *,
    extract: Extractor | Any = None,
    gold: Extractor | Any = None,
    metric: SequenceMetric = "prefix",
    separator: str | None = None,
    ignore_case: bool = False,
    floor: float = 0.0,
) -> Reward:
    """Score how well the list in the answer matches the gold list, in order.

    ``rk.sequence_match("answer")`` gives 0.5 to ``<answer>A, B, D, C</answer>`` if the column "answer" is
    ``["A", "B", "C", "D"]``: the first two of four items are correct. With metric="kendall", it gives 5/6 because one
    of six pairs is swapped.

    Here, n is the length of the longer list, so missing and extra items always lower the score:

    - ``"prefix"``: items before the first incorrect one / n.
    - ``"positions"``: items at the correct position / n.
    - ``"kendall"``: pairs of gold items that are in the correct order in the answer / (n * (n - 1) / 2). For a
      permutation of the gold list, this is (1 + tau) / 2 with Kendall's tau (Kendall 1938, Biometrika 30), so a random
      order of the correct items gets 0.5 on average. With ``floor=0.5``, the score is max(0, tau). With a single gold
      item, it is 1.0 or 0.0.
    - ``"exact"``: 1.0 for the same list, else 0.0.

    Args:
        column: the column with the gold list: a list, or text that is read like an answer.
        extract: finds the list, ``rk.extract.answer()`` by default. ``rk.extract.document()`` also extracts JSON from a
            fenced block.
        gold: finds the list in a gold cell that is text.
        metric: see above.
        separator: the text between items, such as ``">"``. It replaces the rules of ``rk.set_match`` (JSON, lines, or
            commas).
        ignore_case: ignore case.
        floor: the value that is rescaled to 0.0, at least 0.0 and less than 1.0. A value s becomes max(0, (s - floor) /
            (1 - floor)).

    Returns:
        A reward in [0, 1]. An answer with no items, or with more than 10,000, scores 0.0.

    Raises:
        RewardDefinitionError: the metric is unknown, the separator is empty, or `floor` is outside [0, 1).
        MissingExtraError: the extra ``json`` is not installed and no separator is given.
        CoercionError: while scoring: a gold cell has no items.
    """
    _checked_metric(metric, SequenceMetric, "sequence_match")
    least = checked_floor(floor, "sequence_match")
    read = _items_text("sequence_match", separator, ignore_case)
    return against_gold(
        Reading(read, SequenceMatch(metric, least)),
        "sequence_match",
        column,
        Items,
        partial(GoldItems, read),
        extract=extract,
        gold=gold,
        metric=(metric, "prefix"),
        separator=(separator, None),
        ignore_case=(read.ignore_case, False),
        floor=(least, 0.0),
    )
