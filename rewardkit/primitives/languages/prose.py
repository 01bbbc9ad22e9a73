"""Prose: what is left of a text without markup, code, formulas, addresses and JSON.

``prose("Der Wert `x` ist $y$, siehe https://a.b")`` keeps ``Der Wert``, ``ist`` and ``, siehe``. Every function takes
linear time.
"""

from __future__ import annotations

import json
import re

_MARKUP = re.compile(r"</?\w+>|<\|[^<>|]*\|>|<\uff5c[^<>\uff5c]*\uff5c>|\\[A-Za-z]+")
_MOST_MARKUP = 50
"""How many different tags and commands are taken for markup. A text with more is read as prose in brackets."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_FORMULA = re.compile(r"\$(?=\S)[^$\n]+(?<=\S)\$(?!\d)")  # no prices: a formula has no space at its ends
_FORMULAS = (("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("\\begin{", "\\end{"))
_LONGEST_NAME = 30
_ADDRESS = re.compile(r"(?:https?://|www\.)[!-~]+")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]+\.[\w.-]+")
_JSON = re.compile(r'[{\[]\s*["{\[]')
_MOST_BROKEN = 50
"""How many openings of JSON that is none are read, since each may take as long as the text."""


def without_markup(text: str) -> str:
    """Return `text` without tags, special tokens and LaTeX commands, which are Latin in every language."""
    if "<" not in text and "\\" not in text:
        return text
    return text if len(set(_MARKUP.findall(text))) > _MOST_MARKUP else _MARKUP.sub(" ", text)


def prose(text: str) -> str:
    """Return `text` without what is in no language: code, formulas, addresses, JSON, markup."""
    if "```" in text or "~~~" in text:
        text = _without_fences(text)
    if "`" in text:
        text = _INLINE.sub(" ", text)
    for opening, closing in _FORMULAS:
        if opening in text:
            text = _without(text, opening, closing)
    if "$" in text:
        text = _FORMULA.sub(" ", text)
    text = _ADDRESS.sub(" ", text)
    if "@" in text:
        text = _MAIL.sub(" ", text)
    if "{" in text or "[" in text:
        text = _without_json(text)
    return without_markup(text)


def _without_fences(text: str) -> str:
    """Remove closed fenced blocks."""
    kept: list[str] = []
    fence, opened = "", 0
    for line in text.split("\n"):
        found = _FENCE.fullmatch(line)
        if found and not fence:
            fence, opened = found[1], len(kept)
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
            del kept[opened:]
            continue
        kept.append(line)
    return "\n".join(kept)


def _without(text: str, opening: str, closing: str) -> str:
    """Remove what is between two marks, and the marks."""
    kept: list[str] = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        kept.append(text[place:start])
        place = end + len(closing)
        if closing[-1] == "{":  # with the name: \end{align*}
            place = max(place, text.find("}", place, place + _LONGEST_NAME) + 1)
    return " ".join((*kept, text[place:]))


def _without_json(text: str) -> str:
    """Remove objects and arrays that are valid JSON."""
    decoder = json.JSONDecoder()
    kept: list[str] = []
    place = start = broken = 0
    while broken < _MOST_BROKEN and (found := _JSON.search(text, start)):
        try:
            start = decoder.raw_decode(text, found.start())[1]
        except (ValueError, RecursionError):
            broken, start = broken + 1, found.start() + 1
        else:
            kept.append(text[place : found.start()])
            place = start
    return " ".join((*kept, text[place:]))
