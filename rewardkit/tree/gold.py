"""Gold answers: functions that read an answer and its gold answer the same way and compare them.

``normal("New  York ")`` is ``"New York"``, and ``ItemsText()("red, blue")`` is ``("red", "blue")``. A reader converts
text to the value that is compared. If it cannot read the text, it raises ValueError. An unreadable answer scores 0.0.
An unreadable gold cell is an error in the data: it raises a CoercionError or, in training, leaves the row without a
score.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from bisect import bisect
from collections.abc import Callable, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator

from rewardkit.batch.score import Score
from rewardkit.errors import RewardDefinitionError, shorten
from rewardkit.progress.bounds import number
from rewardkit.text.extraction import as_extractor
from rewardkit.text.extractors import Answer, Extractor, Prefilled, TextExtractor, Whole
from rewardkit.text.final_answer import PAIRS, bare
from rewardkit.text.json_text import parse_json
from rewardkit.text.literals import read_literal
from rewardkit.text.numbers import Exact, number_text
from rewardkit.text.visibility import stacked
from rewardkit.tree.leaf import expression, primitive
from rewardkit.tree.parameters import OnUnparsableGold, Parameter
from rewardkit.tree.reward import Reward

T = TypeVar("T")
G = TypeVar("G")
S = TypeVar("S", bound=Sized)

LONGEST = 20_000
"""The maximum number of characters (or words) for comparisons whose cost grows with the product of both lengths. The
limit is arbitrary: longer answers are documents, for which these comparisons are not intended."""

MOST_ITEMS = 10_000
"""The maximum number of items in a list. The limit is arbitrary: a cell with more items is probably a mistake."""

MOST_COMPARED = 2_000_000
"""The maximum number of characters (or words) in an answer, multiplied by the number of acceptable answers. At this
limit, chrF, the slowest comparison, takes about a second."""

# "- red", "2) red", "(b) red", "[3] red"; not "-5", which has no space, nor "3.5".
_BULLET = re.compile(r"\A\s*(?:[-*+\u2022\u2013]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\[\d{1,3}\])\s+")
# "[1] red" numbers an item; "[1] [2]" are lists.
_NUMBERED = re.compile(r"\[\d{1,3}\]\s+[^\s\[]")
_BRACKETS = (("\\left\\{", "\\right\\}"), ("\\{", "\\}"), ("{", "}"), ("[", "]"))
# "\text{red}" is "red".
_WORDS = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf)|emph)\s?\{([^{}]*)\}")
_LEAD = re.compile(
    r"(?:\A|(?<=\n)|(?<=[.!?]\s))(?:#{1,6}\s{0,3})?[*_]{0,3}(?:(?:so|thus|hence|therefore),?\s)?(?:the\s)?"
    r"(?:(?:final|correct)\s)?(?:answers?|solutions?)(?:\s(?:are|is)(?=[\s:*])|[*_]{0,3}(?=\s?:|\s?\n))[*_]{0,3}\s?:?"
    r"[*_]{0,3}\s+(?=\S)",
    re.IGNORECASE,
)
"""Words that may introduce a list: "The answers are", "**Answer:**", a heading. They must begin a line or a sentence,
because "the wrong answers are" in the middle of a sentence introduces something else."""
# "3 and 5" is a list; "salt and pepper" may be one item.
_NUMBER_AND_NUMBER = re.compile(
    r"([+\-$\\(]{0,3}\d[^\s,;]{0,40})\s(?:and|\\text\{ ?and ?\})\s([+\-$\\(]{0,3}\d[^\s,;]{0,40})"
)
# A quotation mark opens where an item begins and closes where one ends: the one in "O'Neill" does neither.
_OPENS = re.compile(r"(?:\A|[,;\uff0c\uff1b\u3001\[({\n]|\b(?:and|or)\b)\s{0,9}([\"'`\u201c\u2018\u00ab\u300c])")
# A closing quotation mark comes before a comma, a bracket, the end, or "and": '"a", "b"'.
_CLOSES = re.compile(r"[\"'`\u201d\u2019\u00bb\u300d](?=\s{0,9}(?:[,;.\uff0c\uff1b\u3001\])}\n\\]|(?:and|or)\s|\Z))")
# Commas inside brackets do not separate items: "(1, 2), (3, 4)".
_BRACKET = re.compile(r"[\[\](){}]")
_HIDDEN = "\0"
# Two quoted items ('"a" and "b"'), after their characters were replaced by _HIDDEN.
_HIDDEN_PAIR = re.compile(r"(\0+)\s(?:and|or)\s(\0+)", re.IGNORECASE)
# The "and" before the last item: "a, b, and c". In a text without commas, "salt and pepper" is one item.
_LAST_OF_ALL = re.compile(r"(?:\A|(?<=[\s,;\uff0c\uff1b\u3001]))(?:and|or)\s", re.IGNORECASE)
# Including the Chinese and Japanese marks; Japanese separates list items with "、".
_SEMICOLON, _COMMA = re.compile(r"[;\uff1b]"), re.compile(r"[,\uff0c\u3001]")
_SPACED_COMMA = re.compile(r"(?<!\d),|,(?!\d{3}(?!\d))|[\uff0c\u3001]")
"""A separator in a list that has spaces after its commas; the comma in 1,000 is not a separator."""
_STOPS = ",;.\uff0c\uff1b\u3002\u3001 \n\r\t"
# Chinese and Japanese have no spaces between words, so each character counts as a word.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def normal(text: str, *, ignore_case: bool = False) -> str:
    """Return `text` in Unicode form NFC with single spaces and, if `ignore_case`, case-folded."""
    text = " ".join(text.split())
    if not text.isascii() and not stacked(text):
        text = unicodedata.normalize("NFC", text)
    return text.casefold() if ignore_case else text


def spaced(text: str) -> str:
    """Return `text` with spaces around each Chinese or Japanese character, so that each character is a word."""
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


@dataclass(frozen=True)
class PlainText:
    """A reader that returns the whole text, normalized by `normal`."""

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
    """A reader of lists, which may be JSON or Python lists in brackets, one item per line, or items between commas.

    A list on one line may also use ``;`` or Chinese commas, have "and" or "or" before the last item, and be in
    brackets; "3 and 4" are two numbers. Commas inside quotation marks or brackets do not separate items. The comma in
    1,000 does not separate items if other commas are followed by spaces. The reader removes bullets and numbers before
    an item, surrounding marks, final punctuation, a code fence, and everything up to the last introduction ("The
    answers are"). Lists in the dataset are read the same way. With ``commas=False``, it reads only lists in brackets
    and lines with bullets. A `separator` replaces all of these rules.
    """

    separator: str | None = None
    ignore_case: bool = False
    commas: bool = True

    def __post_init__(self) -> None:
        if self.separator is not None and (not isinstance(self.separator, str) or not self.separator):
            raise RewardDefinitionError(f"separator must be text, such as ';', got {shorten(self.separator)}")

    def __call__(self, text: str) -> tuple[str, ...]:
        return self.items(self._split(text.strip()))

    def items(self, values: Sequence[object]) -> tuple[str, ...]:
        """Return `values` as items: normalized text (omitted if empty), or JSON for other values (``3``, ``true``)."""
        if len(values) > MOST_ITEMS:
            raise ValueError(f"more than {MOST_ITEMS:,} items")
        texts = (value if isinstance(value, str) else _as_json(value) for value in values)
        normalized = filter(None, (normal(text, ignore_case=self.ignore_case) for text in texts))
        items = tuple(map(_plain, normalized) if self.commas and self.separator is None else normalized)
        if not items:
            raise ValueError("the list is empty")
        return items

    def _split(self, text: str) -> Sequence[object]:
        if self.separator is not None:
            return text.split(self.separator, MOST_ITEMS)
        values = _values(text)
        if values is None and self.commas:
            text = _plain(_introduced(text))
            values = _values(text)
        if values is not None:
            return values
        if text.startswith("[") and not (self.commas and (_NUMBERED.match(text) or _closes(text))):
            raise ValueError(parse_json(text).error)
        if self.commas:
            text = _unwrapped(text)
        pieces = text.split("\n", MOST_ITEMS)
        if len(pieces) == 1 and self.commas:
            pieces = _between_commas(text)
        return [_BULLET.sub("", piece) for piece in pieces]


def _closes(text: str) -> bool:
    """Return whether the bracket at the start of `text` is closed."""
    return any(start == 0 for start, _ in _outermost(text))


def _introduced(text: str) -> str:
    """Return the part of `text` after the last introduction, or the list in brackets on the last line.

    A surrounding code fence is removed.
    """
    lead = 0
    for match in _LEAD.finditer(_hidden(text)):
        lead = match.end()
    text = text[lead:]
    if text.startswith("```") and text.endswith("```") and text.count("```") == 2:
        text = text[3:-3].partition("\n")[2].strip() or text
    before, _, last = text.rpartition("\n")
    reasoned = before and before[0] != "[" and not _BULLET.match(before)
    return last if reasoned and _values(bare(last)) is not None else text


def _values(text: str) -> list[object] | None:
    """Return the values in a JSON array, or a Python list, tuple, or set with quoted strings; None for other text."""
    if text[:1] == "[" and not (parsed := parse_json(text)).error:
        values: list[object] = parsed.value
        return values
    if text[:1] + text[-1:] not in ("[]", "()", "{}") or not ("'" in text or '"' in text):
        return None
    try:
        values = read_literal(f"[{text[1:-1]}]")  # in brackets, since a set has no order
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return values


def _plain(text: str) -> str:
    """Return `text` without surrounding marks, final punctuation, and ``\\text{}``."""
    text = bare(text)
    words = _WORDS.fullmatch(text)
    return bare(words[1].strip()) if words else text


def _unwrapped(text: str) -> str:
    """Return `text` without the pair of brackets that encloses all of it."""
    for opening, closing in _BRACKETS:
        if text.startswith(opening) and text.endswith(closing):
            around = _outermost(text)[:1] == [(len(opening) - 1, len(text))]
            return text[len(opening) : -len(closing)].strip() if around else text
    return text


def _between_commas(text: str) -> list[str]:
    """Split `text` at semicolons (or, if there are none, at commas) outside quotation marks and brackets."""
    hidden = _hidden(text)
    semicolons = _SEMICOLON.search(hidden) is not None
    divider = _SEMICOLON if semicolons else _SPACED_COMMA if ", " in hidden else _COMMA
    dividers = [match.span() for match in divider.finditer(hidden)]
    if not dividers:
        pair = _NUMBER_AND_NUMBER.fullmatch(text.rstrip(_STOPS)) or _HIDDEN_PAIR.fullmatch(hidden.rstrip(_STOPS))
        dividers = [(pair.end(1), pair.start(2))] if pair else []
    else:
        last = _LAST_OF_ALL.search(hidden, dividers[-1][1])
        if last and not (semicolons and hidden[dividers[-1][1] : last.start()].strip()):
            dividers.append(last.span())
    starts = [0, *(end for _, end in dividers)]
    ends = [*(start for start, _ in dividers), len(text)]
    pieces = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    marked = {text[start:end] for start, end in _quoted(text)}
    return [piece[1:-1] if piece in marked else piece for piece in pieces]


def _hidden(text: str) -> str:
    """Return `text` with each character in quotation marks or brackets replaced by `_HIDDEN`."""
    return _hide(_hide(text, _quoted(text)), _outermost(text))


def _hide(text: str, passages: list[tuple[int, int]]) -> str:
    pieces, position = [], 0
    for start, end in passages:
        pieces += [text[position:start], _HIDDEN * (end - start)]
        position = end
    return "".join([*pieces, text[position:]])


def _quoted(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each quoted item in `text`."""
    closing: dict[str, list[int]] = {}
    for match in _CLOSES.finditer(text):
        closing.setdefault(match[0], []).append(match.end())
    passages, position = [], 0
    for match in _OPENS.finditer(text):
        start, ends = match.start(1), closing.get(PAIRS[match[1]], [])
        index = bisect(ends, start + 1)
        if start >= position and index < len(ends):
            position = ends[index]
            passages.append((start, position))
    return passages


def _outermost(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each outermost pair of brackets in `text`. The brackets may differ: ``[0, 1)``."""
    passages, depth, start = [], 0, 0
    for match in _BRACKET.finditer(_hide(text, _quoted(text))):
        if match[0] in "[({":
            start = start if depth else match.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                passages.append((start, match.end()))
    return passages


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, RecursionError):
        raise ValueError(f"{shorten(value)} cannot be an item of a list") from None


@dataclass(frozen=True)
class GoldText:
    """A reader that returns gold cells (strings or ints) as text; `extract` finds the answer in the cell."""

    extract: Extractor | None

    def __call__(self, value: object) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise ValueError(f"it is a {type(value).__name__}, not text. To compare numbers, use rk.number")
        gold = self.extract(value) if self.extract else value
        if gold is None or not gold.strip():
            raise ValueError(f"no gold answer found in {shorten(value)}")
        return gold


@dataclass(frozen=True)
class AcceptedGolds(Generic[G]):
    """A reader that returns the accepted answers in a gold cell as a tuple; `read` reads each answer.

    A list may be stored as text (``'["Paris", "City of Light"]'``), as in CSV files. Text is treated as a list only if
    its items are quoted, because ``[1, 2]`` may be the answer itself. If there is an extractor, it searches the whole
    text instead.
    """

    read: Callable[[object], G]

    @property
    def extract(self) -> Extractor | None:
        """The extractor that finds the gold answer in its cell."""
        extractor: Extractor | None = getattr(self.read, "extract", None)
        return extractor

    def __call__(self, value: object) -> tuple[G, ...]:
        if hasattr(value, "tolist"):  # numpy
            value = value.tolist()
        listed = _quoted_list(value) if isinstance(value, str) and self.extract is None else value
        accepted = listed if isinstance(listed, (list, tuple)) else [value]
        if not accepted:
            raise ValueError("the list of accepted answers is empty")
        return tuple(map(self.read, accepted))


def _quoted_list(text: str) -> list[str] | None:
    """Return the items in a list of strings in JSON or Python syntax, or None for other text."""
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
    """A reader that returns the accepted strings in a gold cell (one string or a list) as a tuple."""

    read: Callable[[str], T]
    extract: Extractor | None

    def __call__(self, value: object) -> tuple[T, ...]:
        text = GoldText(self.extract)
        if isinstance(value, str) and self.extract:
            return (self.read(text(value)),)
        golds = AcceptedGolds(lambda gold: self.read(text(gold)))(value)
        # Text that looks like a list may also be the answer itself.
        return (*golds, self.read(text(value))) if isinstance(value, str) and len(golds) > 1 else golds


@dataclass(frozen=True)
class GoldItems:
    """A reader that returns the items in a gold cell, which contains a list or the text of a list."""

    read: ItemsText
    extract: Extractor | None

    def __call__(self, value: object) -> tuple[str, ...]:
        if isinstance(value, (list, tuple)):
            return self.read.items(value)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError(f"it is a {type(value).__name__}, not a list or text that contains a list")
        return self.read(GoldText(self.extract)(value))


@dataclass(frozen=True)
class Affordable(Generic[S]):
    """A comparison of an answer with all acceptable answers, which is skipped if it would take seconds."""

    measure: Callable[[S, tuple[S, ...]], Score]

    def __call__(self, answer: S, gold: tuple[S, ...]) -> Score:
        if answer in gold:
            return self.measure(answer, (answer,))
        if len(answer) * len(gold) > MOST_COMPARED:
            return Score(0.0, f"too long to compare with {len(gold):,} acceptable answers")
        return self.measure(answer, gold)


@dataclass(frozen=True)
class Reading(Generic[T, G]):
    """A scoring function that reads the answer the same way as the gold answer and compares the two."""

    read: Callable[[str], T]
    measure: Callable[[T, G], Score]

    def __call__(self, answer: str | None, gold: G) -> Score:
        if not answer:
            return Score(0.0, "no answer found")
        try:
            parsed_answer = self.read(answer)
        except ValueError as problem:
            return Score(0.0, str(problem))
        return self.measure(parsed_answer, gold)


@dataclass(frozen=True)
class BestOf(Generic[T, G]):
    """A scoring function that returns the highest score over the accepted gold answers."""

    measure: Callable[[T, G], Score]

    def __call__(self, answer: T, gold: tuple[G, ...]) -> Score:
        score = best(self.measure, answer, gold)
        return score if isinstance(score, Score) else Score(score)


def best(measure: Callable[[T, G], float | Score], answer: T, golds: tuple[G, ...]) -> float | Score:
    """Return an answer's highest score over the accepted gold answers.

    If there are several, the note names the best.
    """
    if len(golds) == 1:
        return measure(answer, golds[0])
    highest, nearest = Score(-math.inf), golds[0]
    for gold in golds:
        score = measure(answer, gold)
        score = score if isinstance(score, Score) else Score(score)
        if score.value > highest.value:
            highest, nearest = score, gold
    if not highest.value or not isinstance(nearest, str | Exact):
        return highest
    gold_text = shorten(nearest if isinstance(nearest, str) else number_text(nearest), 60)
    return Score(highest.value, f"{highest.note}{'; ' * bool(highest.note)}the gold answer is {gold_text}")


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
    """Return the extractor; for ``rk.extract.answer()``, return `default` with its `thinking`."""
    where = as_extractor(extract, default or Answer())
    if default is None:
        return where
    if isinstance(where, Answer):
        return replace(default, thinking=where.thinking)
    if isinstance(where, Prefilled) and isinstance(where.where, Answer):
        return Prefilled(replace(default, thinking=where.where.thinking))
    return where


def is_default(extract: object) -> bool:
    """Return whether `extract` selects a reward's default extractor: None, or ``rk.extract.answer()``."""
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
        column: the gold-answer column.
        gold_type: the gold-answer type that `function` accepts.
        gold_reader: accepts the extractor for gold cells (or None) and returns their reader.
        extract, gold: the user's options. If `extract` is None, `default` finds the answer.
        on_unparsable_gold: the user's option. With None, an unreadable gold cell raises an error, but in training, only
            its row fails.
        options: other options for the repr, as (value, default).
    """
    if not isinstance(column, str) or not column.strip():
        raise RewardDefinitionError(
            f"{name}: column must be the name of the column with the gold answer, got {shorten(column)}"
        )
    where = _where(extract, default)
    gold_where = None if gold is None else as_extractor(gold, Whole())
    extractor = None if extract is None else as_extractor(extract, where)
    options |= {
        "extract": (extractor, None),
        "gold": (gold_where, None),
        "on_unparsable_gold": (on_unparsable_gold, None),
    }
    call_text = expression(name, column, **options)
    return primitive(
        function,
        name,
        call_text,
        Parameter("answer", "completion", view=where),
        Parameter(
            "gold",
            column,
            annotation=Annotated[gold_type, BeforeValidator(gold_reader(gold_where))],
            on_unparsable_gold=on_unparsable_gold,
        ),
    )
