"""A report as one document: paragraphs, tables, facts, code, and sections, rendered as text, Markdown, or HTML.

::

    document = Document("Reward check", [Verdict("sound", "held"), Table([["total", "0.5"]], ["", "mean"])])
    print(document.text())
    Path("report.html").write_text(document.html())

Blocks contain plain text, which a model or an untrusted person may have written. Each output format escapes the text.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any, Literal

from rewardkit.batch.table_text import visible
from rewardkit.report.values import middle_cut, quoted, repr_of

WIDTH = 110
"""The number of characters per line on a terminal. The number is arbitrary: a common terminal width."""
LIMIT = 60_000
"""The maximum size of a comment in bytes. GitHub allows 65,536 characters; the difference leaves room for other
text."""
_COMMENTED = 1_500
"""The maximum length of a completion in a comment, in characters. The limit is arbitrary: a comment has room for about
forty completions."""
_LEFT_OUT = "The rest is too long for a comment."
# All characters that Markdown may read as markup, except "." and digits, which only make lists at the start of a line.
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&-])")

Kind = Literal["held", "unfinished", "broken", "skipped"]
"""The meaning of a verdict or a mark, which determines its color."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. The kind ``"soft"`` is for less important text, and ``"note"`` is for a remark about the report."""

    text: str
    kind: Literal["", "soft", "note"] = ""


@dataclass(frozen=True)
class Verdict:
    """A report's result in one sentence."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class Name:
    """A name that a user chose for a reward, a component, or a file.

    Attributes:
        anchor: the anchor of the section to link to, or an empty string for no link.
    """

    text: str
    anchor: str = ""


@dataclass(frozen=True)
class Mark:
    """A colored word."""

    text: str
    kind: Kind


@dataclass(frozen=True)
class Bar:
    """A stacked bar on the page. Each share is a pair: ``"right"``, ``"tied"``, or ``"wrong"``, and its count."""

    shares: Sequence[tuple[str, int]]


Cell = str | Name | Mark | Bar


@dataclass(frozen=True)
class Table:
    """A table as rows of cells.

    Attributes:
        head: the column names; empty for a table without a header.
        left: the number of leading columns that contain words and are left-aligned; the other columns contain numbers
            and are right-aligned.
    """

    rows: Sequence[Sequence[Cell]]
    head: Sequence[str] = ()
    left: int = 1


@dataclass(frozen=True)
class Quote:
    """A quoted value, such as a completion, a data cell, or a traceback, which may be long and untrusted.

    Attributes:
        limit: the maximum number of characters on a terminal, which shows the value on one line.
        line: the text for a terminal. The default is the value's repr.
    """

    value: Any
    limit: int = 300
    line: str | None = None


@dataclass(frozen=True)
class Facts:
    """A list of names with values.

    Attributes:
        width: the names' minimum width on a terminal.
    """

    rows: Sequence[tuple[str, str | Quote]]
    width: int = 0


@dataclass(frozen=True)
class Code:
    """Preformatted text, which keeps its line breaks and is never wrapped."""

    text: str


@dataclass(frozen=True)
class Card:
    """A finding or a completion: a title and its content, without empty lines between blocks."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Fold:
    """Collapsed details, which the page shows when you click the title."""

    title: str
    blocks: Sequence[Block]
    opened: bool = False


@dataclass(frozen=True)
class Part:
    """A section with a title; nested sections have smaller titles.

    Attributes:
        anchor: the anchor that a `Name` links to; unique on a page.
    """

    title: str
    blocks: Sequence[Block]
    anchor: str = ""


Block = Paragraph | Verdict | Table | Facts | Code | Card | Fold | Part


@dataclass(frozen=True)
class Document:
    """A report as a sequence of blocks.

    Attributes:
        title: the HTML page's title.
    """

    title: str
    blocks: Sequence[Block]

    def text(self) -> str:
        """Return the report for a terminal."""
        return text_of(self.blocks)

    def markdown(self) -> str:
        """Return a pull request comment of at most 60,000 bytes, with all foreign markup escaped; "" without blocks."""
        return markdown_of(self.blocks)

    def html(self) -> str:
        """Return a self-contained HTML page with escaped text and without scripts or external resources."""
        from rewardkit.report.html import page_of

        return page_of(self.title, self.blocks)


# Terminal output. Control characters are spelled out, so a completion cannot control the terminal.


