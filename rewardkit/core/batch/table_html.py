"""Tables as HTML for a notebook: styled, wrapped, light or dark as the notebook is, and without JavaScript.

Long text is cut, and shown in full when the reader opens it (``<details>``). Everything is escaped, and control
characters are spelled out. Where a notebook or a site removes the style, a plain table is left.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from rewardkit.core.batch.table_text import visible

_CUT = 160
"""Characters of a text that are shown before it is opened."""
_LINES = 4
"""Lines of it."""
_MOST = 5_000
"""Characters of an opened text: a notebook stores all of them."""
_TEXTUAL = ("completion", "note")
# Gray that is partly transparent is visible on light and on dark; all other colors are the notebook's own.
_STYLE = """
.rewardkit-scores{overflow-x:auto;margin:.4em 0}
.rewardkit-scores table{border-collapse:collapse;table-layout:auto;margin:0;font-size:13px;line-height:1.45;
color:inherit}
.rewardkit-scores th,.rewardkit-scores td{padding:5px 10px;border:0;border-bottom:1px solid rgba(128,128,128,.3);
vertical-align:top;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.rewardkit-scores th{font-weight:600;vertical-align:bottom;border-bottom:2px solid rgba(128,128,128,.5);
white-space:normal;overflow-wrap:break-word}
.rewardkit-scores tr>.text{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:14em;max-width:44em}
.rewardkit-scores .row,.rewardkit-scores .rest,.rewardkit-scores summary::marker{opacity:.6}
.rewardkit-scores .none{font-style:italic;opacity:.7}
.rewardkit-scores .bad{background:rgba(214,64,54,.2)}
.rewardkit-scores .total{font-weight:600}
.rewardkit-scores details,.rewardkit-scores summary{margin:0;padding:0;border:0;background:none}
.rewardkit-scores summary{cursor:pointer}
.rewardkit-scores details[open]>summary>span{display:none}
.rewardkit-scores details[open]>summary::after{content:"in full";opacity:.6}
.rewardkit-scores pre{margin:5px 0 2px;padding:6px 8px;background:rgba(128,128,128,.14);color:inherit;font-size:12px;
white-space:pre-wrap;overflow-wrap:anywhere;max-height:24em;overflow-y:auto}
""".strip().replace("\n", "")


def render_html(header: Sequence[str], cells: Sequence[Sequence[str]], *, left: int) -> str:
    """Return a table; the first column holds row numbers, and `left` is the number of rows not shown."""
    kinds = ["row" if place == 0 else "text" if name in _TEXTUAL else name for place, name in enumerate(header)]
    head = "".join(
        f'<th class="text">{html.escape(name)}</th>' if kind == "text" else f"<th>{html.escape(visible(name))}</th>"
        for name, kind in zip(header, kinds, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, kind) for cell, kind in zip(line, kinds, strict=True))}</tr>" for line in cells
    )
    rest = f'<div class="rest">... and {left:,} more rows</div>' if left else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="rewardkit-scores"><style>{_STYLE}</style>{table}{rest}</div>'


def _cell(cell: str, kind: str) -> str:
    if kind == "text":
        return f'<td class="text">{_text(cell)}</td>'
    classes = [kind] if kind in ("row", "total") else []
    if cell in ("failed", "errored", "unscorable"):
        classes.append("bad")
    elif cell in ("abstained", "skipped"):
        classes.append("none")
    return f'<td class="{" ".join(classes)}">{html.escape(cell)}</td>' if classes else f"<td>{html.escape(cell)}</td>"


def _text(text: str) -> str:
    """Return a short text as it is, and a long one to be opened."""
    short = "\n".join(text[:_CUT].split("\n", _LINES)[:_LINES])
    if short == text:
        return _shown(text, "<br>")
    full = _shown(text[:_MOST], "\n") + (f"\n... ({len(text):,} characters)" if len(text) > _MOST else "")
    return f"<details><summary><span>{_shown(short, '<br>')}...</span></summary><pre>{full}</pre></details>"


def _shown(text: str, line_break: str) -> str:
    return line_break.join(html.escape(visible(line)) for line in text.split("\n"))
