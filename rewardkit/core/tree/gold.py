"""Comparison: an answer and the gold it is held against, both read the same way.

``normal("New  York ")`` is ``"New York"``, and ``ItemsText()("red, blue")`` is ``("red", "blue")``. A reader takes a
text to what is compared and raises ValueError where it cannot: an answer then scores 0.0, a gold cell is a fault of
the data.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import number
from rewardkit.core.text.extraction import Answer, Extractor, Whole, as_extractor
from rewardkit.core.text.json_text import parse_json
from rewardkit.core.text.visibility import stacked
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import Parameter
from rewardkit.core.tree.reward import Reward

T = TypeVar("T")
G = TypeVar("G")

LONGEST = 20_000
"""What a comparison reads whose cost grows with the product of both lengths: characters, or words."""

MOST_ITEMS = 10_000
"""Items of a list that are read."""

_BULLET = re.compile(r"\A\s*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\[\d{1,3}\])\s+")
_UNQUOTED_LIST = re.compile(r'\[[^\[\]{}"]*\]\Z|\[\d{1,3}\]\s+[^\s\[]')
_BRACKETS = (("\\left\\{", "\\right\\}"), ("\\{", "\\}"), ("{", "}"), ("[", "]"))
_LAST_OF_ALL = re.compile(r"(?:\A|(?<=\s))(?:and|or)\s", re.IGNORECASE)
_STOPS = ",;.\uff0c\uff1b\u3002\u3001 \n\r\t"
_MARKS = dict(zip("\"'`*$\u201c\u2018\u00ab\u300c", "\"'`*$\u201d\u2019\u00bb\u300d", strict=True))
"""Marks of quotation, emphasis, code and mathematics, with the one at the other end."""

# Chinese and Japanese put no spaces between words: every character of theirs is taken as one.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def normal(text: str, *, ignore_case: bool = False) -> str:
    """`text` in Unicode form NFC, every run of white space as one space, on request without case (case folding)."""
    text = " ".join(text.split())
    if not text.isascii() and not stacked(text):
        text = unicodedata.normalize("NFC", text)
    return text.casefold() if ignore_case else text


def spaced(text: str) -> str:
    """`text` with a space around every Chinese or Japanese character, so that each of them is a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def bare(text: str) -> str:
    """`text` without the marks around it and the stops behind it: ``bare("**red**,")`` is ``"red"``."""
    while True:  # at most once per kind of mark
        shorter = text.rstrip(_STOPS)
        opening = shorter[:1]
        closing = _MARKS.get(opening)
        if closing and shorter.endswith(closing):
            inner = shorter.lstrip(opening).rstrip(closing)
            shorter = shorter if opening in inner or closing in inner else inner.strip()
        if not shorter or shorter == text:
            return text
        text = shorter


@dataclass(frozen=True)
class PlainText:
    """Reads a text as a whole, in normal form."""

    ignore_case: bool
    most: int = LONGEST

    def __call__(self, text: str) -> str:
        text = normal(text, ignore_case=self.ignore_case)
        if not text:
            raise ValueError("the text is empty")
        if len(text) > self.most:
            raise ValueError(f"longer than {self.most:,} characters")
        return text


@dataclass(frozen=True)
class ItemsText:
    """Reads a list: JSON where it starts with ``[``, else one item per line, else what stands between commas.

    Single-line lists may also be divided by ``;`` and by Chinese commas, have "and" or "or" before the last item, and
    stand in brackets. Bullets and numbers before an item go, and so do the marks around it and the stops behind it, in
    lists of the data as well. With ``commas=False`` there is JSON, or lines and their bullets, and nothing else. A
    `separator` of one's own replaces all of that.
    """

    separator: str | None = None
    ignore_case: bool = False
    commas: bool = True

    def __post_init__(self) -> None:
        if self.separator is None:
            parse_json("[]")  # a missing extra shows when the reward is made, not in the training
        elif not isinstance(self.separator, str) or not self.separator:
            raise RewardDefinitionError(f"a separator is text, such as ';', got {shorten(self.separator)}")

    def __call__(self, text: str) -> tuple[str, ...]:
        return self.items(self._split(text.strip()))

    def items(self, values: Sequence[object]) -> tuple[str, ...]:
        """Values as items: text in normal form, the rest as JSON (``3``, ``true``); empty text is no item."""
        if len(values) > MOST_ITEMS:
            raise ValueError(f"more than {MOST_ITEMS:,} items")
        texts = (value if isinstance(value, str) else _as_json(value) for value in values)
        found = filter(None, (normal(text, ignore_case=self.ignore_case) for text in texts))
        items = tuple(map(bare, found) if self.commas and self.separator is None else found)
        if not items:
            raise ValueError("the list is empty")
        return items

    def _split(self, text: str) -> Sequence[object]:
        if self.separator is not None:
            return text.split(self.separator, MOST_ITEMS)
        if text.startswith("["):
            parsed = parse_json(text)
            if not parsed.error:
                values: list[object] = parsed.value
                return values
            if not (self.commas and _UNQUOTED_LIST.match(text)):
                raise ValueError(parsed.error)
        if self.commas:
            text = _unwrapped(text)
        pieces = text.split("\n", MOST_ITEMS)
        if len(pieces) == 1 and self.commas:
            pieces = _between_commas(text)
        return [_BULLET.sub("", piece) for piece in pieces]


