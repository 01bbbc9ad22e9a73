"""Reports as a page: one self-contained file, without scripts and without anything to fetch.

``page("Reward check", "<h1>Reward check</h1>")`` is a whole page. Text that a policy wrote goes through `escaped`; as a
second defense, a content security policy forbids everything but the page's own style sheet.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from rewardkit.batch.table_text import visible

# The look of the page: one style sheet, dark and light by the reader's own setting.


STYLE = """
:root {
  color-scheme: light dark;
  --ground: #f7f7f5; --card: #ffffff; --ink: #1d1f23; --soft: #62676f; --line: #e2e2de; --code: #f2f2ee;
  --bad: #b3261e; --bad-ground: #fbeae8; --good: #1d6f42; --good-ground: #e6f3ea;
  --open: #8a5a00; --open-ground: #fbf1dc; --link: #1f5fbf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #15171a; --card: #1d2024; --ink: #e6e7e9; --soft: #9aa0a8; --line: #30343a; --code: #24282d;
    --bad: #ff8a80; --bad-ground: #3a2120; --good: #7fd1a0; --good-ground: #1c3226;
    --open: #f0c36d; --open-ground: #382d17; --link: #8ab4f8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { margin: 0 0 .25rem; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 0; font-size: 1.2rem; overflow-wrap: anywhere; }
h3 { margin: 2rem 0 .35rem; font-size: 1.05rem; }
p { margin: .35rem 0; }
a { color: var(--link); }
code, pre {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size:
  .86rem;
}
pre {
  margin: 0; padding: .6rem .75rem; background: var(--code); border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
}
pre.wide { white-space: pre; overflow-x: auto; overflow-wrap: normal; }
.soft { color: var(--soft); }
.small { font-size: .88rem; }
section {
  margin-top: 2rem; padding: 1.5rem 1.5rem 1.75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px;
}
.verdict {
  display: inline-block; margin: .75rem 0 .25rem; padding: .3rem .75rem; border-radius: 999px; font-weight:
  600;
}
.broken { color: var(--bad); background: var(--bad-ground); }
.held { color: var(--good); background: var(--good-ground); }
.unfinished { color: var(--open); background: var(--open-ground); }
table { width: 100%; margin-top: .75rem; border-collapse: collapse; font-size: .94rem; }
th, td { padding: .4rem .6rem .4rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; border-top: 0; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.name { white-space: nowrap; }
.mark {
  display: inline-block; min-width: 5.5rem; padding: 0 .5rem; border-radius: 5px; font-size: .85rem;
  text-align: center;
}
.mark.skipped { color: var(--soft); background: var(--code); }
.finding {
  margin-top: 1rem; padding: 1rem 1.1rem 1.1rem; border: 1px solid var(--line); border-left: 4px solid
  var(--bad); border-radius: 8px;
}
.finding > p:first-child { margin-top: 0; font-weight: 600; overflow-wrap: anywhere; }
dl {
  display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .45rem 1rem; margin:
  .75rem 0 0;
}
dt { color: var(--soft); font-size: .88rem; padding-top: .15rem; overflow-wrap: anywhere; }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
details { margin-top: .75rem; }
summary { cursor: pointer; color: var(--link); }
details > pre { margin-top: .5rem; }
svg { display: block; width: 100%; height: .9rem; border-radius: 4px; }
.right { fill: var(--good); }
.tied { fill: var(--line); }
.wrong { fill: var(--bad); }
@media (max-width: 40rem) {
  section { padding: 1.1rem 1rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: .1rem; }
  dd { margin-bottom: .5rem; }
  td.name { white-space: normal; overflow-wrap: anywhere; }
}
@media print { body { background: none; } section { break-inside: auto; } .finding { break-inside: avoid; } }
"""


def page(title: str, body: str) -> str:
    """Return a whole page.

    Args:
        title: plain text.
        body: HTML.
    """
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def escaped(text: str) -> str:
    """Return `text` as HTML on one line: without markup, and with invisible characters spelled out."""
    return escape(visible(text))
