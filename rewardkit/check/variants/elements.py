"""Elements: the parts of a correct completion that carry its meaning, such as calls, items, values, and numbers.

``"Ranking: D2 > D4 > D3"`` has three elements of the kind ``"item"`` with ``" > "`` between them. An element can be
removed, changed, repeated, moved, or put in place of another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from rewardkit.check.completion.parsed_completion import (
    THINKING,
    ParsedCompletion,
    Span,
    as_number,
    atoms_of,
    numbers_in,
    parsed_json,
    parts_of,
    replaced,
    unrelated,
)
from rewardkit.check.variants.wrong_answers import other_value

# A whole block of code, on separate lines.
_FENCE = re.compile(r"^```[^\n`]*\n.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
# "- red" or "2. red", with any indented lines that follow.
_BULLET = re.compile(r"^(?:[-*•]|\d{1,2}[.)])[ \t]+(?:.+(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
# "name: value" on a separate line, with a name of up to 30 characters.
_FIELD = re.compile(r"^[ \t]*(?:[-*•][ \t]+)?\**(\w[\w /-]{0,29}?)\**[:=][ \t*]*(\S.*?)[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"(?!.*[={}])(?=.*\w).*")
# "preheat, mix, bake": three short items or more.
_LIST = re.compile(r"\s*([^\n.:,;>]{1,30}(?:(?:,|;| -?>) [^\n.:,;>]{1,30}){2,})\.?\s*")
# "04/03/2024": the day and the month, or the other way around.
_DATE = re.compile(r"\b(\d{1,2})([./-])(\d{1,2})\2(\d{4})\b")
# "[2]" after a word, not the item of a list.
_CITATION = re.compile(r"(?<=[\w.\]])(?<!,) ?(?<!: )\[\d{1,3}\](?!\s*[,\]>])")
# "[10, 20]" or "(0, 0, 5, 5)": a point or a box.
_PLACE = re.compile(r"[\[(]\s*-?[\d.]+\s*,\s*-?[\d.]+\s*(?:,\s*-?[\d.]+\s*,\s*-?[\d.]+\s*)?[\])]")
# A quotation of two words or more.
_QUOTE = re.compile(r'["“]([^"“”\n]+)["”]')
# "{name}" or "%s" in a text that a program fills in.
_PLACEHOLDER = re.compile(r"\{[A-Za-z_]\w*\}|%[sd]\b|\$\{\w+\}")
# The rows of a Markdown table.
_TABLE = re.compile(r"^\|[ \t:|-]*-{3,}[ \t:|-]*\|[ \t]*\n((?:\|[^\n]+\|[ \t]*(?:\n|\Z))+)", re.MULTILINE)
# A query, and the clauses that can be left out.
_QUERY = re.compile(r"(?is)\bselect\b(?:(?!```|</|;).)+\bfrom\b(?:(?!```|</|;).)+")
_CLAUSE = re.compile(
    r"(?is)\b(?:where|group\s+by|having|order\s+by|limit)\b(?:(?!\b(?:where|group\s+by|having|order\s+by|limit)\b).)+"
)
_JOINTS = (" > ", " -> ", " → ", "->", "→", "; ", " | ", ", ", ",", " ")
# Arbitrary: longer items are sentences, and longer lists are skipped.
_LONGEST_ITEM = 60
_MOST = 12
# Arbitrary: a longer document takes too long to take apart, and a longer answer is prose.
_LONGEST_DOCUMENT = 5_000
_LONGEST_ANSWER = 40


@dataclass(frozen=True)
class Elements:
    """The elements of a completion with the same kind, in order.

    Attributes:
        text: the completion's text.
        kind: ``"call"``, ``"block"``, ``"fence"``, ``"bullet"``, ``"item"``, ``"mention"``, ``"entry"`` (a key and its
            value), ``"value"``, ``"field"``, ``"quote"``, ``"citation"``, ``"line"``, ``"number"``, ``"placeholder"``,
            ``"clause"`` (of a query), ``"cell"`` (of a table), or ``"piece"`` (of a code such as ``e2e4``).
        spans: the spans of the elements.
        names: the name of each element, such as the key of a value. Elements of other kinds have no names.
    """

    text: str
    kind: str
    spans: tuple[Span, ...]
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.spans)

    def part(self, index: int) -> str:
        """Return the text of the element at `index`."""
        return self.spans[index].of(self.text)

    def name(self, index: int) -> str:
        """Return the name of the element at `index`, or "" if it has none."""
        return self.names[index] if self.names else ""

    @property
    def apart(self) -> bool:
        """Whether other text lies between the elements, which therefore have no separator."""
        return self.kind in (
            "mention", "value", "field", "quote", "citation", "number", "placeholder", "clause", "cell", "piece"
        )  # fmt: skip

    @property
    def joint(self) -> str:
        """The separator of the elements, which is the text between the first two elements."""
        if self.apart:
            return " "
        if len(self.spans) > 1:
            return self.text[self.spans[0].end : self.spans[1].start]
        return ", " if self.kind in ("entry", "item") else "\n"

    def without(self, index: int) -> str:
        """Return the completion without the element at `index` and the separator next to it."""
        span = self.spans[index]
        if self.apart:
            return replaced(self.text, [(span, "null" if self.kind == "value" else "")])
        if index + 1 < len(self.spans):
            gap = Span(span.start, self.spans[index + 1].start)
        else:
            gap = Span(self.spans[index - 1].end if index else span.start, span.end)
        return replaced(self.text, [(gap, "")])

    def line(self, index: int) -> Span:
        """Return the span of the line that contains the element at `index`."""
        span = self.spans[index]
        end = self.text.find("\n", span.end)
        return Span(self.text.rfind("\n", 0, span.start) + 1, len(self.text) if end < 0 else end)

    def only(self, index: int) -> str:
        """Return the completion without all elements but the one at `index`."""
        if self.apart:
            return replaced(
                self.text,
                [(span, "null" if self.kind == "value" else "") for span in self.spans if span != self.spans[index]],
            )
        return replaced(self.text, [(Span(self.spans[0].start, self.spans[-1].end), self.part(index))])

    def without_all(self) -> str:
        """Return the completion without the elements and the text between them."""
        if self.apart:
            return replaced(self.text, [(span, "null" if self.kind == "value" else "") for span in self.spans])
        return replaced(self.text, [(Span(self.spans[0].start, self.spans[-1].end), "")])

    def instead(self, index: int, other: str) -> str:
        """Return the completion with `other` in place of the element at `index`."""
        return replaced(self.text, [(self.spans[index], other)])

    def changed(self, index: int) -> str:
        """Return another element of the same kind and form as the one at `index`, with other words and numbers."""
        part = self.part(index)
        value = parsed_json(part)
        if self.kind == "value" and value is not None:
            return json.dumps(other_value(value))
        start = 0
        if self.kind == "entry":  # the key is kept
            start = part.index(":")
        elif self.kind == "bullet":  # the mark is kept
            start = len(part) - len(re.sub(r"^\S+\s+", "", part))
        elif self.kind in ("call", "block") and part.startswith("<"):  # the tag is kept
            start = part.index(">") + 1
            part, end = part[: part.rindex("<")], part[part.rindex("<") :]
            return self._with_other_words(part, start) + end
        return self._with_other_words(part, start)

    def foreign(self, number: int) -> str:
        """Return an element that the completion does not have, for each number another one."""
        part = self.changed(0)
        value = as_number(part)
        return f"{part}{'q' * number}" if value is None else str(int(value) + 1_000 * (number + 1))

    def cut(self, index: int) -> Iterator[str]:
        """Yield what a search for parts of the element at `index` also finds: its initials, and its first letter."""
        part = self.part(index)
        if self.kind not in ("item", "value", "field", "bullet", "mention", "quote"):
            return
        start = len(part) - len(re.sub(r"^\S+", "", part)) if self.kind == "bullet" else 0
        # A word of four letters or more: the first letter of a shorter one may be an abbreviation.
        yield part[:start] + re.sub(r"\b([^\W\d_])[^\W\d_]{3,}", r"\1", part[start:])
        letters = re.search(r"[^\W\d_]", part[start:])
        # "B" may be the option of "B) Jupiter".
        is_option = re.match(r"\W*[A-Z]\b", part) is not None
        if letters is not None and not is_option and len(part.split()) > (1 if self.kind == "value" else 2):
            quote = '"' if self.kind == "value" else ""
            yield f"{part[:start]}{' ' if start else ''}{quote}{letters.group()}{quote}"

    def negated(self, index: int) -> str:
        """Return the statement at `index` with "not", or unchanged if it is not a short statement."""
        part = self.part(index)
        is_statement = self.kind in ("line", "bullet", "item") and len(part) <= _LONGEST_ITEM and " not " not in part
        return re.sub(r" (is|are|was|were|has to|must) ", r" \1 not ", part, count=1) if is_statement else part

    def listed(self, column: Any) -> Iterator[str]:
        """Yield elements made from the rows of a column that the completion does not have.

        ``["Lunch", "12:30"]`` turns ``Workshop at 10:30`` into ``Lunch at 12:30``, if ``["Workshop", "10:30"]`` is also
        a row of the column.
        """
        rows = column if isinstance(column, (list, tuple)) and len(self) > 1 else ()
        atoms_by_row = [list(atoms_of(row)) for row in rows]
        used = [atoms for atoms in atoms_by_row if atoms and all(atom in self.text for atom in atoms)]
        for index in range(len(self)) if len(used) < len(atoms_by_row) else ():
            part = self.part(index)
            template = next((atoms for atoms in used if all(atom in part for atom in atoms)), None)
            if template is None:
                continue
            for atoms in atoms_by_row:
                if atoms not in used and len(atoms) == len(template):
                    pairs = dict(zip(template, atoms, strict=True))
                    pieces = re.split(f"({'|'.join(map(re.escape, pairs))})", part)
                    yield "".join(pairs.get(piece, piece) for piece in pieces)
            return

    def _with_other_words(self, part: str, start: int) -> str:
        words = [(word.span, unrelated(word)) for word in parts_of(part) if word.span.start >= start]
        return replaced(part, words)

    def swapped(self, index: int, other: int | None = None) -> str:
        """Return the completion with the elements at `index` and `other` (the next one) in each other's place."""
        first, second = self.spans[index], self.spans[index + 1 if other is None else other]
        return replaced(self.text, [(first, second.of(self.text)), (second, first.of(self.text))])

    def with_more(self, *parts: str) -> str:
        """Return the completion with more `parts` after the last element."""
        end = self.spans[-1].end
        return self.text[:end] + "".join(self.joint + part for part in parts) + self.text[end:]

    def without_but_more(self, index: int, *parts: str) -> str:
        """Return the completion without the element at `index`, and with more `parts` after the last one."""
        other_spans = tuple(span for other, span in enumerate(self.spans) if other != index)
        shorter = self.without(index)
        lost = len(self.text) - len(shorter)
        moved = [span if span.end <= self.spans[index].start else _moved(span, lost) for span in other_spans]
        end = moved[-1].end
        return shorter[:end] + "".join(self.joint + part for part in parts) + shorter[end:]


