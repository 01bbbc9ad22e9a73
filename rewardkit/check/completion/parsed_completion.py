r"""The parts of a correct completion, located so that the checks can make it incorrect in one known way.

In ``<think>6*7=42</think><answer>42</answer>`` with the column ``answer="42"``, the gold answer occurs in two places.
The last place is the body of ``<answer>``. The thinking is a separate block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal

THINKING = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "reflection")
ANSWERS = ("answer", "gold", "label", "target", "solution", "expected", "reference", "ground_truth", "truth", "output")
_BESIDE = re.compile(r"(?i)(?:^|_)(?:units?|lang(?:uage)?|scripts?|formats?|styles?|types?|kinds?|levels?)(?:$|_)")
"""Names of columns that describe the format or type of an answer, such as ``unit`` or ``language``."""
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|\.\d)")
"""Matches 1,234.5 and -7, but neither the 2 in v2 nor a part of 1.2.3."""
# "\times 10^{23}", "x 10^3"; three digits are enough for any quantity.
_TIMES_TEN = r"\s?(?:[x×*]|\\times|\\cdot)\s?10\s?\^\s?\{?([-+]?\d{1,3})\}?"
SCIENTIFIC = re.compile(rf"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{{1,3}}(?!\w)|{_TIMES_TEN})")
"""Matches 1e-3 and 6.02 \\times 10^{23}."""
# "\boxed{" and "\fboxed {".
_BOX = re.compile(r"\\f?boxed\s*\{")
# Letters of any script, without digits and underscores.
_WORD = re.compile(r"[^\W\d_]+")
_LONGEST_BODY = 20_000
"""The maximum length of a text that is searched for closing braces or JSON documents, in characters. Arbitrary: both
searches are slow."""
_MAGNITUDE = 300
"""The largest exponent in a number. Digits with an "e" and a larger exponent are more likely a hash. Floats end at
10 ** 308."""


@dataclass(frozen=True)
class Span:
    """The part ``text[start:end]`` of a text, with a kind such as ``"box"``."""

    start: int
    end: int
    kind: str = ""

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class Block:
    """A tagged block ``<name>body</name>``: the spans of the whole block and of its body."""

    name: str
    whole: Span
    body: Span

    def nested(self, text: str) -> Iterator[Block]:
        """Yield this block of `text` and the blocks inside its body."""
        yield self
        for inner in _blocks(text[: self.body.end], self.body.start):
            yield from inner.nested(text)


@dataclass(frozen=True)
class ParsedCompletion:
    """The text of a correct completion and the positions of its parts.

    Attributes:
        text: the text of the completion.
        column: the column with the gold answer, or "" if the text does not contain any column's value.
        value: the value of that column.
        places: the spans of the gold answer in the text. The last span is the answer.
    """

    text: str
    column: str = ""
    value: Any = None
    places: tuple[Span, ...] = ()

    @property
    def gold(self) -> str:
        """The answer as written in the text."""
        return self.places[-1].of(self.text) if self.places else ""

    @cached_property
    def aliases(self) -> tuple[str, ...]:
        """All items of the column's list if the answer is one of them, because the others may also be correct."""
        items = _items_of(self.value)
        return tuple(items) if self.gold.lower() in [item.lower() for item in items] else ()

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The outermost tagged blocks."""
        return tuple(_blocks(self.text))

    @cached_property
    def thinking(self) -> Block | None:
        """The thinking block. It starts at the beginning of the text if the prompt contains the opening tag."""
        return next((block for block in self.blocks if block.name.lower() in THINKING), None) or _prefilled(self.text)

    @cached_property
    def region(self) -> Span:
        """The span marked as the answer: the body of a tag, box, or fence, the rest of a line, or the whole text."""
        return _region(self)

    @property
    def in_region(self) -> Span:
        """The span of the gold answer, relative to the start of the region."""
        span = self.places[-1]
        return Span(span.start - self.region.start, span.end - self.region.start)

    @property
    def only_thought(self) -> bool:
        """Whether the gold answer occurs only in the thinking, although an answer follows the thinking."""
        block = self.thinking
        if block is None or not self.places or not self.text[block.whole.end :].strip():
            return False
        return block.body.holds(self.places[-1])

    @property
    def marked(self) -> bool:
        """Whether a tag, box, fence, or phrase marks the answer."""
        return self.region.kind != "whole"

    def saying(self, answer: str) -> str:
        """Return the completion with every occurrence of the gold answer replaced by `answer`."""
        return replaced(self.text, [(span, answer) for span in self.places])

    def answering(self, answer: str) -> str:
        """Return the completion with only the last occurrence of the gold answer replaced by `answer`."""
        return replaced(self.text, [(self.places[-1], answer)]) if self.places else self.with_region(answer)

    def with_region(self, body: str) -> str:
        """Return the completion with `body` in the answer region."""
        return replaced(self.text, [(self.region, body)])

    def with_bodies(self, body: str) -> str:
        """Return only the completion's tags, each with `body` inside."""
        if not self.blocks:
            return self.with_region(body)
        return "".join(f"<{block.name}>{body}</{block.name}>" for block in self.blocks)


