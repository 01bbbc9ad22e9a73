"""Tables as text for terminals.

Cells may contain text from a model that is being trained, so control characters must not reach the reader's screen:
``"\\x1b[2J"`` is shown as ``\\x1b[2J``, and bidirectional control characters are shown as escape sequences.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
# Arbitrary widths: a completion, a note and two scores fit in a terminal of 120 columns.
_COMPLETION_WIDTH = 44
_NOTE_WIDTH = 60


def visible(text: str) -> str:
    """Return `text` with every control, format and bidirectional character spelled out (``\\n``, ``\\u202e``)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        repr(character)[1:-1] if unicodedata.category(character) in _INVISIBLE else character for character in text
    )


def _cut(text: str, width: int) -> str:
    printable = visible(text[: width + 1])
    return printable if len(printable) <= width else f"{printable[: width - 3]}..."


def _limited(header: Sequence[str], cells: Sequence[Sequence[str]]) -> list[list[str]]:
    width = [_NOTE_WIDTH if name == "note" else _COMPLETION_WIDTH for name in header]
    return [[_cut(cell, limit) for cell, limit in zip(line, width, strict=True)] for line in cells]


def render_text(header: Sequence[str], cells: Sequence[Sequence[str]], *, left: int) -> str:
    """Return a table with left-aligned text and right-aligned numbers; `left` is the number of rows not shown."""
    lines = [list(header), *_limited(header, cells)]
    textual = [name in ("completion", "note") for name in header]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    rendered = [
        "  ".join(
            cell.ljust(width) if left_aligned else cell.rjust(width)
            for cell, width, left_aligned in zip(line, widths, textual, strict=True)
        ).rstrip()
        for line in lines
    ]
    if left:
        rendered.append(f"... and {left:,} more rows")
    return "\n".join(rendered)