def _moved(span: Span, lost: int) -> Span:
    return Span(span.start - lost, span.end - lost)


def elements_in(anatomy: ParsedCompletion, columns: Sequence[Any] = ()) -> Iterator[Elements]:
    """Yield the elements of a correct completion, outside its thinking, one kind after another.

    Args:
        anatomy: the parsed completion.
        columns: the values of columns. The items of a list are elements if the completion mentions each of them once,
            and a number is an element if a column contains it.
    """
    text = anatomy.text
    start = anatomy.thinking.whole.end if anatomy.thinking else 0
    blocks = [inner for block in anatomy.blocks if block.name.lower() not in THINKING for inner in block.nested(text)]
    for name in dict.fromkeys(block.name for block in blocks):
        kind = "call" if "call" in name.lower() or "function" in name.lower() else "block"
        yield from _group(text, kind, [block.whole for block in blocks if block.name == name])
    leaves = [block for block in blocks if len(list(block.nested(text))) == 1]
    if len({block.name for block in leaves}) > 1:
        yield from _group(text, "field", [block.body for block in leaves], [block.name for block in leaves])
    is_short = len(text) <= _LONGEST_DOCUMENT  # the patterns for tables and queries take quadratic time
    table = _TABLE.search(text, start) if is_short else None
    if table is not None:
        cells = re.finditer(r"(?<=\|)[ \t]*([^|\n]*[^|\s])[ \t]*(?=\|)", table[1])
        yield from _group(
            text, "cell", [Span(table.start(1) + cell.start(1), table.start(1) + cell.end(1)) for cell in cells]
        )
    query = next(reversed([*_QUERY.finditer(text, start)]), None) if is_short else None
    if query is not None and "(" not in query[0].partition("from")[2]:  # a clause of a subquery is not told apart
        clauses = _CLAUSE.finditer(text, query.start(), query.end())
        yield from _group(text, "clause", [Span(*match.span()) for match in clauses])
    patterns = (("fence", _FENCE), ("bullet", _BULLET), ("citation", _CITATION), ("placeholder", _PLACEHOLDER))
    for kind, pattern in patterns:
        yield from _group(text, kind, [Span(*match.span()) for match in pattern.finditer(text, start)])
    documents = list(_documents(text, start))
    for document in documents:
        yield from _document(text, document)
    calls = [document for document in documents if _is_call(text, document)]
    if len(calls) == len(documents) and len(calls) > sum("call" in block.name.lower() for block in blocks):
        yield from _group(text, "call", calls)
    yield from _items(anatomy, documents)
    for value in columns:
        if (
            isinstance(value, (list, tuple))
            and len(value) > 1
            and all(isinstance(item, str) and item.strip() for item in value)
        ):
            yield from _mentions(text, start, value)
            items = {item.strip() for item in value}
            lines = [Span(*match.span()) for match in re.finditer(r"[^\n]*\S[^\n]*", text) if match.start() >= start]
            copied = [line for line in lines if line.of(text).strip() in items]
            if len(copied) == len(lines) < len(items):
                yield from _group(text, "line", copied)
    fields = [
        match
        for match in _FIELD.finditer(text, start)
        if not any(document.start <= match.start() < document.end for document in documents)
    ]
    yield from _group(
        text, "field", [Span(*match.span(2)) for match in fields], [match.group(1).strip() for match in fields]
    )
    quotes = [Span(*match.span(1)) for match in _QUOTE.finditer(text, start) if " " in match[1].strip()]
    in_documents = [quote for quote in quotes if any(document.holds(quote) for document in documents)]
    yield from _group(text, "quote", [quote for quote in quotes if quote not in in_documents])
    for lines in similar_lines(text, start):
        if not _BULLET.match(lines[0].of(text)):
            yield from _group(text, "line", lines)
    yield from _numbers(anatomy, start, columns)
    yield from _pieces(anatomy)


