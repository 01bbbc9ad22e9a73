"""A report as an HTML page: one self-contained file, without scripts or external resources.

Text that a policy wrote is escaped. As a second defense, a content security policy forbids everything except the page's
own style sheet.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from rewardkit.batch.table_text import visible
from rewardkit.report.document import (
    Bar,
    Block,
    Card,
    Cell,
    Code,
    Facts,
    Fold,
    Mark,
    Name,
    Paragraph,
    Part,
    Quote,
    Table,
    Verdict,
)
from rewardkit.report.values import middle_cut, repr_of

_LONGEST = 4_000
"""The maximum length of a text in characters. The limit is arbitrary and keeps the page readable."""
_PARAGRAPHS = {"": "", "soft": ' class="soft"', "note": ' class="soft small"'}


def page_of(title: str, blocks: Sequence[Block]) -> str:
    """Return a complete HTML page."""
    # One style sheet for dark and light mode; the reader's browser setting decides.
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    body = "\n".join(_blocks(blocks, 2))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{_text(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _blocks(blocks: Iterable[Block], level: int) -> Iterator[str]:
    """Yield the HTML elements of the blocks; the outermost sections have headings of `level`."""
    for block in blocks:
        match block:
            case Paragraph(text, kind):
                yield f"<p{_PARAGRAPHS[kind]}>{_text(text)}</p>"
            case Verdict(text, kind):
                yield f'<p><span class="verdict {kind}">{_text(text)}</span></p>'
            case Table():
                yield _table(block)
            case Facts(rows):
                listed = "".join(f"<dt>{_text(name)}</dt><dd>{_value(value)}</dd>" for name, value in rows)
                yield f"<dl>{listed}</dl>"
            case Code(text):
                yield f"<pre>{_lines(text)}</pre>"
            case Card(title, inner):
                yield f'<div class="finding"><p>{_text(title)}</p>'
                yield from _blocks(inner, level)
                yield "</div>"
            case Fold(title, inner, opened):
                yield f"<details{' open' * opened}><summary>{_text(title)}</summary>"
                yield from _blocks(inner, level)
                yield "</details>"
            case Part(title, inner, anchor):
                tag = "section" if level == 2 else "div"
                yield f"<{tag}{_identity(anchor)}><h{level}>{_text(title)}</h{level}>"
                yield from _blocks(inner, level + 1)
                yield f"</{tag}>"


def _table(table: Table) -> str:
    head = _row(table.head, table.left, "th") if table.head else ""
    rows = "".join(_row(row, table.left, "td") for row in table.rows)
    return f"<table>{f'<thead>{head}</thead>' if head else ''}<tbody>{rows}</tbody></table>"


def _row(cells: Sequence[Cell], left: int, tag: str) -> str:
    cell_tags = [f"<{tag}>{_cell(cell)}</{tag}>" for cell in cells[:left]]
    cell_tags += [f'<{tag} class="number">{_cell(cell)}</{tag}>' for cell in cells[left:]]
    return f"<tr>{''.join(cell_tags)}</tr>"


def _cell(cell: Cell) -> str:
    match cell:
        case Name(text, anchor):
            return f'<a href="#{_anchor(anchor)}">{_text(text)}</a>' if anchor else f"<code>{_text(text)}</code>"
        case Mark(text, kind):
            return f'<span class="mark {kind}">{_text(text)}</span>'
        case Bar(shares):
            return _bar(shares)
        case _:
            return _text(cell)


def _bar(shares: Sequence[tuple[str, int]]) -> str:
    """Return an SVG bar for `shares`. Widths are attributes, because the page's policy forbids inline styles."""
    total = sum(count for _, count in shares)
    if not total:
        return ""
    parts, start = [], 0.0
    for kind, count in shares:
        width = 100.0 * count / total
        parts.append(f'<rect class="{kind}" x="{start:.2f}" y="0" width="{width:.2f}" height="10"/>')
        start += width
    return f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def _value(value: str | Quote) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value.value, str):
        return f"<pre>{_lines(middle_cut(value.value, _LONGEST)) or '<span class=soft>(empty)</span>'}</pre>"
    return f"<pre>{_text(repr_of(value.value))}</pre>"


def _text(text: str) -> str:
    """Return `text` as one line of escaped HTML, truncated if it is long, with invisible characters made visible."""
    return escape(visible(middle_cut(text, _LONGEST)))


def _lines(text: str) -> str:
    return "\n".join(escape(visible(line)) for line in text.split("\n"))


def _anchor(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def _identity(anchor: str) -> str:
    return f' id="{_anchor(anchor)}"' if anchor else ""