def anatomy_of(
    text: str, columns: Mapping[str, Any], read: frozenset[str], *, answered: bool = False
) -> ParsedCompletion:
    """Parse a correct completion: find the column whose value is the answer, and the positions of that value.

    Args:
        text: the text of the completion.
        columns: the columns in the completion's example.
        read: the columns that the reward reads. Other columns count only if the value of none of these is found.
        answered: whether to ignore values that occur only in the thinking. The answer after it may be an equation, for
            example.
    """
    return next(iter(anatomies_of(text, columns, read, answered=answered)), ParsedCompletion(text))


def anatomies_of(
    text: str, columns: Mapping[str, Any], read: frozenset[str], *, answered: bool = False
) -> list[ParsedCompletion]:
    """Return a parsed completion for each column whose value may be the answer, the most likely first."""
    anatomies = [
        ParsedCompletion(text, name, value, spans)
        for name, value in columns.items()
        if (spans := tuple(_places(text, value)) or (_near_numbers(text, value) if name in read else ()))
    ]
    anatomies.sort(
        key=lambda anatomy: (anatomy.column not in read, likelihood(anatomy.column), -anatomy.places[-1].end)
    )
    return [anatomy for anatomy in anatomies if not (answered and anatomy.only_thought)]


def likelihood(column: str) -> int:
    """Return a column's rank by how likely its name suggests a gold answer. 0 is the most likely."""
    if _BESIDE.search(column):
        return len(ANSWERS) + 1
    return next((rank for rank, word in enumerate(ANSWERS) if word in column.lower()), len(ANSWERS))


def _near_numbers(text: str, value: Any) -> tuple[Span, ...]:
    """Return the spans of numbers near `value`, since the answer may be an estimate."""
    gold = as_number(value)
    if not gold:
        return ()
    # Arbitrary: a number within 5% of the gold answer may be the same number, rounded.
    return tuple(span for span in numbers_in(text) if abs((as_number(span.of(text)) or 0) - gold) <= abs(gold) / 20)


def replaced(text: str, parts: Sequence[tuple[Span, str]]) -> str:
    """Return the text with each span replaced. Spans must not overlap."""
    for span, words in sorted(parts, key=lambda part: -part[0].start):
        text = text[: span.start] + words + text[span.end :]
    return text


def marks(text: str) -> list[str]:
    """Return the formatting marks in a text: tags, boxes, fences, and hashes."""
    # Tag names have up to 41 characters: anything longer is more likely text between "<" and ">".
    return re.findall(r"</?[A-Za-z_][\w-]{0,40}>|\\boxed\{|```|####", text)