def _is_call(text: str, document: Span) -> bool:
    """Return whether a document on a separate line is a tool call."""
    line = text[text.rfind("\n", 0, document.start) + 1 :].partition("\n")[0]
    value = parsed_json(document.of(text))
    return line.strip() == document.of(text) and isinstance(value, dict) and bool({"name", "tool"} & value.keys())


def _group(text: str, kind: str, spans: Sequence[Span], names: Sequence[str] = ()) -> Iterator[Elements]:
    if 0 < len(spans) <= _MOST:
        yield Elements(text, kind, tuple(spans), tuple(names))


def _documents(text: str, start: int) -> Iterator[Span]:
    """Yield the spans of the JSON objects and lists in a text."""
    decoder, position = json.JSONDecoder(), start
    opening = re.compile(r"[{\[]")
    while (match := opening.search(text, position)) is not None:
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
            continue
        is_mark = isinstance(value, list) and len(value) == 1 and isinstance(value[0], int)  # "[2]" in a text
        if value and not is_mark and end - match.start() <= _LONGEST_DOCUMENT:
            yield Span(match.start(), end)
        position = end


def _document(text: str, document: Span) -> Iterator[Elements]:
    """Yield the entries of each object, the items of each list, and all values of a document in valid JSON."""
    groups: list[tuple[str, list[Span], list[str]]] = []
    values: list[Span] = []
    names: list[str] = []
    decoder = json.JSONDecoder()

    def skip(position: int) -> int:
        while text[position] in " \t\r\n,:":
            position += 1
        return position

    def walk(position: int, name: str) -> int:
        """Collect the elements of the value at `position`, and return its end."""
        opening = text[position]
        if opening not in "{[":
            _, end = decoder.raw_decode(text, position)
            values.append(Span(position, end))
            names.append(name)
            return end
        spans: list[Span] = []
        keys: list[str] = []
        at = skip(position + 1)
        while text[at] not in "}]":
            key, start = name, at
            if opening == "{":
                key, at = decoder.raw_decode(text, at)
                at = skip(at)
            end = walk(at, key)
            spans.append(Span(start, end))
            keys.append(key)
            at = skip(end)
        groups.append(("entry" if opening == "{" else "item", spans, keys))
        return at + 1

    walk(document.start, "")
    for kind, spans, keys in groups:
        yield from _group(text, kind, spans, keys if kind == "entry" else ())
    yield from _group(text, "value", values, names)


