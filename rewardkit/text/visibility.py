"""Visible text: ``has_visible_character("\\u200b")`` is False, and ``unmasked("\\uff2eO")`` is ``"no"``.

A policy that is rewarded for text in a tag will learn to write invisible characters, and a policy that is penalized for
a word will learn to write characters that only look like the word's letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159")
"""Invisible characters that Unicode classifies as letters or symbols."""

_SELECTORS = frozenset(map(chr, (0x34F, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Invisible marks, which join characters or select their shapes."""

_APOSTROPHES = dict.fromkeys("\u2018\u2019\u201b\u2032\u02bc\u00b4\uff07", "'")
# A backtick between letters is an apostrophe and does not mark code: "don`t".
_BACKTICK = re.compile(r"(?<=[^\W\d_])`(?=[^\W\d_])")
_CONTROLS = bytes((*range(0x09), *range(0x0E, 0x1C), 0x7F))
"""The ASCII characters that are neither printable nor whitespace."""

_ASCII = bytes(range(0x80))
# Nearly every text has a printable ASCII character early on, so no Unicode category has to be looked up.
_PRINTED = re.compile(r"[!-~]")
_STACK = 30
"""The maximum number of marks on one character in Unicode's stream-safe text format (UAX 15)."""

_DOUBLE_MARKS = "\u0f73\u0f75\u0f81"
"""Characters that are not marks but normalize to marks only."""

# Tokens that end a turn or pad a text: "<|im_end|>", "</s>", "<pad>", "[PAD]", and DeepSeek's with full-width bars.
_END_IN_ANGLES = r"(?:\|\w{1,30}\||\uff5c[\w\u2581]{1,30}\uff5c|/s|eos|pad|end_of_turn)>"
_END_OF_TURN = re.compile(rf"(?:<{_END_IN_ANGLES}|\[PAD\])\Z")
# The longest end-of-turn token: "<|" and "|>" around 30 characters.
_LONGEST_TOKEN = 34
_ENDS = frozenset(("|>", "\uff5c>", "s>", "d>", "n>", "D]"))
"""The last two characters of end-of-turn and padding tokens. Few completions end with any of these."""


def spoken_text(text: str) -> str:
    """Return `text` without end-of-turn and padding tokens at its end, which some pipelines leave there.

    ``spoken_text("#### 42<|im_end|><pad><pad>")`` is ``"#### 42"``.
    """
    if text[-2:] not in _ENDS and not text[-1:].isspace():  # nearly always
        return text
    spoken = end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if text[max(0, end - 2) : end] not in _ENDS:
            return text[:spoken]
        token = _END_OF_TURN.search(text, max(0, end - _LONGEST_TOKEN), end)
        if token is None:
            return text[:spoken]
        spoken = end = token.start()


_TURN_IN_ANGLES = (
    r"\|(?:im_start|im_end|im_sep|im_user|im_system|im_assistant|endoftext|end_of_text|begin_of_text|"
    r"start_header_id|end_header_id|eot_id|eom_id|end|start|return|call|channel|message|eot|eos|end_of_turn|"
    r"(?:end_?of_?)?(?:user|assistant|system|observation|prompt)|(?:START|END)_OF_TURN_TOKEN|"
    r"(?:USER|CHATBOT|SYSTEM)_TOKEN)\|>|\|turn>|turn\|>"
    r"|(?:start|end)_of_(?:turn|text)>|/s>|eos>|eo[ah]>|extra_id_\d{1,2}>|</?SYS>>"
    r"|[|\uff5c](?:User|Assistant|(?:end|begin)[_\u2581]of[_\u2581]sentence)[|\uff5c]>"
)
_TURN = re.compile(
    rf"<(?:{_TURN_IN_ANGLES})|\[(?:\|(?:user|assistant|system|endofturn|Human|AI)\|\]|/?INST\]|[EB]OS\])"
)
"""A token that begins or ends a turn, in the chat templates of common models."""

TOKEN_IN_ANGLES = rf"{_TURN_IN_ANGLES}|{_END_IN_ANGLES}|s>"
"""A pattern for the text after ``<`` in all tokens that `own_turn` and `spoken_text` look for."""

SQUARE_TOKEN = re.compile(r"\[[|/IEBP]")
"""The beginning of all tokens in square brackets that `own_turn` and `spoken_text` look for."""

_FEW = 20
"""The maximum number of candidates to try one by one. A text with more is searched with the whole pattern."""

# The marks that open the model's own turn in chat templates: "<|im_start|>assistant", "[/INST]".
_OWN = re.compile(
    r"\s*(?:(?:<\|(?:im_start|start|start_header_id)\|>|<start_of_turn>|<\|turn>)\s?(?:assistant|model)(?:<\|end_header_id\|>)?"
    r"|<\|assistant\|>|<[|\uff5c]Assistant[|\uff5c]>|\[/INST\]|<\|begin_of_text\|>|<s>)\s*"
)
# Harmony may name a content type between the two marks: "<|channel|>final <|constrain|>json" has "<", and is not read
# as final.
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final[^<\n]{0,60}<\|message\|>")


