r"""Anatomy: how a right completion is built, so that it can be made wrong in one known way.

In ``<think>6*7=42</think><answer>42</answer>`` for the column ``answer="42"`` the gold stands at two places, the last
of them in the body of ``<answer>``, and the thinking is a block of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

THINKING = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "reflection")
ANSWERS = ("answer", "gold", "label", "target", "solution", "expected", "reference", "ground_truth", "truth", "output")
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|\.\d)")
_LONGEST_BODY = 20_000
_MAGNITUDE = 300
"""Decimal exponents beyond which digits and an e are no number: a hash, say."""


@dataclass(frozen=True)
class Span:
    """A part of a text: ``text[start:end]``, and what kind of place it is."""

    start: int
    end: int
    kind: str = ""

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True)
class Block:
    """``<name>body</name>``: the whole and its body."""

    name: str
    whole: Span
    body: Span


@dataclass(frozen=True)
class Anatomy:
    """A right completion's text and where its parts stand.

    Attributes:
        text: of the completion.
        column: whose value the gold is; empty where none of the columns stands in the text.
        value: of that column.
        places: where the gold stands, the last one being the answer.
    """

    text: str
    column: str = ""
    value: Any = None
    places: tuple[Span, ...] = ()

    @property
    def gold(self) -> str:
        """The answer as it stands in the text."""
        return self.places[-1].of(self.text) if self.places else ""

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The tags that do not stand in another one."""
        return tuple(_blocks(self.text))

    @cached_property
    def thinking(self) -> Block | None:
        return next((block for block in self.blocks if block.name.lower() in THINKING), None)

    @cached_property
    def region(self) -> Span:
        """The body of what marks the answer: a tag, a box, a fence, the rest of a line, or the whole text."""
        return _region(self)

    @property
    def marked(self) -> bool:
        """Whether something marks where the answer stands."""
        return self.region.kind != "whole"

    def saying(self, answer: str) -> str:
        """The completion with `answer` wherever the gold stands."""
        return replaced(self.text, [(place, answer) for place in self.places])

    def answering(self, answer: str) -> str:
        """The completion with `answer` in the place of the answer alone; what stands elsewhere stays."""
        return replaced(self.text, [(self.places[-1], answer)]) if self.places else self.with_region(answer)

    def with_region(self, body: str) -> str:
        """The completion with another body where the answer is marked."""
        return replaced(self.text, [(self.region, body)])

    def with_bodies(self, body: str) -> str:
        """The completion with `body` in each of its tags, and nothing beside them."""
        if not self.blocks:
            return self.with_region(body)
        return "".join(f"<{block.name}>{body}</{block.name}>" for block in self.blocks)


def anatomy_of(text: str, columns: Mapping[str, Any], read: frozenset[str]) -> Anatomy:
    """Where the value of a column stands in a right completion.

    Args:
        text: of the completion.
        columns: of its example.
        read: those that the reward reads; the others count only if none of these is found.
    """
    found = []
    for name, value in columns.items():
        places = tuple(_places(text, value))
        if places:
            likely = next((rank for rank, word in enumerate(ANSWERS) if word in name.lower()), len(ANSWERS))
            found.append(((name not in read, likely, -places[-1].end), Anatomy(text, name, value, places)))
    if not found:
        return _approximate(text, columns, read)
    return min(found, key=lambda pair: pair[0])[1]


def _approximate(text: str, columns: Mapping[str, Any], read: frozenset[str]) -> Anatomy:
    """Where the answer rounds a number of a column, as an estimate does."""
    for name in sorted(read & set(columns)):
        gold = as_number(columns[name])
        near = [
            Span(*match.span())
            for match in NUMBER.finditer(text)
            if gold and abs((as_number(match.group()) or 0) - gold) <= abs(gold) / 20
        ]
        if near:
            return Anatomy(text, name, columns[name], tuple(near))
    return Anatomy(text)


def replaced(text: str, parts: Sequence[tuple[Span, str]]) -> str:
    """`text` with other words at the spans, which do not overlap."""
    for span, words in sorted(parts, key=lambda part: -part[0].start):
        text = text[: span.start] + words + text[span.end :]
    return text


