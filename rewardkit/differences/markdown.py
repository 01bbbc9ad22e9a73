"""The report of a comparison as Markdown, for a comment on a pull request.

Completions are written by a model, and names by anyone: all are in code spans and fenced blocks that they cannot end,
so they are neither markup nor mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from rewardkit.batch.table_text import visible
from rewardkit.differences.sections import Example, Sections, cut, number, signed

LIMIT = 60_000
"""The most bytes of a comment. GitHub allows 65,536 characters; the rest is for what others add."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+!|~$&-])")


def markdown_of(found: Sections) -> str:
    """Return the report; completions that do not fit are left out."""
    parts = [
        f"**{plain(found.verdict)}**",
        f"{code(found.old)} → {code(found.new)} on {code(found.data)} ({found.size})",
    ]
    if found.components:
        parts.append(_table(found.components, head=True))
    if found.gradients:
        parts.append(_table(found.gradients, head=False))
    parts += [fenced("\n".join(lines)) for lines in (found.failures, found.exploits) if lines]
    parts += [f"> {plain(warning)}" for warning in found.warnings]
    text = "\n\n".join(parts)
    left = LIMIT - len(text.encode())
    shown = []
    for one in found.examples:
        block = "\n\n".join(_example(one))
        left -= len(block.encode()) + 2
        if left < 0:
            break
        shown.append(block)
    return "\n\n".join([text, *shown]) + "\n"


def plain(text: str) -> str:
    """Return `text` as text that is no markup and mentions no one."""
    escaped = _MARKUP.sub(r"\\\1", visible(text))
    return escaped.replace("@", "@\u200b").replace("://", ":\u200b//").replace("\\#", "\\#\u200b")


def code(text: str) -> str:
    """Return `text` as a code span, also within a table."""
    shown = visible(text).replace("|", "\\|") or " "
    mark = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{mark}{pad}{shown}{pad}{mark}"


def fenced(text: str) -> str:
    """Return `text` as a block of code that it cannot end."""
    shown = "\n".join(map(visible, text.split("\n")))
    mark = "`" * max(3, _longest_run(shown) + 1)
    return f"{mark}text\n{shown}\n{mark}"


def _longest_run(text: str) -> int:
    return max((len(list(run)) for letter, run in groupby(text) if letter == "`"), default=0)


def _table(cells: Sequence[Sequence[str]], *, head: bool) -> str:
    header, *rows = cells if head else [[""] * len(cells[0]), *cells]
    lines = [header, [":--", *(["--:"] * (len(header) - 1))]]
    lines += [[code(row[0]) if head else row[0], *row[1:]] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _example(one: Example) -> Iterator[str]:
    total = f"{number(one.totals[0])} → {number(one.totals[1])}"
    advantage = "" if one.advantages is None else f", advantage {signed(one.advantages)}"
    yield f"<details><summary>Row {one.row:,}: {one.kind}, total {total}{advantage}</summary>"
    said = [f"{name}: {number(was)} -> {number(now)}" for name, (was, now) in one.components.items()]
    said += [f"{name}: {cut(value)}" for name, value in (("prompt", one.prompt), *one.columns.items()) if value]
    yield fenced("\n".join([*said, "", cut(one.completion)]))
    yield "</details>"