def _turn_after(text: str, start: int) -> re.Match[str] | None:
    """Return the first match of `_TURN` at or after `start`, found with `str.find` if there are few candidates.

    In a long answer, searching for one character is ten times as fast as using a pattern with two possible first
    characters.
    """
    marks = []
    for first in "<[":
        at = start - 1
        for _ in range(_FEW):
            at = text.find(first, at + 1)
            if at < 0:
                break
            if mark := _TURN.match(text, at):
                marks.append(mark)
                break
        else:
            return _TURN.search(text, start)
    return min(marks, key=lambda mark: mark.start(), default=None)


def own_turn(text: str) -> str:
    """Return the model's own turn in `text`, without the turns that the model made up after its own.

    ``own_turn("I give up.<|im_end|>\\n<|im_start|>user\\n42")`` is ``"I give up."``. In OpenAI's harmony format,
    the model's own turn is the message in the final channel.
    """
    start, turn = 0, _turn_after(text, 0)
    if turn and "<|channel|>" in text:
        final = _FINAL_CHANNEL.search(text)
        if final is None:
            return ""
        start = final.end()
    while header := _OWN.match(text, start):
        start = header.end()
    if turn and turn.start() < start:
        turn = _turn_after(text, start)
    while (
        turn and turn[0] == "</s>" and text.rfind("<s>", start, turn.start()) > text.rfind("</s>", start, turn.start())
    ):
        turn = _TURN.search(text, turn.end())  # this mark only closes struck-out text
    return text[start : turn.start()] if turn else text[start:]


def has_visible_character(text: str) -> bool:
    """Return whether `text` has a visible character."""
    return visible_between(text, 0, len(text))


def visible_between(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` has a visible character."""
    if _PRINTED.search(text, start, end):
        return True
    return any(
        unicodedata.category(character)[0] in "LNPS" and character not in _BLANK for character in text[start:end]
    )


def shown(text: str, *, marks: bool = True) -> str:
    """Return `text` without invisible characters, and without marks if `marks` is False. Whitespace is kept."""
    encoded = text.encode("utf-8", "surrogatepass")
    printed = encoded.translate(None, _CONTROLS)
    if len(printed) < len(encoded):
        text = printed.decode("utf-8", "surrogatepass")
    if text.isascii():
        return text
    hidden = [character for character in beyond_ascii(text) if _hides(character, marks)]
    return text.translate(dict.fromkeys(map(ord, hidden))) if hidden else text


def beyond_ascii(text: str) -> set[str]:
    """Return the set of non-ASCII characters in `text`. This is much faster than building a set of all characters."""
    if text.isascii():
        return set()
    return set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))


def replaced(text: str, characters: Mapping[str, str]) -> str:
    """Return `text` with each key of `characters` replaced by its value. No key may occur in a value.

    ``str.translate`` takes a hundred times as long for non-ASCII text, because it looks up every character.
    """
    for old, new in characters.items():
        text = text.replace(old, new)
    return text


@lru_cache(maxsize=20_000)
def _hides(character: str, marks: bool) -> bool:
    category = unicodedata.category(character)[0]
    dropped = (category == "C" and not character.isspace()) or (category == "M" and not marks)
    return dropped or character in _BLANK or character in _SELECTORS


def straight(text: str) -> str:
    """Return `text` with straight apostrophes: ``straight("don\\u2019t")`` is ``"don't"``."""
    return text if text.isascii() else replaced(text, _APOSTROPHES)


def unmasked(text: str) -> str:
    """Return `text` in plain lowercase letters, so that it can be searched for words.

    Compatibility forms become plain characters (NFKC), apostrophes become straight, and runs of whitespace become
    single spaces. Invisible characters are removed, and case is folded.
    """
    return single_spaced(plain_letters(text))


def plain_letters(text: str) -> str:
    """Return `text` as `unmasked` does, but with its original whitespace, so that it can be split into words."""
    text = shown(text)
    if "`" in text:
        text = _BACKTICK.sub("'", text)
    if not text.isascii():
        if stacked(text):
            text = "".join(character for character in text if unicodedata.category(character) not in ("Mn", "Me"))
        text = unicodedata.normalize("NFKC", straight(text))
    return text.casefold()


def single_spaced(text: str) -> str:
    """Return `text` with each run of whitespace replaced by a single space, including at both ends."""
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return " " * text[0].isspace() + words + " " * text[-1].isspace()


def stacked(text: str) -> bool:
    """Return whether a character has more marks than any script uses. Sorting them takes quadratic time."""
    characters = beyond_ascii(text)
    used = {character for character in characters if unicodedata.combining(character) or character in _DOUBLE_MARKS}
    return bool(used) and b"\1" * (_STACK + 1) in bytes(map(used.__contains__, text))
