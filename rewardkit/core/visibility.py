"""What a reader sees of a text: ``has_visible_character("\\u200b")`` is False, ``unmasked("\\uff2eO")`` is ``"no"``.

A policy that is paid for text in a tag will find the characters that show nothing, and one that is fined for a word
will find those that only look like its letters.
"""

from __future__ import annotations

import re
import unicodedata

_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that Unicode calls letters or symbols and that show nothing."""

_PRINTED = re.compile(r"[!-~]")
_STACK = 30
"""Marks on one character, at most, that Unicode's stream-safe text format (UAX 15) allows."""

_DOUBLE_MARKS = "\u0f73\u0f75\u0f81"
"""Characters that are no marks themselves but normalise to nothing but marks."""

_THINKING = ("<think>", "</think>")
_ENDS_OF_TURN = ("|>", "\uff5c>", "</s>", "<eos>", "<end_of_turn>")
_END_OF_TURN = re.compile(r"(?:<(?:\|\w{1,30}\||\uff5c[\w\u2581]{1,30}\uff5c|/s|eos|end_of_turn)>\s*)+\Z")
_TAIL = 200


def spoken_text(text: str) -> str:
    """`text` without the special tokens that end a turn, which some pipelines leave in it.

    ``spoken_text("#### 42<|im_end|>")`` is ``"#### 42"``.
    """
    tail = text[-_TAIL:]
    if not tail.rstrip().endswith(_ENDS_OF_TURN):
        return text
    tokens = _END_OF_TURN.search(tail)
    return text[: tokens.start() - len(tail)] if tokens else text


def visible_text(text: str) -> str:
    """What the user of the model would see: everything after the thinking.

    ``visible_text("<think>17?</think>18")`` is ``"18"``; thinking that never ends leaves nothing.
    """
    opening, closing = _THINKING
    text = spoken_text(text)
    end = text.rfind(closing)
    answer = text[end + len(closing) :] if end >= 0 else text
    start = answer.find(opening)
    return answer if start < 0 else answer[:start]


def has_visible_character(text: str) -> bool:
    """Whether a reader would see anything of `text`."""
    return visible_between(text, 0, len(text))


def visible_between(text: str, start: int, end: int) -> bool:
    """Whether a reader would see anything of ``text[start:end]``."""
    if _PRINTED.search(text, start, end):
        return True
    return any(
        unicodedata.category(character)[0] in "LNPS" and character not in _BLANK for character in text[start:end]
    )


def unmasked(text: str) -> str:
    """`text` as it would be typed: compatibility forms (NFKC), straight apostrophes, nothing invisible, no case."""
    if not text.isascii():
        dropped = ("Cf", "Mn", "Me") if stacked(text) else ("Cf",)
        text = "".join(character for character in text if unicodedata.category(character) not in dropped)
        text = unicodedata.normalize("NFKC", text.replace("\u2019", "'").replace("\u02bc", "'"))
    return text.casefold()


def stacked(text: str) -> bool:
    """Whether marks are piled on one character beyond all writing: sorting them takes the square of their number."""
    marks = bytes(unicodedata.combining(character) > 0 or character in _DOUBLE_MARKS for character in text)
    return b"\1" * (_STACK + 1) in marks