def _unwrapped(text: str) -> str:
    """`text` without the one pair of brackets, or of marks, that holds all of it."""
    text = bare(text)
    for opening, closing in _BRACKETS:
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            return text if opening in inner or closing in inner else inner.strip()
    return text


def _between_commas(text: str) -> list[str]:
    """What stands between semicolons, where there are any, else between commas."""
    divider = r"[;\uff1b]" if ";" in text or "\uff1b" in text else r"[,\uff0c\u3001]"
    pieces = re.split(divider, text, maxsplit=MOST_ITEMS)
    if len(pieces) > 1:
        pieces[-1:] = _LAST_OF_ALL.split(pieces[-1].strip(), maxsplit=1)
    return pieces


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, RecursionError):
        raise ValueError(f"{shorten(value)} is no item of a list") from None


@dataclass(frozen=True)
class GoldText:
    """A gold cell as text: text or an int, run through the gold's own extractor."""

    extract: Extractor | None

    def __call__(self, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError(f"it is a {type(value).__name__}, not text; rk.number compares numbers")
        found = self.extract(value) if self.extract else value
        if found is None or not found.strip():
            raise ValueError(f"no gold answer is found in {shorten(value)}")
        return found


@dataclass(frozen=True)
class GoldTexts(Generic[T]):
    """A gold cell as one text, or a list of texts that are all acceptable, each of them read."""

    read: Callable[[str], T]
    extract: Extractor | None

    def __call__(self, value: object) -> tuple[T, ...]:
        acceptable = value if isinstance(value, (list, tuple)) else [value]
        if not acceptable:
            raise ValueError("the list of acceptable answers is empty")
        text = GoldText(self.extract)
        return tuple(self.read(text(one)) for one in acceptable)


@dataclass(frozen=True)
class GoldItems:
    """A gold cell as items: a list, or text that holds one."""

    read: ItemsText
    extract: Extractor | None

    def __call__(self, value: object) -> tuple[str, ...]:
        if isinstance(value, (list, tuple)):
            return self.read.items(value)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError(f"it is a {type(value).__name__}, not a list, nor text that holds one")
        return self.read(GoldText(self.extract)(value))


@dataclass(frozen=True)
class Reading(Generic[T, G]):
    """Reads the answer the way its gold was read, then measures the one against the other."""

    read: Callable[[str], T]
    measure: Callable[[T, G], Score]

    def __call__(self, answer: str | None, gold: G) -> Score:
        if not answer:
            return Score(0.0, "no answer found")
        try:
            found = self.read(answer)
        except ValueError as problem:
            return Score(0.0, str(problem))
        return self.measure(found, gold)


@dataclass(frozen=True)
class BestOf(Generic[T]):
    """What `measure` gives against the acceptable gold that the answer does best against."""

    measure: Callable[[T, T], Score]

    def __call__(self, answer: T, gold: tuple[T, ...]) -> Score:
        return max((self.measure(answer, acceptable) for acceptable in gold), key=_value)


def _value(score: Score) -> float:
    return score.value


def checked_floor(floor: float, name: str) -> float:
    """`floor` as a float from 0.0 up to, but not including, 1.0."""
    value = number(floor, f"{name}: floor")
    if not 0.0 <= value < 1.0:
        raise RewardDefinitionError(f"{name}: floor is from 0.0 up to, but not including, 1.0, got {value}")
    return value


def above(floor: float, value: float) -> float:
    """What `value` has over `floor`, as a share of what there is over it: ``above(0.5, 0.75)`` is 0.5."""
    return max(0.0, (value - floor) / (1.0 - floor))


def against_gold(
    function: Callable[..., Any],
    name: str,
    column: str,
    gold_type: Any,
    gold_reader: Callable[[Extractor | None], Callable[[object], Any]],
    *,
    extract: Extractor | Any,
    gold: Extractor | Any,
    default: Extractor | None = None,
    **options: tuple[object, object],
) -> Reward:
    """The reward `name` that calls `function` with the answer and the gold.

    Args:
        column: where the gold stands.
        gold_type: what `function` takes as the gold.
        gold_reader: from the gold's own extractor, or None, to what reads a cell.
        extract, gold: as the user gave them; `default` finds the answer where there is no `extract`.
        options: for how it prints, as (value, default).
    """
    if not isinstance(column, str) or not column.strip():
        raise RewardDefinitionError(f"{name} takes the name of the gold answer's column, got {shorten(column)}")
    where = as_extractor(extract, default or Answer())
    gold_where = None if gold is None else as_extractor(gold, Whole())
    shown = expression(name, column, **options, extract=(extract and where, None), gold=(gold_where, None))
    return primitive(
        function,
        name,
        shown,
        Parameter("answer", "completion", view=where),
        Parameter("gold", column, annotation=Annotated[gold_type, BeforeValidator(gold_reader(gold_where))]),
    )