def _items(anatomy: ParsedCompletion, documents: Sequence[Span]) -> Iterator[Elements]:
    """Yield the items in the marked answer, or the items after the colon in the last line."""
    text, region = anatomy.text, anatomy.region
    if not anatomy.marked:
        # "Colors: red, blue" at the end: a label of up to 40 characters. Or the list is the whole text.
        line = re.search(r"(?:^|\n)[^\n:]{1,40}:[ \t]*([^\n]+?)[ \t.]*\Z", text) or _LIST.fullmatch(text)
        if line is None:
            return
        region = Span(*line.span(1))
    body = region.of(text)
    # The brackets of "[2] > [1]" belong to the items.
    stripped = body.strip().strip("*_`" if body.count("[") > 1 or body.count("(") > 1 else "[]()*_`").strip()
    if (
        not stripped
        or region.kind == "fence"
        or "\n" in stripped
        or any(span.start < region.end and region.start < span.end for span in documents)
    ):
        return
    start = region.start + body.index(stripped)
    for joint in _JOINTS:
        parts = stripped.split(joint)
        if joint == " " and (len(stripped) > _LONGEST_ANSWER or re.search(r"[.,;:!?=]|[^\W\d_]{2}(?!\d)", stripped)):
            return  # words
        # An equation or an expression is not a list.
        if len(parts) > 1 and all(0 < len(part) <= _LONGEST_ITEM and _ITEM.fullmatch(part) for part in parts):
            spans, position = [], start
            for part in parts:
                spans.append(Span(position, position + len(part)))
                position += len(part) + len(joint)
            yield from _group(text, "item", spans)
            return