def as_number(value: Any) -> Decimal | None:
    """The number that a value is or writes, or None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = Decimal(str(value).strip().replace(",", "").lstrip("$").rstrip("%"))
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MAGNITUDE else None


def _places(text: str, value: Any) -> Iterator[Span]:
    """Where `value` stands in `text`, in one way of writing it."""
    documents = list(_documents(text, value))
    if documents:
        yield from documents
        return
    for written in _written(value):
        number = as_number(written)
        if number is not None:
            found = [Span(*match.span()) for match in NUMBER.finditer(text) if as_number(match.group()) == number]
        else:
            found = [Span(*match.span()) for match in re.finditer(_bounded(written), text, re.IGNORECASE)]
            found = [span for span in found if not text.endswith("```", 0, span.start)]  # the language of a fence
        if found:
            yield from found
            return
    if isinstance(value, (list, tuple)) and len(value) > 1:
        yield from _listed(text, [str(item) for item in value])
    elif isinstance(value, str) and 1 < len(value.split()) <= 60:
        spaced = r"\s*".join(re.escape(part) for part in re.findall(r"\w+|[^\w\s]", value))
        yield from (Span(*match.span()) for match in re.finditer(spaced, text, re.IGNORECASE))


def _listed(text: str, items: list[str]) -> Iterator[Span]:
    """Where items stand one after the other, whatever stands between two of them, if it is always the same."""
    for first in re.finditer(_bounded(items[0]), text, re.IGNORECASE):
        position, joints = first.end(), set()
        for item in items[1:]:
            following = re.compile(_bounded(item), re.IGNORECASE).search(text, position, position + 8 + len(item))
            if following is None:
                break
            joints.add(text[position : following.start()])
            position = following.end()
        else:
            if len(joints) == 1 and "." not in "".join(joints):  # sentences that name the items are no list
                yield Span(first.start(), position)


def _documents(text: str, value: Any) -> Iterator[Span]:
    """Where JSON that means the same as `value` stands, however it is written."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return
    if not isinstance(value, (dict, list)) or not value or len(text) > _LONGEST_BODY:
        return
    decoder, position = json.JSONDecoder(), 0
    opening = "{" if isinstance(value, dict) else "["
    while (position := text.find(opening, position)) >= 0:
        try:
            found, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
            continue
        if found == value:
            yield Span(position, end)
        position = end


def _bounded(written: str) -> str:
    left = r"(?<!\w)" if written[:1].isalnum() else ""
    right = r"(?!\w)" if written[-1:].isalnum() else ""
    return left + re.escape(written) + right


def _written(value: Any) -> Iterator[str]:
    """Ways in which a completion may write the value of a column, the likeliest first."""
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
    boxed = re.search(r"\\boxed\{([^{}]+)\}", text)
    if boxed:
        yield boxed.group(1).strip()
    if len(text) > 2 and text[0] == text[-1] == "$":
        yield text.strip("$").strip() or text
    yield text
    if text.lower() in ("true", "false"):
        yield "yes" if text.lower() == "true" else "no"
    if text[:1] in "[{(":
        try:
            parsed = json.loads(text)
        except ValueError:
            return
        if isinstance(parsed, (list, dict)):
            yield from _written(parsed)


def _blocks(text: str) -> Iterator[Block]:
    position = 0
    opening = re.compile(r"<([A-Za-z_][\w-]{0,40})>")
    while (start := opening.search(text, position)) is not None:
        closing = f"</{start.group(1)}>"
        end = text.find(closing, start.end())
        if end < 0:
            position = start.end()
            continue
        position = end + len(closing)
        yield Block(start.group(1), Span(start.start(), position), Span(start.end(), end))


def _region(anatomy: Anatomy) -> Span:
    text = anatomy.text
    place = anatomy.places[-1] if anatomy.places else None
    candidates = [
        Span(block.body.start, block.body.end, f"tag {block.name}")
        for block in anatomy.blocks
        if block.name.lower() not in THINKING
    ]
    candidates += [Span(*match.span(1), "box") for match in re.finditer(r"\\boxed\{([^{}]*)\}", text)]
    candidates += [Span(*match.span(1), "fence") for match in re.finditer(r"```[^\n`]*\n(.*?)\n?```", text, re.DOTALL)]
    candidates += [Span(*match.span(1), "hashes") for match in re.finditer(r"####[ \t]*([^\n]*)", text)]
    candidates += [
        Span(*match.span(1), "mark")
        for match in re.finditer(r"(?im)^.{0,40}?\b(?:final answer|answer|result)\b(?: is)?\s*[:=]\s*([^\n]+)$", text)
        if not any(block.whole.start <= match.start() < block.whole.end for block in anatomy.blocks)
    ]
    holding = [span for span in candidates if place is None or span.holds(place)]
    if holding:
        return min(holding, key=lambda span: (span.end - span.start, -span.start)) if place else holding[-1]
    return Span(0, len(text), "whole")
