"""Sentences: ``sentences("Dr. Smith left. Why?")`` is ``["Dr. Smith left.", "Why?"]``.

A sentence ends at a period, question mark or exclamation mark before white space or a closing mark. A period after an
abbreviation, an initial or in an ellipsis ends one only if the next word looks like the start of a sentence. These are
the decisions of Punkt (Kiss and Strunk 2006), which the public benchmarks count sentences with, with fixed lists of
words in the place of its trained tables. Takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rewardkit.primitives.instructions.vocabulary import ABBREVIATIONS, STARTERS

_MARK = r"""[)";}\]*:@'({\[!?\u2018\u2019\u201c\u201d\u00ab\u00bb]"""
_END = re.compile(rf"[.?!](?=(?P<mark>{_MARK})|(?P<gap>\s+)\S)")
_PIECE = re.compile(rf"{_MARK}|--")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.\-]*")
_NEXT = re.compile(r"[^\W\d]+|\S")
_CLOSING = re.compile(r"""["')\]}\u2018\u2019\u201c\u201d\u00ab\u00bb]+(?=\s|--|\Z)\s*""")
_SPACE = re.compile(r"\s")
_LONGEST = 100
"""The most characters of a word that are read before a period."""


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, with what is between them removed."""
    found: list[str] = []
    start, length = 0, len(text.rstrip())
    for end, following in _breaks(text):
        if start:
            closing = _CLOSING.match(text, start)
            if closing and closing.end() <= end:
                found[-1] += closing[0].rstrip()
                start = closing.end()
        found.append(text[start:end])
        start = following
    closing = _CLOSING.match(text, start) if start else None
    if closing:
        found[-1] += closing[0].rstrip()
        start = closing.end()
    if start < length:
        found.append(text[start:length])
    return [sentence for sentence in found if sentence]


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a sentence ends and where the next one starts."""
    begin = 0  # of the word with the last mark
    last: re.Match[str] | None = None
    for match in _END.finditer(text):
        # Of several marks in one word, only the last can end a sentence.
        if last is not None and (last["gap"] or _SPACE.search(text, last.end(), match.start())):
            yield from _decided(text, begin, last)
            begin = last.end()
        last = match
    if last is not None:
        yield from _decided(text, begin, last)


def _decided(text: str, begin: int, match: re.Match[str]) -> Iterator[tuple[int, int]]:
    if match[0] == ".":
        word = text[max(begin, match.start() - _LONGEST) : match.start()].split()
        if not _ends(word[-1] if word else "", _follower(text, match), new_line="\n" in (match["gap"] or "")):
            return
    yield match.end(), match.end("gap") if match["gap"] else match.end()


def _follower(text: str, match: re.Match[str]) -> str:
    """Return the next word, or the mark that follows."""
    if match["mark"]:
        return match["mark"]
    found = _NEXT.match(text, match.end("gap"))
    return found[0] if found else ""


def _ends(word: str, following: str, *, new_line: bool) -> bool:
    """Return whether the period after `word` ends a sentence, given what follows."""
    if "!" in word or "?" in word:
        return True
    word = _PIECE.split(word)[-1].lower()
    starts = following[:1].isupper()
    if word.endswith("."):
        return starts
    if len(word) == 1 and word.isalpha():
        return starts and (new_line or following.lower() in STARTERS)
    if _NUMBER.fullmatch(word):
        return not (following[:1].islower() or following in ";:,.!?")
    if word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS:
        return starts and following.lower() in STARTERS
    return True