def _mentions(text: str, start: int, items: Sequence[str]) -> Iterator[Elements]:
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
        yield from _group(text, "mention", spans)


def similar_lines(text: str, start: int = 0) -> Iterator[list[Span]]:
    """Yield runs of two or more lines with the same shape, such as ``09:00 Breakfast``."""
    lines = [Span(*match.span()) for match in re.finditer(r"[^\n]*\S[^\n]*", text) if match.start() >= start]
    for shape, run in groupby(lines, key=lambda line: re.sub(r"\w+", "w", line.of(text).strip())):
        spans = list(run)
        if len(spans) > 1 and "w" in shape:
            yield spans


def _numbers(anatomy: ParsedCompletion, start: int, columns: Sequence[Any]) -> Iterator[Elements]:
    """Yield the numbers that a column contains, without those before the items of a list.

    If the answer is marked, the numbers outside of all marks are steps on the way to it.
    """
    inside = (
        [anatomy.region, *(block.body for block in anatomy.blocks)] if anatomy.marked else [Span(0, len(anatomy.text))]
    )
    column_numbers = {span.of(atom) for column in columns for atom in atoms_of(column) for span in numbers_in(atom)}
    # One number of a point or a box may be near enough.
    boxes = [Span(*match.span()) for match in _PLACE.finditer(anatomy.text)]
    spans = [
        span
        for span in numbers_in(anatomy.text)
        if span.start >= start
        and any(region.holds(span) for region in inside)
        and span.of(anatomy.text) in column_numbers
        and not any(box.holds(span) for box in boxes)
        # The 1 of "doc-1" belongs to a name.
        and not re.search(r"[^\W\d_]-\Z", anatomy.text[max(0, span.start - 2) : span.start])
        and not re.fullmatch(r"\s*\(?", anatomy.text[anatomy.text.rfind("\n", 0, span.start) + 1 : span.start])
    ]
    yield from _group(anatomy.text, "number", spans)


def _pieces(anatomy: ParsedCompletion) -> Iterator[Elements]:
    """Yield the runs of letters and digits in a gold answer without spaces, such as ``e2e4`` or ``2024-05-01``."""
    dates = _DATE.finditer(anatomy.text, anatomy.region.start, anatomy.region.end)
    for date in dates if anatomy.marked else ():
        yield from _group(anatomy.text, "piece", [Span(*date.span(1)), Span(*date.span(3)), Span(*date.span(4))])
    gold = anatomy.gold
    if not 3 <= len(gold) <= _LONGEST_ANSWER or re.search(r"\s", gold) or as_number(gold) is not None:
        return
    span = anatomy.places[-1]
    runs = [Span(span.start + run.start(), span.start + run.end()) for run in re.finditer(r"[^\W\d_]+|\d+", gold)]
    yield from _group(anatomy.text, "piece", runs)
