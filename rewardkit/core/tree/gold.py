"""Gold answers: read an answer and its gold answer the same way, then compare them.

``normal("New  York ")`` is ``"New York"``, and ``ItemsText()("red, blue")`` is ``("red", "blue")``. A reader converts
text to the value that is compared and raises ValueError if it cannot: an answer then scores 0.0, while for a gold cell
it is an error in the data: a CoercionError, and in a training a row without a score.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator

from rewardkit.core.batch.score import Score
from rewardkit.core.errors import RewardDefinitionError, shorten
from rewardkit.core.progress.bounds import number
from rewardkit.core.text.extraction import as_extractor
from rewardkit.core.text.extractors import Answer, Extractor, Prefilled, TextExtractor, Whole
from rewardkit.core.text.final_answer import bare
from rewardkit.core.text.json_text import parse_json
from rewardkit.core.text.literals import read_literal
from rewardkit.core.text.visibility import stacked
from rewardkit.core.tree.leaf import expression, primitive
from rewardkit.core.tree.parameters import OnUnparsableGold, Parameter
from rewardkit.core.tree.reward import Reward

T = TypeVar("T")
G = TypeVar("G")

LONGEST = 20_000
"""The most characters (or words) for a comparison whose cost grows with the product of both lengths."""

MOST_ITEMS = 10_000
"""The most items of a list."""

_BULLET = re.compile(r"\A\s*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\[\d{1,3}\])\s+")
_UNQUOTED_LIST = re.compile(r'\[[^\[\]{}"]*\]\Z|\[\d{1,3}\]\s+[^\s\[]')
_BRACKETS = (("\\left\\{", "\\right\\}"), ("\\{", "\\}"), ("{", "}"), ("[", "]"))
_LAST_OF_ALL = re.compile(r"(?:\A|(?<=\s))(?:and|or)\s", re.IGNORECASE)
_LEAD = re.compile(
    r"\A(?:#{1,6}\s{0,3})?[*_]{0,3}(?:(?:so|thus|hence|therefore),?\s)?(?:the\s)?(?:(?:final|correct)\s)?"
    r"(?:answers?|solutions?)(?:\s(?:are|is)(?=[\s:*])|[*_]{0,3}(?=\s?:|\s?\n))[*_]{0,3}\s?:?[*_]{0,3}\s+(?=\S)",
    re.IGNORECASE,
)
"""What may introduce a list: "The answers are", "**Answer:**", a heading."""
_NUMBER_AND_NUMBER = re.compile(
    r"([+\-$\\(]{0,3}\d[^\s,;]{0,40})\s(?:and|\\text\{ ?and ?\})\s([+\-$\\(]{0,3}\d[^\s,;]{0,40})"
)
_STOPS = ",;.\uff0c\uff1b\u3002\u3001 \n\r\t"
# Chinese and Japanese have no spaces between words, so each character counts as a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def normal(text: str, *, ignore_case: bool = False) -> str:
    """Return `text` in Unicode form NFC, with single spaces, and optionally with case folded."""
    text = " ".join(text.split())
    if not text.isascii() and not stacked(text):
        text = unicodedata.normalize("NFC", text)
    return text.casefold() if ignore_case else text


def spaced(text: str) -> str:
    """Return `text` with spaces around every Chinese or Japanese character, so that each is a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


@dataclass(frozen=True)
class PlainText:
    """Read a text as a whole, in normal form."""

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
    """Read a list: JSON if it starts with ``[``, else one item per line, else items between commas.

    A list on one line may also use ``;`` or Chinese commas, have "and" or "or" before the last item, and be in
    brackets; "3 and 4" are two numbers. Bullets and numbers before an item are removed, and so are surrounding marks,
    final punctuation and what introduces the list ("The answers are"), also in lists from the data. ``commas=False``
    reads only JSON, or lines with bullets. A `separator` replaces all of this.
    """

    separator: str | None = None
    ignore_case: bool = False
    commas: bool = True

    def __post_init__(self) -> None:
        if self.separator is None:
            parse_json("[]")  # report a missing extra when the reward is made, not during training
        elif not isinstance(self.separator, str) or not self.separator:
            raise RewardDefinitionError(f"separator must be text, such as ';', got {shorten(self.separator)}")

    def __call__(self, text: str) -> tuple[str, ...]:
        return self.items(self._split(text.strip()))

    def items(self, values: Sequence[object]) -> tuple[str, ...]:
        """Return values as items: text in normal form, the rest as JSON (``3``, ``true``); drop empty text."""
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
            text = _unwrapped(_LEAD.sub("", text, count=1))
        pieces = text.split("\n", MOST_ITEMS)
        if len(pieces) == 1 and self.commas:
            pieces = _between_commas(text)
        return [_BULLET.sub("", piece) for piece in pieces]