def as_number(value: Any) -> Decimal | None:
    """Return a number, or the number that a text spells, or None for other values."""
    if isinstance(value, bool) or value is None:
        return None
    written = str(value).strip()
    if "10" in written:
        written = re.sub(_TIMES_TEN + r"\Z", r"e\1", written)
    try:
        number = Decimal(written.replace(",", "").lstrip("$").rstrip("%"))
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MAGNITUDE else None


def parsed_json(text: str) -> Any:
    """Parse a text as JSON. Return None if it is invalid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def numbers_in(text: str) -> list[Span]:
    """Return the spans of the numbers in a text. Scientific notation counts as one number."""
    spans = [Span(*match.span()) for match in SCIENTIFIC.finditer(text)]
    plain = (Span(*match.span()) for match in NUMBER.finditer(text))
    spans += [
        span
        for span in plain
        if not any(span.start < scientific_span.end and scientific_span.start < span.end for scientific_span in spans)
    ]
    return sorted(spans, key=lambda span: span.start)


@dataclass(frozen=True)
class Part:
    """A number or a word in a correct completion.

    Attributes:
        span: the part's position in the text.
        text: the part's text.
        kind: the kind of part.
    """

    span: Span
    text: str
    kind: Literal["number", "word"]


def parts_of(text: str) -> list[Part]:
    """Return the numbers and words in a text, in order."""
    numbers = [Part(span, span.of(text), "number") for span in numbers_in(text)]
    words = [Part(Span(*match.span()), match.group(), "word") for match in _WORD.finditer(text)]
    words = [part for part in words if not any(other.span.holds(part.span) for other in numbers)]
    return sorted([*numbers, *words], key=lambda part: part.span.start)


def unrelated(part: Part) -> str:
    """Return an unrelated text of the same kind and length as `part`."""
    if part.kind == "number":
        return re.sub(r"\d", lambda digit: str((int(digit[0]) + 4) % 9 + 1), part.text)
    letters = "qxz" if part.text[:1].lower() != "q" else "xzq"
    # Use rare letters, which form no words in any language.
    filler = "".join(letters[index % 3] for index in range(len(part.text)))
    return filler.upper() if part.text.isupper() else filler.capitalize() if part.text[:1].isupper() else filler


def atoms_of(value: Any) -> list[str]:
    """Return all strings and numbers in a cell, as strings, including keys and nested values."""
    if isinstance(value, dict):
        return [atom for pair in value.items() for member in pair for atom in atoms_of(member)]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [atom for member in value for atom in atoms_of(member)]
    return [] if value is None or isinstance(value, bool) else [str(value).strip()]


def _places(text: str, value: Any) -> Iterator[Span]:
    """Yield the spans of `value` in `text`, for the first notation that occurs."""
    documents = list(_documents(text, value))
    if documents:
        yield from documents
        return
    for written in _written(value):
        number = as_number(written)
        if number is not None:
            spans = [span for span in numbers_in(text) if as_number(span.of(text)) == number]
            # The 30 of "11:30" is not a number.
            spans = [span for span in spans if not re.search(r"\d:\Z", text[max(0, span.start - 2) : span.start])]
        else:
            spans = [Span(*match.span()) for match in re.finditer(_bounded(written), text, re.IGNORECASE)]
            spans = [span for span in spans if not text.endswith("```", 0, span.start)]  # skip the language of a fence
        if spans:
            yield from spans
            return
    if type(value) is int and 0 <= value < 10:  # the index of an option
        yield from (Span(*match.span()) for match in re.finditer(rf"(?<!\w){'ABCDEFGHIJ'[value]}(?!\w)", text))
    items = _items_of(value)
    if len(items) > 1:
        spans = list(_listed(text, items)) or list(_one_of(text, items))
        yield from spans
    elif mapping := _mapping_of(value):
        yield from _entry_of(text, mapping)
    # Arbitrary: longer texts are passages, which no answer repeats word for word.
    elif isinstance(value, str) and 1 < len(value.split()) <= 60:
        spaced = r"\s*".join(re.escape(part) for part in re.findall(r"\w+|[^\w\s]", value))
        yield from (Span(*match.span()) for match in re.finditer(spaced, text, re.IGNORECASE))


def _items_of(value: Any) -> list[str]:
    """Return the items of a list of strings and numbers, which may be JSON text, or an empty list for other values."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = parsed_json(value)
    if not isinstance(value, (list, tuple, set, frozenset)):
        return []
    items = [item for item in value if isinstance(item, (str, int, float)) and not isinstance(item, bool)]
    return [str(item) for item in items] if len(items) == len(value) else []


