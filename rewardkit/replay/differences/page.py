"""The report of a comparison as a page: one self-contained file, dark or light as the reader's system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rewardkit.analysis.page import escaped, page
from rewardkit.replay.differences.sections import Example, Sections, cut, number, signed


def page_of(found: Sections) -> str:
    """Return the whole page."""
    return page(f"Reward difference: {cut(f'{found.old} -> {found.new}', 80)}", "\n".join(_body(found)))


def _body(found: Sections) -> Iterator[str]:
    yield "<h1>Reward difference</h1>"
    yield f'<p class="soft">{_code(found.old)} → {_code(found.new)}</p>'
    yield f'<p class="soft">on {_code(found.data)} ({found.size})</p>'
    yield f'<p class="verdict {"held" if found.same else "unfinished"}">{escaped(found.verdict)}</p>'
    yield from (f'<p class="soft small">{escaped(warning)}</p>' for warning in found.warnings)
    if found.components:
        yield f"<section><h2>Components</h2>{_table(found.components, head=True)}</section>"
    if found.gradients:
        yield f"<section><h2>Advantages within groups</h2>{_table(found.gradients, head=False)}</section>"
    for title, lines in (("Failures", found.failures), ("Known exploits", found.exploits)):
        if lines:
            yield f"<section><h2>{title}</h2><pre>{_lines(chr(10).join(lines))}</pre></section>"
    if found.examples:
        yield "<section><h2>The largest changes</h2>"
        for one in found.examples:
            yield from _example(one)
        yield "</section>"


def _example(one: Example) -> Iterator[str]:
    advantage = "" if one.advantages is None else f", advantage {signed(one.advantages)}"
    total = f"{number(one.totals[0])} -> {number(one.totals[1])}"
    yield f'<div class="finding"><p>Row {one.row:,}: {escaped(one.kind)}, total {total}{advantage}</p><dl>'
    for name, (was, now) in one.components.items():
        yield f"<dt>{escaped(name)}</dt><dd>{number(was)} → {number(now)}</dd>"
    for name, value in (("prompt", one.prompt), *one.columns.items(), ("completion", one.completion)):
        if value:
            yield f"<dt>{escaped(name)}</dt><dd><pre>{_lines(cut(value))}</pre></dd>"
    yield "</dl></div>"


def _table(cells: Sequence[Sequence[str]], *, head: bool) -> str:
    rows = []
    for place, row in enumerate(cells):
        tag = "th" if head and place == 0 else "td"
        numbers = "".join(f'<{tag} class="number">{escaped(cell)}</{tag}>' for cell in row[1:])
        rows.append(f"<tr><{tag}>{escaped(row[0])}</{tag}>{numbers}</tr>")
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _code(text: str) -> str:
    return f"<code>{escaped(text)}</code>"


def _lines(text: str) -> str:
    """Return text with its line breaks, for <pre>."""
    return "\n".join(map(escaped, text.split("\n")))