def _unwrapped(text: str) -> str:
    """Return `text` without the pair of brackets or marks around all of it."""
    text = bare(text)
    for opening, closing in _BRACKETS:
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            return text if opening in inner or closing in inner else inner.strip()
    return text


def _between_commas(text: str) -> list[str]:
    """Split `text` at semicolons if it has any, else at commas."""
    divider = r"[;\uff1b]" if ";" in text or "\uff1b" in text else r"[,\uff0c\u3001]"
    pieces = re.split(divider, text, maxsplit=MOST_ITEMS)
    pair = _NUMBER_AND_NUMBER.fullmatch(text.rstrip(_STOPS)) if len(pieces) == 1 else None
    if pair:
        return list(pair.groups())
    if len(pieces) > 1:
        pieces[-1:] = _LAST_OF_ALL.split(pieces[-1].strip(), maxsplit=1)
    return pieces


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, RecursionError):
        raise ValueError(f"{shorten(value)} cannot be an item of a list") from None


@dataclass(frozen=True)
class GoldText:
    """Read a gold cell, text or an int, as text; `extract` finds the answer in it."""

    extract: Extractor | None

    def __call__(self, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError(f"it is a {type(value).__name__}, not text. To compare numbers, use rk.number")
        found = self.extract(value) if self.extract else value
        if found is None or not found.strip():
            raise ValueError(f"no gold answer is found in {shorten(value)}")
        return found


@dataclass(frozen=True)
class AcceptedGolds(Generic[G]):
    """Read a gold cell, one gold answer or a list of accepted ones, as a tuple; `read` reads one of them.

    A list may arrive as text (``'["Paris", "City of Light"]'``), as CSV files have it. Only a list of quoted texts is
    taken for one: ``[1, 2]`` may be the answer itself.
    """

    read: Callable[[object], G]

    @property
    def extract(self) -> Extractor | None:
        """What finds the gold answer in its cell."""
        found: Extractor | None = getattr(self.read, "extract", None)
        return found

    def __call__(self, value: object) -> tuple[G, ...]:
        if hasattr(value, "tolist"):  # numpy
            value = value.tolist()
        listed = _quoted_list(value) if isinstance(value, str) else value
        accepted = listed if isinstance(listed, (list, tuple)) else [value]
        if not accepted:
            raise ValueError("the list of accepted answers is empty")
        return tuple(map(self.read, accepted))


def _quoted_list(text: str) -> list[str] | None:
    """Return the texts of a list in JSON or Python; None for other text."""
    stripped = text.strip()
    if stripped[:1] != "[" or stripped[-1:] != "]" or stripped[1:].lstrip()[:1] not in ("'", '"'):
        return None
    for read in (json.loads, read_literal):
        with suppress(ValueError, SyntaxError, RecursionError):
            items = read(stripped)
            if items and all(isinstance(item, str) for item in items):
                return list(items)
    return None


@dataclass(frozen=True)
class GoldTexts(Generic[T]):
    """Read a gold cell, one text or a list of accepted texts, as a tuple."""

    read: Callable[[str], T]
    extract: Extractor | None

    def __call__(self, value: object) -> tuple[T, ...]:
        text = GoldText(self.extract)
        golds = AcceptedGolds(lambda one: self.read(text(one)))(value)
        # A list that arrived as text may also be the answer as it is written.
        return (*golds, self.read(text(value))) if isinstance(value, str) and len(golds) > 1 else golds


@dataclass(frozen=True)
class GoldItems:
    """Read a gold cell, a list or text that holds a list, as items."""

    read: ItemsText
    extract: Extractor | None

    def __call__(self, value: object) -> tuple[str, ...]:
        if isinstance(value, (list, tuple)):
            return self.read.items(value)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError(f"it is a {type(value).__name__}, not a list or text that holds a list")
        return self.read(GoldText(self.extract)(value))


@dataclass(frozen=True)
class Reading(Generic[T, G]):
    """Read the answer the same way as the gold answer, then compare the two."""

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
class BestOf(Generic[T, G]):
    """Return the best score among the accepted gold answers."""

    measure: Callable[[T, G], Score]

    def __call__(self, answer: T, gold: tuple[G, ...]) -> Score:
        score = best(self.measure, answer, gold)
        return score if isinstance(score, Score) else Score(score)


def best(measure: Callable[[T, G], float | Score], answer: T, golds: tuple[G, ...]) -> float | Score:
    """Return the best score of an answer among the accepted gold answers, and which of several that is."""
    if len(golds) == 1:
        return measure(answer, golds[0])
    highest, nearest = Score(-math.inf), golds[0]
    for gold in golds:
        score = measure(answer, gold)
        score = score if isinstance(score, Score) else Score(score)
        if score.value > highest.value:
            highest, nearest = score, gold
    if not highest.value or not isinstance(nearest, (str, Decimal, Fraction)):
        return highest
    return Score(
        highest.value, f"{highest.note}{'; ' * bool(highest.note)}the gold answer is {shorten(str(nearest), 60)}"
    )


def checked_floor(floor: float, name: str) -> float:
    """Return `floor` as a float; it must be at least 0.0 and below 1.0."""
    value = number(floor, f"{name}: floor")
    if not 0.0 <= value < 1.0:
        raise RewardDefinitionError(f"{name}: floor must be at least 0.0 and below 1.0, got {value}")
    return value


def above(floor: float, value: float) -> float:
    """Rescale `value` from [`floor`, 1] to [0, 1]: ``above(0.5, 0.75)`` is 0.5."""
    return max(0.0, (value - floor) / (1.0 - floor))


def _where(extract: Extractor | Any, default: TextExtractor | None) -> Extractor:
    """Return the extractor; ``rk.extract.answer()`` is the primitive's default, with other thinking if it says so."""
    where = as_extractor(extract, default or Answer())
    if default is None:
        return where
    if isinstance(where, Answer):
        return replace(default, thinking=where.thinking)
    if isinstance(where, Prefilled) and isinstance(where.where, Answer):
        return Prefilled(replace(default, thinking=where.where.thinking))
    return where


def is_default(extract: object) -> bool:
    """Return whether `extract` stands for the default of a reward: None, or ``rk.extract.answer()``."""
    where = extract.where if isinstance(extract, Prefilled) else extract
    return where is None or isinstance(where, Answer)


def against_gold(
    function: Callable[..., Any],
    name: str,
    column: str,
    gold_type: Any,
    gold_reader: Callable[[Extractor | None], Callable[[object], Any]],
    *,
    extract: Extractor | Any,
    gold: Extractor | Any,
    default: TextExtractor | None = None,
    on_unparsable_gold: OnUnparsableGold | None = None,
    **options: tuple[object, object],
) -> Reward:
    """Return the reward `name` that calls `function` with the answer and the gold answer.

    Args:
        column: the column with the gold answer.
        gold_type: the type of gold answer that `function` takes.
        gold_reader: makes the reader of gold cells from their extractor (or None).
        extract, gold: the user's options; `default` finds the answer if `extract` is None.
        on_unparsable_gold: the user's option; None raises, and lets the row fail in a training.
        options: other options for the repr, as (value, default).
    """
    if not isinstance(column, str) or not column.strip():
        raise RewardDefinitionError(
            f"{name}: column must be the name of the gold answer's column, got {shorten(column)}"
        )
    where = _where(extract, default)
    gold_where = None if gold is None else as_extractor(gold, Whole())
    said = None if extract is None else as_extractor(extract, where)
    options |= {"extract": (said, None), "gold": (gold_where, None), "on_unparsable_gold": (on_unparsable_gold, None)}
    shown = expression(name, column, **options)
    return primitive(
        function,
        name,
        shown,
        Parameter("answer", "completion", view=where),
        Parameter(
            "gold",
            column,
            annotation=Annotated[gold_type, BeforeValidator(gold_reader(gold_where))],
            on_unparsable_gold=on_unparsable_gold,
        ),
    )
