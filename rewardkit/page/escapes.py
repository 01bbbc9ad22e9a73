"""Escaping of a model's text for display: ``escape("a\\x1b[2J")`` is ``"a\\\\x1b[2J"``. Line breaks are kept.

Characters that change how text is displayed or that are not visible (terminal escapes, bidirectional controls,
invisible characters) are replaced with their escape sequences. HTML does not need to be escaped here, because the page
creates only text nodes.
"""

from __future__ import annotations

import re
import unicodedata

_CONTROL = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159")
"""Letters, marks, and symbols that are invisible."""
_SELECTORS = range(0xE0100, 0xE01F0)
"""Variation selectors: invisible characters that can encode hidden text."""
# ASCII control characters, except \t and \n, which are displayed as they are.
_ASCII = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_SPACES = re.compile(r"[\t\n\r ]+")


def escape(text: str) -> str:
    """Return `text` with control and invisible characters escaped, except tabs and line breaks."""
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    if text.isascii():
        return _ASCII.sub(lambda match: _escaped(match[0]), text)
    escapes = {ord(character): _escaped(character) for character in set(text) if _needs_escape(character)}
    return text.translate(escapes) if escapes else text


def one_line(text: str, limit: int = 200) -> str:
    """Return the beginning of `text` on one line, for a table cell or a title."""
    # Four times the limit, because runs of spaces are collapsed only after the cut.
    line = _SPACES.sub(" ", escape(text[: limit * 4])).strip()
    return line if len(line) <= limit and len(text) <= limit * 4 else f"{line[:limit].rstrip()}…"


def _needs_escape(character: str) -> bool:
    if character in "\t\n":
        return False
    return unicodedata.category(character) in _CONTROL or character in _BLANK or ord(character) in _SELECTORS


def _escaped(character: str) -> str:
    if not character.isprintable():
        return repr(character)[1:-1]
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