def _mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping, which may be written as JSON, or an empty mapping for other values."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        value = parsed_json(value)
    return value if isinstance(value, Mapping) else {}


def _entry_of(text: str, mapping: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans of the entry that is most likely the answer: ``{"style": "rule", "ground_truth": "42"}``."""
    names = [name for name in mapping if isinstance(name, str)]  # a cell may have other keys
    for name in sorted(names, key=likelihood):
        # Other numbers and flags, such as the index of the row, are in many texts by chance.
        if isinstance(mapping[name], (str, Mapping)) or likelihood(name) < len(ANSWERS):
            spans = list(_places(text, mapping[name]))
            if spans:
                yield from spans
                return


def _one_of(text: str, items: Sequence[str]) -> Iterator[Span]:
    """Yield the spans of the item that occurs last in a text, if the items are several accepted answers."""
    candidates = [(spans[-1].end, len(item), spans) for item in items if (spans := list(_places(text, item)))]
    if candidates:
        yield from max(candidates, key=lambda candidate: candidate[:2])[2]


def _listed(text: str, items: list[str]) -> Iterator[Span]:
    """Yield the spans in which all items follow one another with the same separator."""
    for first in re.finditer(_bounded(items[0]), text, re.IGNORECASE):
        position, joints = first.end(), set()
        for item in items[1:]:
            # Items of a list are close together: at most a separator such as ", and **" is between two.
            following = re.compile(_bounded(item), re.IGNORECASE).search(text, position, position + 8 + len(item))
            if following is None:
                break
            joints.add(text[position : following.start()])
            position = following.end()
        else:
            if len(joints) == 1 and "." not in "".join(joints):  # sentences with the items are not a list
                yield Span(first.start(), position)


def _documents(text: str, value: Any) -> Iterator[Span]:
    """Yield the spans of JSON documents equal to `value`, in any formatting."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = parsed_json(value)
    if not isinstance(value, (dict, list)) or not value or len(text) > _LONGEST_BODY:
        return
    decoder, position = json.JSONDecoder(), 0
    opening = "{" if isinstance(value, dict) else "["
    while (position := text.find(opening, position)) >= 0:
        try:
            document, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        if document == value:
            yield Span(position, end)
        position = end


def _bounded(written: str) -> str:
    left = r"(?<!\w)" if written[:1].isalnum() else ""
    right = r"(?!\w)" if written[-1:].isalnum() else ""
    return left + re.escape(written) + right


def _written(value: Any) -> Iterator[str]:
    """Yield the ways in which a completion may write a column's value, the most likely first."""
    if value is None:
        return
    if isinstance(value, bool):
        yield str(value)
        yield "yes" if value else "no"
        return
    if isinstance(value, (dict, list, tuple, set)):
        with suppress(TypeError, ValueError):
            yield json.dumps(value if isinstance(value, dict) else list(value))
        if not isinstance(value, dict):
            items = [str(item) for item in value]
            yield from (joint.join(items) for joint in (", ", "\n", " ", ",", "; ", " and ") if items)
            yield "\n".join(f"- {item}" for item in items) or "-"
        return
    text = str(value).strip()
    if not text or len(text) > _LONGEST_BODY:
        return
    if "####" in text:
        yield text.rsplit("####", 1)[1].strip() or text
    # "3/4" may also be written as "\frac{3}{4}".
    fraction = re.fullmatch(r"(-?)(\d+)\s?/\s?(\d+)", text)
    for command in ("frac", "dfrac", "tfrac") if fraction else ():
        yield f"{fraction[1]}\\{command}{{{fraction[2]}}}{{{fraction[3]}}}"  # type: ignore[index]
    # A gold answer in a box.
    yield from (text[start:end].strip() for start, end in list(_boxes(text))[-1:] if text[start:end].strip())
    if len(text) > 2 and text[0] == text[-1] == "$":
        yield text.strip("$").strip() or text
    yield text
    # "15:30" may also be written as "3:30 pm".
    clock = re.fullmatch(r"(\d{1,2}):(\d{2})", text)
    if clock is not None:
        hour, half = int(clock.group(1)), "pm" if int(clock.group(1)) >= 12 else "am"
        for mark in (half, half.upper(), f"{half[0]}.m."):
            yield f"{hour % 12 or 12}:{clock.group(2)} {mark}"
    if text.lower() in ("true", "false"):
        yield "yes" if text.lower() == "true" else "no"
    parsed = parsed_json(text)
    if isinstance(parsed, (list, dict)):
        yield from _written(parsed)


def _blocks(text: str, position: int = 0) -> Iterator[Block]:
    opening = re.compile(r"<([A-Za-z_][\w-]{0,40})>")
    while (start := opening.search(text, position)) is not None:
        closing = f"</{start.group(1)}>"
        end = text.find(closing, start.end())
        if end < 0:
            position = start.end()
            continue
        position = end + len(closing)
        yield Block(start.group(1), Span(start.start(), position), Span(start.end(), end))


def _prefilled(text: str) -> Block | None:
    """Return the thinking block of a completion that begins inside it, because the prompt ends with the opening tag."""
    for name in THINKING:
        end = text.find(f"</{name}>")
        if end >= 0 and f"<{name}>" not in text:
            return Block(name, Span(0, end + len(name) + 3), Span(0, end))
    return None


def _boxes(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the start and end of the content of each ``\boxed{...}``. Braces inside may be nested."""
    for match in _BOX.finditer(text):
        depth = 1
        for index in range(match.end(), min(len(text), match.end() + _LONGEST_BODY)):
            depth += {"{": 1, "}": -1}.get(text[index], 0)
            if depth == 0:
                yield match.end(), index
                break


def _region(anatomy: ParsedCompletion) -> Span:
    text = anatomy.text
    gold_span = anatomy.places[-1] if anatomy.places else None
    candidates = [
        Span(block.body.start, block.body.end, f"tag {block.name}")
        for block in anatomy.blocks
        if block.name.lower() not in THINKING
    ]
    candidates += [Span(*span, "box") for span in _boxes(text)]
    candidates += [Span(*match.span(1), "fence") for match in re.finditer(r"```[^\n`]*\n(.*?)\n?```", text, re.DOTALL)]
    candidates += [Span(*match.span(1), "hashes") for match in re.finditer(r"####[ \t]*([^\n]*)", text)]
    candidates += [
        Span(*match.span(1), "mark")
        # "Answer: 42", "So the final answer is: 42": at most 40 characters before the mark, so that time stays linear.
        for match in re.finditer(r"(?im)^.{0,40}?\b(?:final answer|answer|result)\b(?: is)?\s*[:=]\s*([^\n]+)$", text)
        if not any(block.whole.start <= match.start() < block.whole.end for block in anatomy.blocks)
    ]
    holding = [span for span in candidates if gold_span is None or span.holds(gold_span)]
    if holding:
        return min(holding, key=lambda span: (span.end - span.start, -span.start)) if gold_span else holding[-1]
    return Span(0, len(text), "whole")