def text_of(blocks: Sequence[Block]) -> str:
    """Return the blocks as text, separated by empty lines."""
    return "\n".join(_text_lines(blocks, ""))


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return a table's lines, with the first `left` columns left-aligned and the others right-aligned.

    ``aligned([["", "AUC"], ["total", "0.93"]])`` is ``["        AUC", "total  0.93"]``.
    """
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def wrapped(text: str, indent: str = "", further: str | None = None) -> list[str]:
    """Return a paragraph's wrapped lines. `further` is the indent after the first line (`indent` by default)."""
    return textwrap.wrap(
        visible(text),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _text_lines(blocks: Sequence[Block], indent: str, *, gaps: bool = True) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if number and gaps:
            yield ""
        yield from _text_lines_of(block, indent)


def _text_lines_of(block: Block, indent: str) -> Iterator[str]:
    match block:
        case Paragraph(text, kind):
            yield from wrapped(f"Note: {text}" if kind == "note" else text, indent)
        case Verdict(text):
            yield f"{indent}{visible(text)}"
        case Table(rows, head, left):
            cells = [list(map(_text_cell, row)) for row in ([head] if head else []) + list(rows)]
            yield from (f"{indent}{line}" for line in aligned(cells, left))
        case Facts(rows, least):
            width = max([least, *(len(visible(name)) for name, _ in rows)])
            for name, value in rows:
                start = f"{indent}{visible(name):<{width}}  "
                if isinstance(value, str):
                    yield from wrapped(value, start, " " * len(start)) or [start.rstrip()]
                else:
                    line = quoted(value.value, value.limit) if value.line is None else visible(value.line)
                    yield f"{start}{line}".rstrip()
        case Code(text):
            yield from (f"{indent}{visible(line)}".rstrip() for line in text.split("\n"))
        case Card(title, blocks):
            yield from wrapped(title, indent, f"{indent}   ")
            yield from _text_lines(blocks, f"{indent}   ", gaps=False)
        case Part(title, blocks) | Fold(title, blocks):
            yield f"{indent}{visible(title)}"
            yield from _text_lines(blocks, f"{indent}  ")


def _text_cell(cell: Cell) -> str:
    return cell if isinstance(cell, str) else "" if isinstance(cell, Bar) else cell.text


# Markdown output. A model writes the completions, and anyone may have chosen the names. Both go into code spans and
# fenced blocks that their text cannot close, so they are neither markup nor mentions.


def markdown_of(blocks: Sequence[Block]) -> str:
    """Return as many blocks as fit into a comment, as Markdown, or "" if there are none."""
    parts: list[str] = []
    bytes_left = LIMIT - len(_LEFT_OUT) - 2
    for text in _markdown_blocks(blocks, 3):
        bytes_left -= len(text.encode()) + 2
        if bytes_left < 0:
            parts.append(_LEFT_OUT)
            break
        parts.append(text)
    return "\n\n".join(parts) + "\n" if parts else ""


def plain(text: str) -> str:
    """Return `text` escaped, so that it does not contain markup or mentions."""
    return _unlinked(_MARKUP.sub(r"\\\1", visible(text)))


def _unlinked(text: str) -> str:
    """Return `text` with mentions, issue numbers, and URLs broken up, because GitHub links them in any text."""
    return text.replace("@", "@\u200b").replace("://", ":\u200b//").replace("#", "#\u200b")


def code(text: str) -> str:
    """Return `text` as a code span, which also works inside a table."""
    escaped = visible(text).replace("|", "\\|") or " "
    mark = "`" * (_longest_run(escaped) + 1)
    pad = " " if escaped[0] == "`" or escaped[-1] == "`" else ""
    return f"{mark}{pad}{escaped}{pad}{mark}"


def fenced(text: str) -> str:
    """Return `text` as a fenced code block that the text cannot close."""
    escaped = "\n".join(map(visible, text.split("\n")))
    mark = "`" * max(3, _longest_run(escaped) + 1)
    return f"{mark}text\n{escaped}\n{mark}"


def _longest_run(text: str) -> int:
    return max((len(list(run)) for letter, run in groupby(text) if letter == "`"), default=0)


def _markdown_blocks(blocks: Sequence[Block], level: int) -> Iterator[str]:
    """Yield each block's Markdown. A card or a fold is one string, so it is either kept or omitted as a whole."""
    for block in blocks:
        match block:
            case Paragraph(text, kind):
                yield f"> {plain(text)}" if kind == "note" else plain(text)
            case Verdict(text):
                yield f"**{plain(text)}**"
            case Table(rows, head, left):
                yield _markdown_table(rows, head, left)
            case Facts(rows) if any(isinstance(value, Quote) for _, value in rows):
                yield fenced("\n".join(map(_fact, rows)))
            case Facts(rows):
                yield "\n".join(f"- {plain(name)}: {code(str(value))}" for name, value in rows)
            case Code(text):
                yield fenced(text)
            case Card(title, inner) | Fold(title, inner):
                body = "\n\n".join(_markdown_blocks(inner, level))
                summary = _unlinked(escape(visible(title), quote=False))
                yield f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"
            case Part(title, inner):
                yield f"{'#' * level} {plain(title)}"
                yield from _markdown_blocks(inner, level + 1)


def _markdown_table(rows: Sequence[Sequence[Cell]], head: Sequence[str], left: int) -> str:
    names = list(map(plain, head)) or [""] * len(rows[0])
    rule = [":--" if column < left else "--:" for column in range(len(names))]
    lines = [names, rule, *(list(map(_markdown_cell, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cell(cell: Cell) -> str:
    match cell:
        case Name(text):
            return code(text)
        case Bar():
            return ""
        case _:
            return plain(cell if isinstance(cell, str) else cell.text)


def _fact(row: tuple[str, str | Quote]) -> str:
    name, value = row
    if isinstance(value, str):
        return f"{name}: {value}"
    return f"{name}: {middle_cut(value.value if isinstance(value.value, str) else repr_of(value.value), _COMMENTED)}"
