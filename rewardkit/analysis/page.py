"""Reports as a page: one self-contained file, without scripts and without anything to fetch.

``page("Reward check", "<h1>Reward check</h1>")`` is a whole page. Text that a policy wrote goes through `escaped`; as a
second defense, a content security policy forbids everything but the page's own style sheet.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from rewardkit.analysis.page_style import STYLE
from rewardkit.core.batch.table_text import visible


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
