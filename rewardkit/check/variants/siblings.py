"""Siblings: parts of a correct completion of the same kind, such as its calls, bullets, or list items.

``"Ranking: D2 > D4 > D3"`` has three siblings with ``" > "`` between them. A sibling can be removed, repeated, or put
in place of another sibling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rewardkit.check.completion.parsed_completion import THINKING, ParsedCompletion, Span, replaced

# A whole block of code, on separate lines.
_FENCE = re.compile(r"^```[^\n`]*\n.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
# "- red" or "2. red", with any indented lines that follow.
_BULLET = re.compile(r"^(?:[-*•]|\d{1,2}[.)])[ \t]+(?:.+(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
_JOINTS = (" > ", " -> ", " → ", "; ", " | ", ", ")
# Arbitrary limits: longer items are sentences, and longer lists are skipped.
_LONGEST_ITEM = 60
_MOST = 12


@dataclass(frozen=True)
class Siblings:
    """The parts of a completion with the same kind, in order.

    Attributes:
        text: the completion's text.
        kind: ``"call"``, ``"block"``, ``"fence"``, ``"bullet"``, ``"item"``, or ``"mention"``.
        spans: the spans of the parts.
    """

    text: str
    kind: str
    spans: tuple[Span, ...]

    def __len__(self) -> int:
        return len(self.spans)

    def part(self, index: int) -> str:
        """Return the text of the part at `index`."""
        return self.spans[index].of(self.text)

    @property
    def joint(self) -> str:
        """The separator of the parts, which is the text between the first two parts."""
        if self.kind == "mention":
            return " "
        if len(self.spans) > 1:
            return self.text[self.spans[0].end : self.spans[1].start]
        return "\n"

    def without(self, index: int) -> str:
        """Return the completion without the part at `index` and the separator next to it."""
        span = self.spans[index]
        if self.kind == "mention":
            return replaced(self.text, [(span, "")])
        if index + 1 < len(self.spans):
            gap = Span(span.start, self.spans[index + 1].start)
        else:
            gap = Span(self.spans[index - 1].end if index else span.start, span.end)
        return replaced(self.text, [(gap, "")])

    def without_all(self) -> str:
        """Return the completion without the parts and the text between them."""
        if self.kind == "mention":
            return replaced(self.text, [(span, "") for span in self.spans])
        return replaced(self.text, [(Span(self.spans[0].start, self.spans[-1].end), "")])

    def instead(self, index: int, other: str) -> str:
        """Return the completion with `other` in place of the part at `index`."""
        return replaced(self.text, [(self.spans[index], other)])

    def with_more(self, *parts: str) -> str:
        """Return the completion with more `parts` after the last one."""
        end = self.spans[-1].end
        return self.text[:end] + "".join(self.joint + part for part in parts) + self.text[end:]

    def without_but_more(self, index: int, *parts: str) -> str:
        """Return the completion without the part at `index`, and with more `parts` after the last one."""
        other_spans = tuple(span for other, span in enumerate(self.spans) if other != index)
        shorter = self.without(index)
        lost = len(self.text) - len(shorter)
        moved = [span if span.end <= self.spans[index].start else _moved(span, lost) for span in other_spans]
        end = moved[-1].end
        return shorter[:end] + "".join(self.joint + part for part in parts) + shorter[end:]


def _moved(span: Span, lost: int) -> Span:
    return Span(span.start - lost, span.end - lost)


def siblings_in(anatomy: ParsedCompletion, columns: Sequence[Any] = ()) -> Iterator[Siblings]:
    """Yield the siblings in a correct completion, outside its thinking.

    Args:
        anatomy: the parsed completion.
        columns: the values of columns. The items of a list are siblings if the completion mentions each of them once.
    """
    text = anatomy.text
    start = anatomy.thinking.whole.end if anatomy.thinking else 0
    names = dict.fromkeys(block.name for block in anatomy.blocks if block.name.lower() not in THINKING)
    for name in names:
        kind = "call" if "call" in name.lower() or "function" in name.lower() else "block"
        yield from _make_siblings(text, kind, [block.whole for block in anatomy.blocks if block.name == name])
    for kind, pattern in (("fence", _FENCE), ("bullet", _BULLET)):
        yield from _make_siblings(text, kind, [Span(*match.span()) for match in pattern.finditer(text, start)])
    yield from _items(anatomy)
    for value in columns:
        if (
            isinstance(value, (list, tuple))
            and len(value) > 1
            and all(isinstance(item, str) and item.strip() for item in value)
        ):
            yield from _mentions(text, start, value)


def _make_siblings(text: str, kind: str, spans: Sequence[Span]) -> Iterator[Siblings]:
    if 0 < len(spans) <= _MOST:
        yield Siblings(text, kind, tuple(spans))


def _items(anatomy: ParsedCompletion) -> Iterator[Siblings]:
    """Yield the items in the marked answer, or the items after the colon in the last line."""
    text, region = anatomy.text, anatomy.region
    if not anatomy.marked:
        # "Colors: red, blue" at the end: a label of up to 40 characters.
        line = re.search(r"(?:^|\n)[^\n:]{1,40}:[ \t]*([^\n]+?)[ \t.]*\Z", text)
        if line is None:
            return
        region = Span(*line.span(1))
    body = region.of(text)
    stripped = body.strip().strip("[]()").strip()
    if not stripped or "\n" in stripped or "{" in stripped:
        return
    start = region.start + body.index(stripped)
    for joint in _JOINTS:
        parts = stripped.split(joint)
        if len(parts) > 1 and all(0 < len(part) <= _LONGEST_ITEM for part in parts):
            spans, position = [], start
            for part in parts:
                spans.append(Span(position, position + len(part)))
                position += len(part) + len(joint)
            yield from _make_siblings(text, "item", spans)
            return


def _mentions(text: str, start: int, items: Sequence[str]) -> Iterator[Siblings]:
    """Yield the mentions of the items of a list, if the text mentions each item exactly once."""
    spans = []
    for item in items:
        matches = [
            Span(*match.span())
            for match in re.finditer(rf"(?<!\w){re.escape(item)}(?!\w)", text, re.IGNORECASE)
            if match.start() >= start
        ]
        if len(matches) != 1:
            return
        spans += matches
    spans.sort(key=lambda span: span.start)
    if all(earlier.end <= other.start for earlier, other in pairwise(spans)):
        yield from _make_siblings(text, "mention", spans)
